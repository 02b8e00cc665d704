package policy_test

import (
	"fmt"
	"time"

	"feedmesh/agent/role/schedule/policy"
)

// A feed with an item each hour is polled by the price policy.
func Example() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var dates []time.Time
	for h := range 48 {
		dates = append(dates, now.Add(-time.Duration(h)*time.Hour))
	}
	feed := &policy.Feed{Polled: now, Window: 50}
	feed.Model.Learn(dates, now)

	p := policy.New(policy.Settings{})
	decision := p.Next(feed, now, 0)
	fmt.Println("in", decision.Next.Sub(now).Round(time.Minute))
	fmt.Println(decision.Reason)

	feed.Failures, feed.FailingSince = 2, now
	fmt.Println(p.Next(feed, now, 0).Reason)
	// Output:
	// in 10m0s
	// price: 19.7 items a day, 0.63 expected by then
	// failing: 29 min, failure weight 2
}
