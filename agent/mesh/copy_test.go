package mesh_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/subjects"
)

// copyOf returns the values of a mesh's schedule.
func copyOf(t *testing.T, m *mesh.Mesh) map[[2]string]string {
	t.Helper()
	values := map[[2]string]string{}
	err := m.CopySchedule(t.Context(), func(bucket, key string, value []byte) error {
		values[[2]string{bucket, key}] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// A copied schedule replaces another mesh's, feeds in flight are due, and the new schedule can write all states.
func TestReplaceSchedule_CopiesStates(t *testing.T) {
	ctx := t.Context()
	from, to := meshtest.New(t), meshtest.New(t)
	next := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var states []subjects.FeedState
	const feeds = 2*mesh.MaxEntry + 7
	for i := range feeds {
		s := subjects.State{URL: fmt.Sprintf("https://example.org/%d", i), ETag: "e", StoreWrites: 3, Next: next}
		if i == 5 {
			s.Crawl, s.Due, s.Unconditional, s.InMemory = "task", next, true, true
		}
		states = append(states, subjects.FeedState{FeedID: fmt.Sprint("feed", i), State: &s})
	}
	last := meshtest.Journal(t, from).LastDispatch()
	last.State.Crawl = "task"
	meshtest.PutStates(t, from, append(states, last)...)
	if err := from.PutHosts(ctx, 1, []subjects.Host{{Name: "example.org", Spacing: time.Minute}}); err != nil {
		t.Fatal(err)
	}
	meshtest.PutStates(t, to, subjects.FeedState{FeedID: "old", State: &subjects.State{URL: "https://old.example/"}}, subjects.FeedState{FeedID: "feed1", State: &subjects.State{URL: "https://old.example/1"}})

	want := copyOf(t, from)
	err := to.ReplaceSchedule(ctx, func(ctx context.Context, each func(string, string, []byte) error) error {
		return from.CopySchedule(ctx, each)
	})
	if err != nil {
		t.Fatal(err)
	}
	got := copyOf(t, to)
	inFlight := [2]string{subjects.ScheduleBucket, "feed5"}
	if got[inFlight] == want[inFlight] {
		t.Errorf("got %s, want it due", got[inFlight])
	}
	delete(got, inFlight)
	delete(want, inFlight)
	if len(got) != feeds || !maps.Equal(got, want) {
		t.Errorf("got %d values, want %d equal ones", len(got), feeds)
	}
	var loaded []subjects.FeedState
	journal, err := to.OpenJournal(ctx, 0, 1, func(f subjects.FeedState) { loaded = append(loaded, f) })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range loaded {
		if f.FeedID == "feed5" && (f.State.Crawl != "" || f.State.Unconditional || f.State.InMemory || f.State.Next.After(time.Now()) || f.State.ETag != "e") {
			t.Errorf("got %+v, want it due, with its validators", f.State)
		}
	}
	if err := journal.Put(ctx, loaded[:2], nil); err != nil {
		t.Error(err)
	}
	if last := journal.LastDispatch(); last.State.Crawl != "" {
		t.Errorf("got %+v, want no last dispatch", last.State)
	}
}

// A value that no agent can read is in quarantine or will be: a backup leaves it out.
func TestCopySchedule_UnreadableValue(t *testing.T) {
	r := newRig(t)
	m := r.join("tests")
	js, err := jetstream.New(r.connect())
	r.check(err)
	kv, err := js.KeyValue(t.Context(), subjects.ScheduleBucket)
	r.check(err)
	_, err = kv.Put(t.Context(), "bad", []byte("\xff\xfe"))
	r.check(err)
	_, err = kv.Put(t.Context(), "good", []byte(`{"url":"u"}`))
	r.check(err)
	if got := copyOf(t, m); len(got) != 1 || got[[2]string{subjects.ScheduleBucket, "good"}] == "" {
		t.Errorf("got %v, want the readable value", got)
	}
}
