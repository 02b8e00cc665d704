package mesh_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// Each partition of the schedule reads its hosts only, whatever their names.
func TestHosts_StoredWithAnyName(t *testing.T) {
	for _, partitions := range []int{1, 4} {
		t.Run(fmt.Sprint(partitions, " partitions"), func(t *testing.T) {
			m := newRig(t).joinDivided(partitions)
			names := []string{"example.org", "пример.рф", "::1", "a b*c>d", "x", "a.example", "b.example", "c.example", "d.example", "e.example", "urn:x"}
			var hosts []subjects.Host
			for i, name := range names {
				hosts = append(hosts, subjects.Host{Name: name, Polls: int64(i + 1)})
			}
			for range 2 { // in place of what was there
				if err := m.PutHosts(t.Context(), partitions, hosts); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.PutHosts(t.Context(), partitions, nil); err != nil {
				t.Errorf("no hosts: %v", err)
			}
			got := map[string]int64{}
			for p := range partitions {
				err := m.LoadHosts(t.Context(), p, partitions, func(h subjects.Host) {
					got[h.Name] += h.Polls
					if url := "https://" + h.Name + "/feed"; strings.HasSuffix(h.Name, ".example") && subjects.PartitionOf(url, partitions) != p {
						t.Errorf("%s is in partition %d, want that of %s", h.Name, p, url)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, name := range names {
				if got[name] != int64(i+1) {
					t.Errorf("%q: got %d polls, want %d", name, got[name], i+1)
				}
				if h, err := m.Host(t.Context(), name); err != nil || h == nil || h.Polls != int64(i+1) {
					t.Errorf("%q: got %+v, %v; want the host", name, h, err)
				}
			}
		})
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
