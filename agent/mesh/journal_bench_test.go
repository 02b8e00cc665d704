package mesh_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"feedmesh/agent/mesh/meshtest"
	"feedmesh/subjects"
)

// BenchmarkJournal_Put writes entries of complete states.
func BenchmarkJournal_Put(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newRig(b)
			m := r.join("a")
			states := make([]subjects.FeedState, n)
			for i := range states {
				model := make([]byte, 200)
				for j := range model {
					model[j] = byte(rand.N(256))
				}
				states[i] = subjects.FeedState{FeedID: fmt.Sprintf("feed%016d", i), State: &subjects.State{
					URL: "https://example.org/feed.xml", ETag: `"123456789"`, BodyHash: "0123456789abcdef0123456789abcdef", Model: model,
				}}
			}
			j := meshtest.Journal(b, m)
			for b.Loop() {
				if err := j.Put(b.Context(), states, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/state")
		})
	}
}
