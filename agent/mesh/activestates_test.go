package mesh_test

import (
	"context"
	"fmt"
	"testing"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// activeFeeds is an active schedule with states in memory.
type activeFeeds map[string]*subjects.State

func (a activeFeeds) States(each func(subjects.FeedState)) {
	for id, state := range a {
		each(subjects.FeedState{FeedID: id, State: state})
	}
}

func (a activeFeeds) State(id string) *subjects.State { return a[id] }

func (a activeFeeds) WriteStates(context.Context) error { return nil }

// newer returns an active schedule in which each state is newer than the written one.
func newer(numbers ...int) activeFeeds {
	a := activeFeeds{}
	for _, n := range numbers {
		f := stateOf(n, 2)
		a[f.FeedID] = f.State
	}
	return a
}

// Agents without the active schedule get its states from it, and from its journal if it does not answer.
func TestStatesOf_AsksActivePartitions(t *testing.T) {
	const partitions = 2
	r := newRig(t)
	first, second, reader := r.joinDivided(partitions), r.join("b"), r.join("c")
	for i, numbers := range [][]int{{0, 1}, {10, 11}} {
		j, err := first.OpenJournal(t.Context(), i, partitions, func(subjects.FeedState) {})
		r.check(err)
		for _, n := range numbers {
			r.check(j.Put(t.Context(), []subjects.FeedState{stateOf(n, 1)}, nil))
		}
	}
	ids := []string{stateOf(0, 0).FeedID, stateOf(1, 0).FeedID, stateOf(10, 0).FeedID, stateOf(11, 0).FeedID, "unknown"}
	want := func(when string, etags ...string) {
		t.Helper()
		got, err := reader.StatesOf(t.Context(), ids...)
		r.check(err)
		var all []string
		for _, id := range ids {
			if got[id] == nil {
				all = append(all, "none")
			} else {
				all = append(all, got[id].ETag)
			}
		}
		if fmt.Sprint(all) != fmt.Sprint(etags) {
			t.Errorf("%s: got %v, want %v", when, all, etags)
		}
	}
	want("without an active schedule", "1", "1", "1", "1", "none")
	endFirst := serveStates(r, first, 0, newer(0))
	want("one partition is active", "2", "1", "1", "1", "none")
	endSecond := serveStates(r, second, 1, newer(10, 11))
	want("both are active", "2", "none", "2", "2", "none") // a removed feed has no state, whatever was written
	endFirst()
	want("one ended", "1", "1", "2", "2", "none")
	endSecond()
	want("both ended", "1", "1", "1", "1", "none")
	if got, err := reader.StatesOf(t.Context()); len(got) > 0 || err != nil {
		t.Errorf("got %v, %v for no feeds", got, err)
	}
}

// serveStates starts the responses of a partition and waits until the server has its subscription.
func serveStates(r *rig, m *mesh.Mesh, partition int, states activeFeeds) (end func()) {
	end = m.ServeStates(partition, 2, states)
	r.check(m.Ping(r.t.Context())) // follows the subscription on the connection
	return end
}
