package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/agent/simulate/schedule"
)

// small is a comparison that runs fast.
const small = "simulate schedule --feeds 30 --days 2+1 --seed 1..2"

func TestSimulateSchedule_ComparesPolicies(t *testing.T) {
	s := doWith(t, &program{}, strings.Fields(small)...)
	s.check(t, 0, "mean over seeds", "")
	for _, want := range []string{"WORLD", "K      2     price", "T      -     tiers", "million a second"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("%q is not in\n%s", want, s.out)
		}
	}
}

func TestSimulateSchedule_PrintsJSON(t *testing.T) {
	s := doWith(t, &program{}, strings.Fields(small+" --worlds T --policies price,tiers --json")...)
	var results []schedule.Result
	if err := json.Unmarshal([]byte(s.out), &results); err != nil || s.code != 0 {
		t.Fatalf("%v, code %d: %s", err, s.code, s.err)
	}
	if len(results) != 4 || results[0].Policy != "price" || results[3].Policy != "tiers" || results[3].Seed != 2 {
		t.Errorf("got %v, want price and tiers of two seeds", results)
	}
}

func TestSimulateSchedule_ReadsLogAndPlots(t *testing.T) {
	log := write(t, "items.csv", "feed,published\na,2026-03-01T12:00:00Z\nb,2026-03-03T11:00:00Z\na,2026-03-03T12:00:00Z\n")
	svg := filepath.Join(t.TempDir(), "plot.svg")
	doWith(t, &program{}, "simulate", "schedule", "--log", log, "--days", "2+1", "--svg", svg).check(t, 0, "log    1     price", "")
	if drawn, err := os.ReadFile(svg); err != nil || !strings.Contains(string(drawn), "log: 2 feeds") {
		t.Errorf("got %v, %s", err, drawn)
	}
	doWith(t, &program{}, "simulate", "schedule", "--log", log).check(t, 2, "", "the log is of 3 days and not of 35")
	bad := write(t, "bad.csv", "a,noon\n")
	doWith(t, &program{}, "simulate", "schedule", "--log", bad).check(t, 2, "", `"noon" is no time`)
}

func TestSimulateSchedule_ReportsErrors(t *testing.T) {
	for flags, want := range map[string]string{
		"--days 28":      `invalid days "28"; write LEARN+SCORE as 28+7`,
		"--days 0+1":     "each from 1 to 5000",
		"--seed 3..1":    `invalid seeds "3..1"`,
		"--seed 0":       `invalid seeds "0"`,
		"--worlds X":     `--worlds must be one of "K","T" but got "X"`,
		"--policies odd": `--policies must be one of "tiers","uniform","price"`,
		"--floor 0s":     "--floor: 0s is not between 1s and 24h",
		"--floor soon":   "expected a duration like 30s",
		"--feeds 0":      "--feeds: 0 is not between 1 and 1000000",
		"--log nope.csv": "nope.csv: no such file",
	} {
		doWith(t, &program{}, append([]string{"simulate", "schedule"}, strings.Fields(flags)...)...).check(t, 2, "", want)
	}
}
