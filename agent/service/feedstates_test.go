package service

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// States that were read while the clock was an hour ahead are read again when it is right.
func TestFeedStates_ReadByAClockThatWasAhead(t *testing.T) {
	var cache stateCache
	for _, c := range []struct {
		feeds int
		at    time.Time
		want  int
	}{
		{2, now.Add(time.Hour), 2},
		{3, now.Add(time.Hour + time.Second), 2}, // cached
		{3, now, 3},
		{4, now.Add(time.Second), 3},
		{4, now.Add(time.Minute), 4},
	} {
		got, err := cache.get(t.Context(), loadedMesh{n: c.feeds}, c.at)
		if err != nil || len(got.feeds) != c.want {
			t.Errorf("%v: got %d feeds (%v), want %d", c.at, len(got.feeds), err, c.want)
		}
	}
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
