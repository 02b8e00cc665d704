package mesh_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/subjects"
)

// stateOf returns a state that differs for each feed and version.
func stateOf(feed, version int) subjects.FeedState {
	id := fmt.Sprintf("feed%d", feed)
	return subjects.FeedState{FeedID: id, State: &subjects.State{URL: "https://example.org/" + id, ETag: fmt.Sprint(version)}}
}

// openJournal opens a journal and returns its states.
func openJournal(t *testing.T, m *mesh.Mesh) (*mesh.Journal, map[string]*subjects.State) {
	t.Helper()
	got := map[string]*subjects.State{}
	j, err := m.OpenJournal(t.Context(), 0, 1, func(f subjects.FeedState) { got[f.FeedID] = f.State })
	if err != nil {
		t.Fatal(err)
	}
	return j, got
}

// journalMessages returns the number of messages of the journal.
func (r *rig) journalMessages() uint64 {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	r.check(err)
	stream, err := js.Stream(r.t.Context(), "KV_"+subjects.ScheduleBucket)
	r.check(err)
	return stream.CachedInfo().State.Msgs
}

// After any writes the journal contains the newest state of each feed, also for readers and after it is opened again, and
// few messages.
func TestJournal_ContainsNewestStates(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	random := rand.New(rand.NewPCG(1, 2))
	j, want := openJournal(t, m)
	current := func(feedID string) *subjects.State { return want[feedID] }
	for round := range 400 {
		n, feeds := 1+random.IntN(3), 3000
		if round%20 == 0 {
			n = mesh.MaxEntry
		}
		var states []subjects.FeedState
		for _, feed := range random.Perm(feeds)[:n] {
			s := stateOf(feed, round)
			if want[s.FeedID] = s.State; random.IntN(10) == 0 {
				s.State = nil
				delete(want, s.FeedID)
			}
			states = append(states, s)
		}
		r.check(j.Put(t.Context(), states, current))
		if round%100 == 99 {
			var got map[string]*subjects.State
			if j, got = openJournal(t, m); !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: got %d states, want %d equal ones", round, len(got), len(want))
			}
		}
	}
	read := map[string]*subjects.State{}
	r.check(m.LoadStates(t.Context(), func(f subjects.FeedState) { read[f.FeedID] = f.State }))
	if !reflect.DeepEqual(read, want) {
		t.Errorf("read: got %d states, want %d equal ones", len(read), len(want))
	}
	some := map[string]*subjects.State{}
	for _, id := range []string{"feed1", "feed2999", "feed299"} {
		some[id] = want[id]
	}
	if got, err := m.StatesOf(t.Context(), "feed1", "feed2999", "feed", "feed299", "0.1"); err != nil || !reflect.DeepEqual(got, some) {
		t.Errorf("got %+v, %v; want %+v", got, err, some)
	}
	if n := r.journalMessages(); n > 600 {
		t.Errorf("got %d messages, want at most 600", n)
	}
}

// Many small entries are combined when the journal has no free slots.
func TestJournal_CombinesSmallEntries(t *testing.T) {
	r := newRig(t)
	j, want := openJournal(t, r.join("a"))
	for feed := range 1500 {
		s := stateOf(feed, 1)
		want[s.FeedID] = s.State
		r.check(j.Put(t.Context(), []subjects.FeedState{s}, func(feedID string) *subjects.State { return want[feedID] }))
	}
	if n := r.journalMessages(); n > 520 {
		t.Errorf("got %d messages, want at most 520", n)
	}
	if _, got := openJournal(t, r.join("b")); !reflect.DeepEqual(got, want) {
		t.Errorf("got %d states, want %d equal ones", len(got), len(want))
	}
}

// Only the last owner can write, whichever slot the other one would use.
func TestJournal_RefusesFormerOwner(t *testing.T) {
	r := newRig(t)
	a, b := r.join("a"), r.join("b")
	first, want := openJournal(t, a)
	none := func(string) *subjects.State { return nil }
	r.check(first.Put(t.Context(), []subjects.FeedState{stateOf(1, 1)}, none))
	second, _ := openJournal(t, b)
	r.check(second.Put(t.Context(), []subjects.FeedState{stateOf(2, 1)}, none))
	for range 2 {
		if err := first.Put(t.Context(), []subjects.FeedState{stateOf(1, 2)}, none); !errors.Is(err, mesh.ErrStale) {
			t.Fatalf("got %v, want ErrStale", err)
		}
	}
	r.check(second.Put(t.Context(), []subjects.FeedState{stateOf(3, 1)}, none))
	for _, s := range []subjects.FeedState{stateOf(1, 1), stateOf(2, 1), stateOf(3, 1)} {
		want[s.FeedID] = s.State
	}
	third, got := openJournal(t, a)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	// An entry that a person deletes is lost, and the journal remains writable.
	js, err := jetstream.New(r.connect())
	r.check(err)
	kv, err := js.KeyValue(t.Context(), subjects.ScheduleBucket)
	r.check(err)
	r.check(kv.Delete(t.Context(), "0.1"))
	if err := third.Put(t.Context(), []subjects.FeedState{stateOf(1, 2)}, none); !errors.Is(err, mesh.ErrStale) {
		t.Errorf("after a deletion: got %v, want ErrStale", err)
	}
	fourth, got := openJournal(t, a)
	if len(got) != 2 || got["feed2"] != nil {
		t.Errorf("after a deletion: got %v, want the other two", got)
	}
	r.check(fourth.Put(t.Context(), []subjects.FeedState{stateOf(2, 2)}, none))
}

