package schedule

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/subjects"
)

func named(ids ...string) (states []*subjects.FeedState) {
	for _, id := range ids {
		states = append(states, &subjects.FeedState{FeedID: id, State: &subjects.State{URL: "http://" + id + ".example/"}})
	}
	return states
}

func namesOf(all [][]*subjects.FeedState) (names [][]string) {
	for _, some := range all {
		var ids []string
		for _, s := range some {
			ids = append(ids, s.FeedID)
		}
		names = append(names, ids)
	}
	return names
}

func TestBatches_RemovedAndAddedFeed(t *testing.T) {
	for _, test := range []struct {
		name string
		all  []changes
		want string
	}{
		{"each once", []changes{{states: named("a", "b")}, {states: named("b", "c")}}, "[[a b c]]"},
		{"removed afterwards", []changes{{states: named("a", "b")}, {removed: []string{"a"}}}, "[[b]]"},
		{"removed and added again", []changes{{states: named("a")}, {removed: []string{"a"}, states: named("a")}}, "[[a]]"},
		{"removed twice", []changes{{removed: []string{"a"}, states: named("a")}, {removed: []string{"a"}}}, "[]"},
	} {
		if got := fmt.Sprint(namesOf(batches(test.all))); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestBatches_AtomicChangesShareABatch(t *testing.T) {
	var all []changes
	for i := range 21 {
		var ids []string
		for j := range 101 {
			ids = append(ids, fmt.Sprintf("%d-%d", i, j))
		}
		all = append(all, changes{states: named(ids...)})
	}
	n := 0
	for _, some := range namesOf(batches(all)) {
		if len(some) > mesh.MaxEntry || len(some)%101 != 0 {
			t.Errorf("got a batch of %d, want sets of 101, at most %d", len(some), mesh.MaxEntry)
		}
		n += len(some)
	}
	if n != 21*101 {
		t.Errorf("got %d states, want %d", n, 21*101)
	}
}

func TestStateWriter_CombinesConcurrentWrites(t *testing.T) {
	r := newTestbed(t)
	var lock sync.Mutex
	states := named("a", "b", "c", "d", "e")
	w := newStateWriter(r.Mesh, &lock, func(feedID string) *subjects.State {
		i := slices.IndexFunc(states, func(s *subjects.FeedState) bool { return s.FeedID == feedID })
		return states[i].State
	})
	w.journal = meshtest.Journal(t, r.Mesh)
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			s := states[i%len(states)]
			lock.Lock()
			s.State.Failures++
			lock.Unlock()
			if err := w.write(t.Context(), changes{states: []*subjects.FeedState{s}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, s := range states {
		if got := r.state(s.FeedID); got.Failures != 40 {
			t.Errorf("%s: got %d written, want 40", s.FeedID, got.Failures)
		}
	}
	if err := w.write(t.Context(), changes{removed: []string{"a", "b"}, states: states[2:3]}); err != nil {
		t.Fatal(err)
	}
	if err := w.write(t.Context(), changes{removed: []string{"a"}}); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	var left []string
	if err := r.Mesh.LoadStates(t.Context(), func(s subjects.FeedState) { left = append(left, s.FeedID) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if !slices.Equal(left, []string{"c", "d", "e"}) {
		t.Errorf("got %v left, want c, d and e", left)
	}
}
