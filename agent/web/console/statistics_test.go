package console

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

func pagesOfStatistics() map[string]shown {
	return map[string]shown{
		"statistics":          {"/statistics", 200, hostile()},
		"statistics of days":  {"/statistics?days=7&zone=Asia/Tokyo", 200, hostile()},
		"no statistics":       {"/statistics", 200, bare()},
		"odd period":          {"/statistics?days=8", 400, hostile()},
		"odd zone":            {"/statistics?zone=%3Cscript%3E", 400, hostile()},
		"statistics down":     {"/statistics", 503, brokenMesh()},
		"no such file":        {"/statistics/none.csv", 404, hostile()},
		"no file of that end": {"/statistics/days.html", 404, hostile()},
	}
}

// bare is a source of a mesh without data.
func bare() *fake {
	empty := make([][]int64, 7)
	for i := range empty {
		empty[i] = make([]int64, 24)
	}
	source := &fake{}
	source.statistics.Seen, source.statistics.Published = empty, empty
	return source
}

func TestStatisticsPage_ChartsHaveTables(t *testing.T) {
	source := hostile()
	page := parse(t, body(t, serve(source, "GET", "/statistics?days=7&zone=Asia/Tokyo")))
	if want := []string{"7 Asia/Tokyo"}; !slices.Equal(source.periods, want) {
		t.Errorf("asked for %q, want %q", source.periods, want)
	}
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
	for file, want := range map[string]string{
		"days":     "2026-09-29,8,1\r\n",
		"activity": "Monday,09,5,5\r\n",
		"lag":      "2026-09-29,5,60.0,4000.0,90000.5\r\n",
		"outcomes": "new items,1\r\n",
	} {
		if got := body(t, serve(hostile(), "GET", "/statistics/"+file+".csv")); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", file, got, want)
		}
	}
	got := strings.Split(body(t, serve(hostile(), "GET", "/statistics/categories.csv")), "\r\n")
	if last := got[len(got)-2]; last != "2026-09-29,20,19,18,17,16,15,14,13,33" {
		t.Errorf("got %q, want the eight largest and the others together", last)
	}
}

func TestStatisticsCSV_EscapesFormulas(t *testing.T) {
	for _, file := range []string{"categories", "failures"} {
		rows, err := csv.NewReader(serve(hostile(), "GET", "/statistics/"+file+".csv").Body).ReadAll()
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
