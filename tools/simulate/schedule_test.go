package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/tools/command/commandtest"
	"feedmesh/tools/simulate/schedule"
)

func do(t *testing.T, args ...string) commandtest.Result {
	return commandtest.Do(t, new(simulateCommand), args...)
}

// small is a comparison that runs fast.
const small = "schedule --feeds 30 --days 2+1 --seed 1..2"

func TestSimulateSchedule_ComparesPolicies(t *testing.T) {
	s := do(t, strings.Fields(small)...)
	s.Check(t, 0, "mean over seeds", "")
	for _, want := range []string{"WORLD", "K      2     price", "T      -     tiers", "million a second"} {
		if !strings.Contains(s.Out, want) {
			t.Errorf("%q is not in\n%s", want, s.Out)
		}
	}
}

func TestSimulateSchedule_PrintsJSON(t *testing.T) {
	s := do(t, strings.Fields(small+" --worlds T --policies price,tiers --json")...)
	var results []schedule.Result
	if err := json.Unmarshal([]byte(s.Out), &results); err != nil || s.Code != 0 {
		t.Fatalf("%v, code %d: %s", err, s.Code, s.Err)
	}
	if len(results) != 4 || results[0].Policy != "price" || results[3].Policy != "tiers" || results[3].Seed != 2 {
		t.Errorf("got %v, want price and tiers of two seeds", results)
	}
}

func TestSimulateSchedule_ReadsLogAndPlots(t *testing.T) {
	log := commandtest.Write(t, "items.csv", "feed,published\na,2026-03-01T12:00:00Z\nb,2026-03-03T11:00:00Z\na,2026-03-03T12:00:00Z\n")
	svg := filepath.Join(t.TempDir(), "plot.svg")
	do(t, "schedule", "--log", log, "--days", "2+1", "--svg", svg).Check(t, 0, "log    1     price", "")
	if drawn, err := os.ReadFile(svg); err != nil || !strings.Contains(string(drawn), "log: 2 feeds") {
		t.Errorf("got %v, %s", err, drawn)
	}
	do(t, "schedule", "--log", log).Check(t, 2, "", "the log is of 3 days and not of 35")
	bad := commandtest.Write(t, "bad.csv", "a,noon\n")
	do(t, "schedule", "--log", bad).Check(t, 2, "", `"noon" is no time`)
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
		"--floor soon":   "expected duration",
		"--feeds 0":      "--feeds: 0 is not between 1 and 1000000",
		"--log nope.csv": "nope.csv: no such file",
	} {
		do(t, append([]string{"schedule"}, strings.Fields(flags)...)...).Check(t, 2, "", want)
	}
}
