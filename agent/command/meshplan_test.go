package command

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"feedmesh/agent/capacity"
)

// planExample is the command whose output docs/mesh.md shows.
const planExample = "mesh plan --feeds 50000,1000000,10000000"

func TestMeshPlan_DocumentShowsItsOutput(t *testing.T) {
	document, err := os.ReadFile("../../docs/mesh.md")
	if err != nil {
		t.Fatal(err)
	}
	got := do(t, "", strings.Fields(planExample)...)
	got.check(t, 0, "", "")
	if want := "```\n$ agent " + planExample + "\n" + got.out + "```\n"; !strings.Contains(string(document), want) {
		t.Errorf("docs/mesh.md does not show the output of agent %s; replace its block with\n%s", planExample, want)
	}
}

func TestMeshPlan_PrintsCostsAndJSON(t *testing.T) {
	out := do(t, "", "mesh", "plan", "--feeds", "50000", "--costs").out
	for _, c := range capacity.Costs() {
		if !strings.Contains(out, c.Name) || !strings.Contains(out, c.Source) {
			t.Errorf("the cost %s and its source are not printed", c.Name)
		}
	}
	var plans meshPlans
	answer := do(t, "", "mesh", "plan", "--feeds", "50000,60000", "--keep", "30d", "--json")
	if err := json.Unmarshal([]byte(answer.out), &plans); err != nil || len(plans.Plans) != 2 || plans.Plans[1].Load.Feeds != 60_000 || len(plans.Costs) == 0 {
		t.Errorf("got %.200s, %v", answer.out, err)
	}
}

func TestMeshPlan_RejectsNonsense(t *testing.T) {
	for line, want := range map[string]string{
		"":                            "missing flags: --feeds=N",
		"--feeds 0":                   "--feeds: 0 is not between 1 and 1000000000; write the number of feeds, such as 50000",
		"--feeds=-5":                  "--feeds: -5 is not between 1",
		"--feeds 2000000000":          "--feeds: 2000000000 is not between 1",
		"--feeds 50000,0":             "--feeds: 0 is not between 1",
		"--feeds 1M":                  "a whole number",
		"--feeds 1 --polls-a-day 0":   "--polls-a-day: 0 is not above 0 and at most 1440; write the polls of a feed, such as 24",
		"--feeds 1 --items-a-day=-1":  "--items-a-day: -1 is not above 0",
		"--feeds 1 --items-a-day NaN": "--items-a-day: NaN is not above 0",
		"--feeds 1 --keep all":        "--keep: a plan needs a time, not all; write days, such as 90d",
		"--feeds 1 --keep 90d,10":     "--keep: a plan needs a time, not 90d,10",
		"--feeds 1 --keep 3d":         "the shortest age",
	} {
		do(t, "", append([]string{"mesh", "plan"}, strings.Fields(line)...)...).check(t, exitUsage, "", want)
	}
}