// A removed feed has no state, though an older entry has one.
func TestJournal_RemovedFeeds(t *testing.T) {
	r := newRig(t)
	j, _ := openJournal(t, r.join("a"))
	want := map[string]*subjects.State{}
	current := func(feedID string) *subjects.State { return want[feedID] }
	for version := range 5 { // each leaves ten states in the entry before; the last replaces the first
		var states []subjects.FeedState
		for feed := 10 * version; feed < mesh.MaxEntry; feed++ {
			s := stateOf(feed, version)
			states, want[s.FeedID] = append(states, s), s.State
		}
		if version == 4 {
			delete(want, "feed3")
			delete(want, "feed4") // in the meantime
			r.check(j.Put(t.Context(), []subjects.FeedState{{FeedID: "feed3"}}, current))
		}
		r.check(j.Put(t.Context(), states, current))
	}
	if n := r.journalMessages(); n != 5 {
		t.Fatalf("got %d messages, want 5: the first is replaced", n)
	}
	if _, got := openJournal(t, r.join("b")); !reflect.DeepEqual(got, want) {
		t.Errorf("got %d states, feed3 %v, feed4 %v; want %d equal ones", len(got), got["feed3"], got["feed4"], len(want))
	}
}

// States of versions that wrote a message for each feed are converted once.
func TestJournal_ConvertsStatesOfOlderVersions(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	js, err := jetstream.New(r.connect())
	r.check(err)
	kv, err := js.KeyValue(t.Context(), subjects.ScheduleBucket)
	r.check(err)
	meshtest.PutStates(t, m, stateOf(0, 1), stateOf(1, 1)) // and an older version wrote after a newer one
	want := map[string]*subjects.State{"feed0": stateOf(0, 1).State}
	for feed := 1; feed < mesh.MaxEntry+100; feed++ {
		s := stateOf(feed, 2)
		want[s.FeedID] = s.State
		_, err := kv.PutString(t.Context(), s.FeedID, fmt.Sprintf(`{"url":%q,"etag":"2","tier":""}`, s.State.URL))
		r.check(err)
	}
	_, err = kv.PutString(t.Context(), "last-task", `{"url":"","crawl":"task","tier":""}`)
	r.check(err)
	if got, err := m.StatesOf(t.Context(), "feed7"); err != nil || !reflect.DeepEqual(got["feed7"], want["feed7"]) {
		t.Errorf("before: got %+v, %v; want %+v", got, err, want["feed7"])
	}
	for range 2 {
		j, got := openJournal(t, m)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %d states, want %d equal ones", len(got), len(want))
		}
		if last := j.LastDispatch(); last.State.Crawl != "task" {
			t.Errorf("last dispatch: got %+v", last.State)
		}
		r.check(j.Put(t.Context(), []subjects.FeedState{{FeedID: "feed5", State: want["feed5"]}}, func(feedID string) *subjects.State { return want[feedID] }))
	}
	if n := r.journalMessages(); n > 5 {
		t.Errorf("got %d messages, want at most 5", n)
	}
}

// An entry that exceeds the maximum of a message is divided.
func TestJournal_DividesLargeEntries(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	j, want := openJournal(t, m)
	random := rand.New(rand.NewPCG(1, 2))
	var states []subjects.FeedState
	for feed := range 40 {
		s := stateOf(feed, 1)
		var text strings.Builder
		for text.Len() < 512<<10 {
			fmt.Fprint(&text, random.Uint64())
		}
		s.State.Error = text.String()
		states, want[s.FeedID] = append(states, s), s.State
	}
	r.check(j.Put(t.Context(), states, nil))
	if _, got := openJournal(t, m); !reflect.DeepEqual(got, want) {
		t.Errorf("got %d states, want %d equal ones", len(got), len(want))
	}
	if n := r.journalMessages(); n < 2 {
		t.Errorf("got %d messages, want several", n)
	}
}

// An entry with an unreadable state is put into quarantine, and its feeds have the states of earlier entries. An outdated state is
// not read.
func TestJournal_UnreadableState(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	j, _ := openJournal(t, m)
	none := func(string) *subjects.State { return nil }
	r.check(j.Put(t.Context(), []subjects.FeedState{stateOf(1, 1), stateOf(2, 1)}, none))
	r.check(j.Put(t.Context(), []subjects.FeedState{stateOf(1, 2)}, none))
	js, err := jetstream.New(r.connect())
	r.check(err)
	kv, err := js.KeyValue(t.Context(), subjects.ScheduleBucket)
	r.check(err)
	compressor, err := zstd.NewWriter(nil)
	r.check(err)
	write := func(key, lines string) {
		t.Helper()
		_, err := kv.Put(t.Context(), key, compressor.EncodeAll([]byte(lines), nil))
		r.check(err)
	}
	const unreadable = `{"id":"feed1","state":{"url":5}}` + "\n"
	write("0.1", unreadable)
	_, got := openJournal(t, m)
	if len(got) != 2 || got["feed1"].ETag != "1" || got["feed2"].ETag != "1" {
		t.Errorf("got %v, want the states of the first entry", got)
	}
	checkQuarantined(t, m, subjects.ScheduleBucket, [][]byte{compressor.EncodeAll([]byte(unreadable), nil)})

	write("0.0", unreadable+`{"id":"feed2","state":{"url":"https://example.org/feed2","etag":"1"}}`+"\n")
	write("0.1", `{"id":"feed1","state":{"url":"https://example.org/feed1","etag":"3"}}`+"\n")
	if _, got = openJournal(t, m); len(got) != 2 || got["feed1"].ETag != "3" || got["feed2"].ETag != "1" {
		t.Errorf("got %v, want the newest states", got)
	}
}
