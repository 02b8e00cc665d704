package plan

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// million returns a plan of a million feeds on 300,000 hosts after a day: with models, validators and
// reasons.
func million(b *testing.B) *Plan {
	b.Helper()
	p := New(Options{Policy: policy.New(policy.Settings{}), Spacing: spacing})
	for i := range 1_000_000 {
		var m policy.Model
		var dates []time.Time
		for n := range 20 {
			dates = append(dates, noon.Add(-time.Duration((n+1)*(i%5000+10))*time.Minute))
		}
		m.Learn(dates, noon)
		model, err := m.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		url := fmt.Sprintf("https://host%d.example/blog/%d/feed.xml", i%300_000, i)
		p.Load(subjects.FeedState{FeedID: storage.FeedID(url), State: &subjects.State{
			URL: url, ETag: fmt.Sprintf(`W/"%032x"`, i), LastModified: "Wed, 04 Mar 2026 11:00:00 GMT", BodyHash: fmt.Sprintf("%032x", i),
			Tier: subjects.Cold, Model: model, Next: noon.Add(time.Duration(i%3600) * time.Second), Polled: noon.Add(-time.Hour),
			Reason: fmt.Sprintf("price: %d items a day, 0.01 expected by then", i), Outcome: subjects.Unchanged, Status: 304,
		}})
	}
	p.Recalibrate(noon)
	return p
}

// BenchmarkMillion measures one poll of one of a million feeds: dispatch, observation and the next decision.
func BenchmarkMillion(b *testing.B) {
	before := heldBytes()
	p := million(b)
	held := heldBytes() - before
	now := noon
	b.ResetTimer()
	for n := 0; n < b.N; {
		now = now.Add(100 * time.Millisecond)
		for tier := range subjects.Tiers {
			for popped := p.PopDue(policy.Tier(tier), now); popped != nil && n < b.N; popped = p.PopDue(policy.Tier(tier), now) {
				for _, f := range popped {
					p.Observe(notModified(f, now), now)
					n++
				}
			}
		}
		p.TakeHistory(true)
	}
	b.ReportMetric(held/1e6, "MB")
}

// BenchmarkRecalibrate measures Recalibrate of a million feeds, which runs every few minutes.
func BenchmarkRecalibrate(b *testing.B) {
	p := million(b)
	for b.Loop() {
		p.Recalibrate(noon)
	}
}

func heldBytes() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
