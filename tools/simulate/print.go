package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/tools/simulate/schedule"
)

// printResults prints a row for each result, delays in minutes.
func printResults(w io.Writer, results []schedule.Result) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		fmt.Fprintf(tabs, strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")+"\n", cells...)
	}
	row("WORLD", "SEED", "POLICY", "REQUESTS/DAY", "PER ITEM", "HIT RATE", "MEAN", "VS TIERS", "P50", "P95", "FEED MEAN", "<= 5 MIN", "LOST", "AVOIDABLY")
	for _, r := range results {
		row(r.World, seedOf(r), r.Policy, fmt.Sprintf("%.0f", r.Requests), fmt.Sprintf("%.1f", r.PerItem), percent(r.HitRate, 1),
			minutes(r.Mean), versus(r, results), minutes(r.Median), minutes(r.P95), minutes(r.FeedMean),
			percent(r.Within5, 1), percent(r.Lost, 3), percent(r.Avoidable, 3))
	}
	tabs.Flush()
}

func seedOf(r schedule.Result) string {
	if r.Seed == 0 {
		return "-"
	}
	return fmt.Sprint(r.Seed)
}

func minutes(seconds float64) string { return fmt.Sprintf("%.1f", seconds/60) }

func percent(share float64, digits int) string { return fmt.Sprintf("%.*f %%", digits, 100*share) }

// versus returns the ratio of a result's mean delay to that of policy tiers in the same world.
func versus(r schedule.Result, results []schedule.Result) string {
	for _, t := range results {
		if t.Policy == policy.KindTiers && t.World == r.World && t.Seed == r.Seed && t.Mean > 0 {
			return fmt.Sprintf("%.2f", r.Mean/t.Mean)
		}
	}
	return "-"
}
