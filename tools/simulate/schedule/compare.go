package schedule

import (
	"context"
	"math"
	"slices"
	"time"

	"feedmesh/agent/role/schedule/policy"
)

const (
	// maxDifference is the maximum relative difference of the requests of compared policies before the budget is
	// scaled again, up to a number of times.
	maxDifference = 0.01
	scalings      = 3
)

// Compare simulates a world with policies of these kinds, each with as many requests as the tiers policy
// makes, and returns the results in the order of kinds. floor is the minimum interval of the price policy.
func Compare(ctx context.Context, w World, s Span, kinds []string, floor time.Duration, seed uint64) ([]Result, error) {
	tiers, err := Run(ctx, w, s, policy.New(policy.Settings{Kind: policy.KindTiers}), seed)
	if err != nil {
		return nil, err
	}
	tiers.Policy, tiers.Seed = policy.KindTiers, seed
	results := make([]Result, 0, len(kinds))
	for _, kind := range kinds {
		r := tiers
		if kind != policy.KindTiers {
			if r, err = runScaled(ctx, w, s, policy.Settings{Kind: kind, Floor: floor}, seed, tiers.Requests); err != nil {
				return nil, err
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// runScaled simulates a world with a policy scaled to a number of requests a day.
func runScaled(ctx context.Context, w World, s Span, settings policy.Settings, seed uint64, requests float64) (Result, error) {
	polls, elapsed := 0, time.Duration(0)
	affordable := requests
	for try := 1; ; try++ {
		settings.Budget = affordable / daySeconds
		settings.Interval = time.Duration(float64(len(w.Feeds)) / settings.Budget * float64(time.Second))
		r, err := Run(ctx, w, s, policy.New(settings), seed)
		if err != nil {
			return Result{}, err
		}
		polls, elapsed = polls+r.Polls, elapsed+r.Elapsed
		if miss := r.Requests / requests; try == scalings || math.Abs(miss-1) <= maxDifference {
			r.Policy, r.Seed, r.Polls, r.Elapsed = settings.Kind, seed, polls, elapsed
			return r, nil
		} else if r.Requests > 0 {
			affordable /= miss
		}
	}
}

// Mean returns the mean over the seeds for each world and policy, in order of their first results. Its Seed
// is 0.
func Mean(results []Result) []Result {
	var means []Result
	for _, r := range results {
		same := func(m Result) bool { return m.World == r.World && m.Policy == r.Policy }
		if slices.ContainsFunc(means, same) {
			continue
		}
		var group []Result
		for _, other := range results {
			if same(other) {
				group = append(group, other)
			}
		}
		means = append(means, meanOf(group))
	}
	return means
}

func meanOf(group []Result) Result {
	m := Result{World: group[0].World, Policy: group[0].Policy, Feeds: group[0].Feeds}
	m.Hourly, m.Delays = make([]int, len(group[0].Hourly)), make([]float64, len(group[0].Delays))
	n := float64(len(group))
	for _, r := range group {
		for _, f := range [...]struct {
			sum *float64
			of  float64
		}{
			{&m.Requests, r.Requests}, {&m.PerItem, r.PerItem}, {&m.HitRate, r.HitRate},
			{&m.Mean, r.Mean}, {&m.Median, r.Median}, {&m.P95, r.P95}, {&m.FeedMean, r.FeedMean},
			{&m.Within5, r.Within5}, {&m.Lost, r.Lost}, {&m.Avoidable, r.Avoidable},
		} {
			*f.sum += f.of / n
		}
		for i := range min(len(m.Delays), len(r.Delays)) {
			m.Delays[i] += r.Delays[i] / n
		}
		for i, requests := range r.Hourly {
			m.Hourly[i] += requests / len(group)
		}
		m.Items, m.Polls, m.Elapsed = m.Items+r.Items/len(group), m.Polls+r.Polls, m.Elapsed+r.Elapsed
	}
	return m
}
