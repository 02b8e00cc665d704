package console

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

func pagesOfStatistics(_ *testing.T, all sites) map[string]shown {
	return map[string]shown{
		"statistics":          {"/statistics", 200, all.hostile},
		"statistics of days":  {"/statistics?days=7&zone=Asia/Tokyo", 200, all.hostile},
		"no statistics":       {"/statistics", 200, all.empty},
		"odd period":          {"/statistics?days=8", 400, all.hostile},
		"odd zone":            {"/statistics?zone=%3Cscript%3E", 400, all.hostile},
		"statistics down":     {"/statistics", 503, all.broken},
		"no such file":        {"/statistics/none.csv", 404, all.hostile},
		"no file of that end": {"/statistics/days.html", 404, all.hostile},
	}
}

// counted returns a site with items of two days in eleven categories, 25 of them with a date that counts for their lag,
// and with polled feeds. Names are hostile, some for a spreadsheet.
func counted(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Added: noon.AddDate(0, 0, -30)})
	var items []storage.Item
	for n := range 28 {
		i := storage.Item{ID: fmt.Sprint(n), FirstSeen: noon.Add(-time.Hour), Language: []string{evil, ""}[n%2], Assumed: "missing", Spam: n == 27}
		switch {
		case n < 23:
			i.Published, i.Assumed = i.FirstSeen.Add(-time.Minute), ""
		case n == 23:
			i.Published, i.Assumed = i.FirstSeen.Add(-4000*time.Second), ""
		case n == 24:
			i.Published, i.Assumed = i.FirstSeen.Add(-90000500*time.Millisecond), ""
		}
		if n < 2 {
			i.Sentiment = -.25
		}
		for c := range 11 {
			name := fmt.Sprint(evil, c)
			if c == 1 {
				name = "=1+1"
			}
			if n < 20-c {
				i.Categories = append(i.Categories, name)
			}
		}
		items = append(items, i)
	}
	monday := time.Date(2026, 9, 28, 9, 0, 0, 0, time.UTC)
	for n := range 5 {
		items = append(items, storage.Item{ID: fmt.Sprint("monday", n), FirstSeen: monday, Published: monday})
	}
	s.items(t, "f", items...)
	for n, state := range []subjects.State{
		{Status: 304, Outcome: evil}, {Status: 304, Outcome: evil}, {Status: 304, Outcome: evil}, {Status: 200, Outcome: "stored"},
		{Outcome: evil, Failures: 1, Class: "=cmd|' /C calc'!A0" + evil},
	} {
		state.Tier, state.Polled = "hot", noon
		s.Mesh.States[fmt.Sprint(n)] = &state
	}
	return s
}

func TestStatisticsPage_ChartsHaveTables(t *testing.T) {
	source := counted(t)
	if p, err := readPeriod("days=7&zone=Asia/Tokyo"); err != nil || p.days != 7 || p.zone.String() != "Asia/Tokyo" {
		t.Errorf("asks for %+v, %v", p, err)
	}
	page := parse(t, body(t, serve(source, "GET", "/statistics?days=7&zone=Asia/Tokyo")))
	files := 0
	for _, section := range elements(page, "section") {
		pictures, tables := 0, len(elements(section, "table"))
		for _, svg := range elements(section, "svg") {
			if attr(svg, "role") == "img" {
				pictures++
			}
		}
		file := ""
		for _, a := range elements(section, "a") {
			file = attr(a, "href")
		}
		if pictures == 0 || tables != 1 || !strings.Contains(file, ".csv?days=7&zone=Asia%2FTokyo") {
			t.Errorf("%s: %d pictures, %d tables, file %q; want a picture, its numbers and a file of them", words(elements(section, "h2")[0]), pictures, tables, file)
			continue
		}
		r := serve(source, "GET", file)
		rows, err := csv.NewReader(r.Body).ReadAll()
		if err != nil || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/csv; charset=utf-8" || len(rows) != 1+len(elements(elements(section, "tbody")[0], "tr")) {
			t.Errorf("%s: got %d, %d rows, %v; want those of its table", file, r.StatusCode, len(rows), err)
		}
		files++
	}
	if files != 9 {
		t.Errorf("got %d files, want 9", files)
	}
	if said := words(page); !strings.Contains(said, "in Asia/Tokyo (UTC+09:00 now)") || !strings.Contains(said, "75 % were “not modified”") {
		t.Errorf("the page does not say its zone, or what share was not modified: %s", said)
	}
}

func TestStatisticsPage_NumbersMatch(t *testing.T) {
	source := counted(t)
	for file, want := range map[string]string{
		"days":     "2026-09-29,28,1\r\n",
		"activity": "Monday,09,5,6\r\n",
		"lag":      "2026-09-29,25,60.0,4000.0,90000.5\r\n",
		"outcomes": "new items,1\r\n",
	} {
		if got := body(t, serve(source, "GET", "/statistics/"+file+".csv")); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", file, got, want)
		}
	}
	got := strings.Split(body(t, serve(source, "GET", "/statistics/categories.csv")), "\r\n")
	if last := got[len(got)-2]; last != "2026-09-29,20,19,18,17,16,15,14,13,33" {
		t.Errorf("got %q, want the eight largest and the others together", last)
	}
}

func TestStatisticsCSV_EscapesFormulas(t *testing.T) {
	source := counted(t)
	for _, file := range []string{"categories", "failures"} {
		rows, err := csv.NewReader(serve(source, "GET", "/statistics/"+file+".csv").Body).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		guarded := false
		for _, row := range rows {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") {
					t.Errorf("%s: %q would be computed", file, cell)
				}
				guarded = guarded || strings.HasPrefix(cell, "'=")
			}
		}
		if !guarded {
			t.Errorf("%s has no formula: the test shows nothing", file)
		}
	}
}
