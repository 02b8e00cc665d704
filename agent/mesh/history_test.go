package mesh_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

func TestHosts_StoredWithAnyName(t *testing.T) {
	m := newRig(t).join("a")
	names := []string{"example.org", "пример.рф", "::1", "a b*c>d", "x"}
	var hosts []subjects.Host
	for i, name := range names {
		hosts = append(hosts, subjects.Host{Name: name, Polls: int64(i + 1)})
	}
	for range 2 { // in place of what was there
		if err := m.PutHosts(t.Context(), hosts); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]int64{}
	if err := m.LoadHosts(t.Context(), func(h subjects.Host) { got[h.Name] = h.Polls }); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if got[name] != int64(i+1) {
			t.Errorf("%q: got %d polls, want %d", name, got[name], i+1)
		}
	}
	if err := m.PutHosts(t.Context(), nil); err != nil {
		t.Errorf("no hosts: %v", err)
	}
}

func TestPolls_NewestFirst(t *testing.T) {
	m := newRig(t).join("a")
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	var polls []mesh.FeedPoll
	for i := range subjects.MaxPolls + 5 {
		polls = append(polls, mesh.FeedPoll{FeedID: "a", Poll: subjects.Poll{At: at.Add(time.Duration(i) * time.Minute), Status: 200 + i}})
	}
	polls = append(polls, mesh.FeedPoll{FeedID: "b", Poll: subjects.Poll{At: at, Class: "timeout"}})
	if err := m.PutPolls(t.Context(), polls); err != nil {
		t.Fatal(err)
	}
	got, err := m.Polls(t.Context(), "a")
	if err != nil || len(got) != subjects.MaxPolls {
		t.Fatalf("got %d polls, %v; want %d", len(got), err, subjects.MaxPolls)
	}
	if got[0].Status != 254 || !slices.IsSortedFunc(got, func(a, b subjects.Poll) int { return b.At.Compare(a.At) }) {
		t.Errorf("got %+v first, want the newest", got[0])
	}
	for _, id := range []string{"unknown", "no key >"} {
		if got, err := m.Polls(t.Context(), id); got != nil || err != nil {
			t.Errorf("%s: got %v, %v; want none", id, got, err)
		}
	}
	if err := m.DeletePolls(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Polls(t.Context(), "a"); len(got) != 0 || err != nil {
		t.Errorf("after the feed was dropped: got %v, %v; want none", got, err)
	}
	if got, _ := m.Polls(t.Context(), "b"); len(got) != 1 {
		t.Errorf("got %v of the other feed, want its poll", got)
	}
}

func TestPutPolls_SplitsIntoBatches(t *testing.T) {
	m := newRig(t).join("a")
	polls := make([]mesh.FeedPoll, 2*mesh.MaxPutBatch+1)
	for i := range polls {
		polls[i] = mesh.FeedPoll{FeedID: fmt.Sprint("f", i), Poll: subjects.Poll{Status: 304}}
	}
	if err := m.PutPolls(t.Context(), polls); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Polls(t.Context(), polls[len(polls)-1].FeedID); len(got) != 1 || err != nil {
		t.Errorf("got %v, %v of the last feed, want its poll", got, err)
	}
}
