package service

import (
	"context"
	"fmt"
	"testing"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// A loadedMesh is a mesh with the given number of states.
type loadedMesh struct {
	Mesh
	n int
}

func (m loadedMesh) LoadStates(_ context.Context, each func(subjects.FeedState)) error {
	classes := []string{"", "dns", "timeout", "http 4xx"}
	for i := range m.n {
		s := &subjects.State{Tier: subjects.Tiers[i%3], Polled: now, Failures: i % 4, Class: classes[i%4]}
		each(subjects.FeedState{FeedID: storage.FeedID(fmt.Sprint(i)), State: s})
	}
	return nil
}

func BenchmarkFeedStates_MillionFeeds(b *testing.B) {
	for b.Loop() {
		all, err := readStates(b.Context(), loadedMesh{n: 1_000_000}, now)
		if err != nil || cap(all.feeds) == 0 {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(all.feeds)*40)/1e6, "MB-kept")
	}
}
