package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func onDay(day string, rows ...Row) Results {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return Results{Machine: Machine{Date: date, Commit: "c" + day, Cores: 2}, Rows: rows}
}

func TestResults_PageComparesWithEarlierDay(t *testing.T) {
	folder := t.TempDir()
	polls := Row{Part: "sweep", What: "polls", Value: 4000, Unit: "/s", Aim: ">= 8000", Missed: true, Command: "just bench sweep", Commit: "abc"}
	faster, elsewhere := polls, polls
	faster.Value, faster.Missed = 9000, false
	elsewhere.Part, elsewhere.Value = "crawl", 7
	byRole := Row{Part: "sweep", Table: "CPU by role: polls", What: "role crawl", Value: 0.5, Unit: "us a poll"}
	failed := Row{Part: "mesh", What: "the part", Error: "no PostgreSQL | none"}
	for _, r := range []Results{
		onDay("2026-01-01", Row{Part: "sweep", What: "polls", Value: 1, Unit: "/s"}),
		onDay("2026-01-03", polls, byRole, failed),
		onDay("2026-01-02", Row{Part: "sweep", What: "polls", Value: 2, Unit: "/s"}), // written later, but of an earlier day
		onDay("2026-01-04", polls, elsewhere, failed),
		onDay("2026-01-04", faster, byRole), // the second of a day replaces its part of the first, whose other parts stay
	} {
		if err := r.Keep(folder); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, "2026-01-04", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{
		"Measured on 2026-01-04", "Before: of 2026-01-03, commit c2026-01-03.",
		"| **sweep** (`just bench sweep`, commit abc) | | | |\n| polls | 9000 /s | >= 8000 | 4000 /s |\n",
		"| polls | 7.00 /s | >= 8000, missed |  |\n",
		"## CPU by role: polls\n\n| what | measured | aim | before |\n|---|---:|---:|---:|\n| role crawl | 0.500 us a poll |  | 0.500 us a poll |\n",
		"| the part | failed: no PostgreSQL \\| none |  |  |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestResults_FirstDayHasNoComparison(t *testing.T) {
	folder := t.TempDir()
	if err := onDay("2026-01-01", Row{Part: "sweep", What: "polls", Value: 1}).Keep(folder); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "2026-01-01", "results.md"))
	if err != nil || strings.Contains(string(page), "Before:") || !strings.Contains(string(page), "| polls | 1.00 |  |  |") {
		t.Errorf("got %v and this page, want a page without comparison:\n%s", err, page)
	}
}

func TestReached_IncludesTheBound(t *testing.T) {
	for _, c := range []struct {
		value float64
		aim   string
		want  bool
	}{
		{5, "<= 5", true}, {5.01, "<= 5", false}, {8000, ">= 8000", true}, {7999, ">= 8000", false}, {0.3, "<= 0.3", true}, {-1, "", true},
	} {
		if got := reached(c.value, c.aim); got != c.want {
			t.Errorf("%v reaches %q: got %v, want %v", c.value, c.aim, got, c.want)
		}
	}
}

func TestNumber_HasThreeSignificantDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 12345.6: "12346", 999: "999", 12.345: "12.3", 0.012345: "0.0123", -1.5: "-1.50", 1e-9: "0.000000"} {
		if got := number(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

func TestAimed_NaNIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := New(file)
	out.Aimed("nothing came", math.NaN(), "s", "<= 2")
	out.Aimed("slow", 3, "s", "<= 2")
	rows, err := ReadRows(path)
	if err != nil || len(rows) != 2 || rows[0].Error == "" || rows[0].Missed || !rows[1].Missed {
		t.Errorf("got %+v, %v, want a failed row and a row that misses its aim", rows, err)
	}
}
