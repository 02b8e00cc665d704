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

// dayOld returns a plan of feeds after a day, with models, validators and reasons. Ten feeds are on three hosts.
func dayOld(b *testing.B, feeds int) *Plan {
	b.Helper()
	p := New(Options{Policy: policy.New(policy.Settings{}), Spacing: spacing})
	for i := range feeds {
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
		url := fmt.Sprintf("https://host%d.example/blog/%d/feed.xml", i%(feeds*3/10), i)
		p.Load(subjects.FeedState{FeedID: storage.FeedID(url), State: &subjects.State{
			URL: url, ETag: fmt.Sprintf(`W/"%032x"`, i), LastModified: "Wed, 04 Mar 2026 11:00:00 GMT", BodyHash: fmt.Sprintf("%032x", i),
			Tier: subjects.Cold, Model: model, Next: noon.Add(time.Duration(i%3600) * time.Second), Polled: noon.Add(-time.Hour),
			Reason: fmt.Sprintf("price: %d items a day, 0.01 expected by then", i), Outcome: subjects.Unchanged, Status: 304,
		}})
	}
	p.Recalibrate(noon)
	return p
}

// BenchmarkPartition measures one poll of a feed of a partition: dispatch, observation and the next decision. Five million feeds
// are in one partition, and in one of 4, of 16 and of 64: a poll must not cost more where there are fewer partitions.
func BenchmarkPartition(b *testing.B) {
	for _, partitions := range []int{1, 4, 16, 64} {
		before := heldBytes()
		p := dayOld(b, 5_000_000/partitions)
		held := heldBytes() - before
		now := noon
		b.Run(fmt.Sprintf("one of %d", partitions), func(b *testing.B) {
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
		})
	}
}

// BenchmarkRecalibrate measures Recalibrate of a million feeds, which runs every few minutes.
func BenchmarkRecalibrate(b *testing.B) {
	p := dayOld(b, 1_000_000)
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
