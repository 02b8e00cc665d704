package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/subjects"
)

// joinDivided joins a new mesh whose schedule has partitions.
func (r *rig) joinDivided(partitions int) *mesh.Mesh {
	r.t.Helper()
	m, err := mesh.Join(r.t.Context(), mesh.Options{
		Agent: "a", Conn: r.connect(), Partitions: partitions, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	r.check(err)
	return m
}

// The number of partitions is fixed when the mesh is created, whatever later agents are set to.
func TestPartitions_FixedAtCreation(t *testing.T) {
	r := newRig(t)
	first := r.joinDivided(3)
	for _, m := range []*mesh.Mesh{first, r.joinDivided(7), r.join("b")} {
		if n, err := m.Partitions(t.Context()); err != nil || n != 3 {
			t.Errorf("got %d partitions, %v; want 3", n, err)
		}
	}
}

// Partitions write their journals independently of each other; readers get the states of all.
func TestJournal_Partitions(t *testing.T) {
	const partitions = 3
	r := newRig(t)
	m := r.joinDivided(partitions)
	open := func(i int) (*mesh.Journal, []string) {
		t.Helper()
		var ids []string
		j, err := m.OpenJournal(t.Context(), i, partitions, func(f subjects.FeedState) { ids = append(ids, f.FeedID) })
		r.check(err)
		return j, ids
	}
	journals := make([]*mesh.Journal, partitions)
	for i := range journals {
		journals[i], _ = open(i)
	}
	for round := range 5 {
		for i, j := range journals {
			last := j.LastDispatch()
			last.State.Crawl = fmt.Sprintf("task %d of %d", round, i)
			r.check(j.Put(t.Context(), []subjects.FeedState{stateOf(10*i+round, round), last}, func(string) *subjects.State { return nil }))
		}
	}
	for i := range journals {
		j, ids := open(i)
		if want := fmt.Sprintf("task 4 of %d", i); len(ids) != 5 || j.LastDispatch().State.Crawl != want {
			t.Errorf("partition %d: got states of %v and last dispatch %s, want 5 states and %s", i, ids, j.LastDispatch().State.Crawl, want)
		}
	}
	all := map[string]bool{}
	r.check(m.LoadStates(t.Context(), func(f subjects.FeedState) { all[f.FeedID] = true }))
	if len(all) != 5*partitions {
		t.Errorf("got states of %v, want %d", slices.Sorted(maps.Keys(all)), 5*partitions)
	}
	if s, err := m.StatesOf(t.Context(), "feed24"); err != nil || s["feed24"] == nil || s["feed24"].ETag != "4" {
		t.Errorf("got state %+v, %v; want that of the last partition", s, err)
	}
	js, err := jetstream.New(r.connect())
	r.check(err)
	kv, err := js.KeyValue(t.Context(), subjects.ScheduleBucket)
	r.check(err)
	_, err = kv.PutString(t.Context(), "unreadable", "text")
	r.check(err)
	open(1)
	open(0)
	if _, err := kv.Get(t.Context(), "unreadable"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("got %v for an unreadable value beside the partitions, want it in the quarantine", err)
	}
	if err := journals[1].Put(t.Context(), []subjects.FeedState{stateOf(99, 0)}, nil); err != nil {
		t.Errorf("opening a journal must not fence its owner: %v", err)
	}
}

// A backup of a schedule with one partition is divided by hosts when a schedule with several is restored from it.
func TestReplaceSchedule_Divides(t *testing.T) {
	const partitions, feeds = 4, 100
	from := meshtest.New(t)
	var states []subjects.FeedState
	for i := range feeds {
		states = append(states, subjects.FeedState{FeedID: fmt.Sprint("feed", i), State: &subjects.State{URL: fmt.Sprintf("https://host%d.example/feed", i%20)}})
	}
	meshtest.PutStates(t, from, states...)
	r := newRig(t)
	r.check(from.PutHosts(t.Context(), 1, []subjects.Host{{Name: "host1.example", Polls: 7}, {Name: "host2.example", Polls: 8}}))
	to := r.joinDivided(partitions)
	r.check(to.ReplaceSchedule(t.Context(), func(ctx context.Context, each func(string, string, []byte) error) error {
		return from.CopySchedule(ctx, each)
	}))
	if got, want := copyOf(t, to), copyOf(t, from); !maps.Equal(got, want) {
		t.Errorf("got %d values, want %d equal ones", len(got), len(want))
	}
	if h, err := to.Host(t.Context(), "host2.example"); err != nil || h == nil || h.Polls != 8 {
		t.Errorf("got host %+v, %v; want that of the backup", h, err)
	}
	total := 0
	for i := range partitions {
		n := 0
		_, err := to.OpenJournal(t.Context(), i, partitions, func(f subjects.FeedState) {
			n++
			if p := subjects.PartitionOf(f.State.URL, partitions); p != i {
				t.Errorf("the state of %s is in partition %d, want %d", f.State.URL, i, p)
			}
		})
		r.check(err)
		if n == 0 || n == feeds {
			t.Errorf("partition %d has %d states, want some of %d", i, n, feeds)
		}
		total += n
	}
	if total != feeds {
		t.Errorf("got %d states, want %d", total, feeds)
	}
}
