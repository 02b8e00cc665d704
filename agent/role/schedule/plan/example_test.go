package plan_test

import (
	"fmt"
	"time"

	"feedmesh/agent/role/schedule/plan"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A new feed is dispatched, its poll is observed, and its next poll is planned.
func Example() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	p := plan.New(plan.Options{Policy: policy.New(policy.Settings{Kind: policy.KindUniform, Interval: time.Hour})})
	p.Add(storage.Feed{ID: "blog", URL: "https://blog.example/feed"}, now)

	tier := policy.Warm
	fmt.Println("due:", p.Due(tier, now))
	feeds := p.PopDue(tier, now)
	task := p.Tasks(tier, feeds, now)[0]
	fmt.Println("fetch", task.Feeds[0].URL, "- in flight:", p.TierCounts(tier).InFlight)

	f := p.Observe(subjects.Observation{
		Receipt: subjects.Receipt{FeedID: "blog", Crawl: task.ID(), Fetched: now, Status: 404},
		Outcome: subjects.Failed, Class: "client", Weight: 0.5,
	}, now)
	fmt.Println("after a failure:", f.State.Reason)
	// Output:
	// due: true
	// fetch https://blog.example/feed - in flight: 1
	// after a failure: failing: 23 min, failure weight 0.5
}
