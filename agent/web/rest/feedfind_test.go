package rest

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// inAllStates adds feeds in all states and returns their IDs by name.
func (w *testbed) inAllStates(t *testing.T) map[string]string {
	t.Helper()
	ids := map[string]string{"dns": w.feed}
	for name, state := range map[string]*subjects.State{
		"ok":   {Tier: subjects.Warm, Polled: now, Outcome: subjects.Stored, Next: now.Add(time.Hour)},
		"due":  {Tier: subjects.Warm, Polled: now, Outcome: subjects.Unchanged, Next: now.Add(-time.Hour)},
		"new":  {Tier: subjects.Hot, Next: now.Add(time.Hour)},
		"out":  {Tier: subjects.Cold, Polled: now, Crawl: "c", Next: now},
		"gone": {Tier: subjects.Cold, Polled: now, Outcome: subjects.Gone, Failures: 3, Class: "http 4xx", Status: 410},
		"404":  {Tier: subjects.Cold, Polled: now, Outcome: subjects.Failed, Failures: 1, Class: "http 4xx", Status: 404, Next: now.Add(time.Hour)},
	} {
		address := "https://" + name + ".example/"
		ids[name] = storage.FeedID(address)
		if _, err := w.Store.AddFeeds(t.Context(), storage.Feed{ID: ids[name], URL: address, Title: "In state " + name, Tags: []string{"made"}, Added: now}); err != nil {
			t.Fatal(err)
		}
		w.Mesh.States[ids[name]] = state
	}
	return ids
}

// wantFound fails unless the list with a query has exactly these feeds.
func (w *testbed) wantFound(t *testing.T, query string, want ...string) wire.FeedPage {
	t.Helper()
	page := getJSON[wire.FeedPage](t, w, "/api/feeds?count=true&"+query)
	var got []string
	for _, f := range page.Feeds {
		got = append(got, f.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || page.Total == nil || *page.Total != int64(len(want)) {
		t.Errorf("%s: got %d of %v, want %v", query, len(got), page.Total, len(want))
	}
	return page
}

func TestFindFeeds_ByState(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	id := w.inAllStates(t)
	for query, want := range map[string][]string{
		"state=failing": {id["dns"], id["404"]}, "state=gone": {id["gone"]}, "state=new": {id["new"]}, "state=polling": {id["out"]},
		"state=due": {id["due"], id["dns"]}, "state=ok": {id["ok"], id["due"], id["out"]},
		"class=dns": {id["dns"]}, "class=http+4xx": {id["404"], id["gone"]}, "class=none": nil,
		"tier=hot": {id["dns"], id["new"]}, "tier=cold&state=failing": {id["404"]},
		"tag=made&tier=warm": {id["ok"], id["due"]}, "q=IN+STATE&class=dns": nil, "q=state+404": {id["404"]}, "host=404.example": {id["404"]},
		"q=feed&state=due": {id["dns"]},
	} {
		for _, sort := range []string{"url", "title", "items", "newest", "added"} {
			w.wantFound(t, query+"&sort="+sort, want...)
		}
	}
	page := w.wantFound(t, "class=dns", id["dns"])
	if problem := page.Feeds[0].Problem; problem == nil || problem.Summary != "The host name does not resolve." || problem.Advice == "" || problem.Class != "dns" {
		t.Errorf("the problem is %+v, want a description and advice", problem)
	}
	if w.Mesh.Loads != 1 {
		t.Errorf("the states were read %d times within a moment, want once", w.Mesh.Loads)
	}
}

func TestFeedFacets_CountByState(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.inAllStates(t)
	facets := getJSON[wire.FeedFacets](t, w, "/api/feeds/facets")
	want := map[string]int64{
		"failing": 2, "gone": 2, "new": 2, "due": 2, "polling": 2, "ok": 3, "dns": 1, "http 4xx": 2, "": 0,
		"hot": 2, "warm": 2, "cold": 5, "made": 6, "it": 1, "news": 1,
	}
	got := map[string]int64{"": 0}
	for _, n := range slices.Concat(facets.States, facets.Classes, facets.Tiers) {
		got[n.Name] = n.Feeds
	}
	for _, n := range facets.Tags {
		got[n.Tag] = n.Feeds
	}
	delete(got, "")
	delete(want, "")
	if fmt.Sprint(got) != fmt.Sprint(want) || facets.Classes[0].Name != "http 4xx" || facets.Tags[0].Tag != "made" {
		t.Errorf("got %v, want %v, the most frequent first", facets, want)
	}
}

// If a state has more feeds than a query can name, the feeds of the store are scanned.
func TestFindFeeds_PagesOfLargeState(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: lists thousands of feeds")
	}
	t.Parallel()
	w := newTestbed(t)
	var feeds []storage.Feed
	for i := range storage.MaxFeedIDs + 2500 {
		address := fmt.Sprintf("https://many.example/%05d", i)
		f := storage.Feed{ID: storage.FeedID(address), URL: address, Title: fmt.Sprintf("Feed %d", i), Added: now}
		feeds = append(feeds, f)
		w.Mesh.States[f.ID] = &subjects.State{Tier: subjects.Hot, Polled: now, Failures: 1, Class: "tls"}
	}
	for chunk := range slices.Chunk(feeds, 1000) {
		if _, err := w.Store.AddFeeds(t.Context(), chunk...); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query string
		want  int
	}{{"class=tls&q=many", len(feeds)}, {"class=tls&q=many.example/0123", 10}, {"class=tls&q=nothing", 0}} {
		seen := map[string]bool{}
		for after, pages := "", 0; ; pages++ {
			page := getJSON[wire.FeedPage](t, w, "/api/feeds?limit=500&sort=title&"+c.query+"&after="+url.QueryEscape(after))
			for _, f := range page.Feeds {
				if seen[f.ID] {
					t.Fatalf("%s: feed %s comes twice", c.query, f.URL)
				}
				seen[f.ID] = true
			}
			if after = page.Next; after == "" || pages > 100 {
				break
			}
		}
		if len(seen) != c.want {
			t.Errorf("%s: got %d feeds, want %d", c.query, len(seen), c.want)
		}
	}
	if page := getJSON[wire.FeedPage](t, w, "/api/feeds?class=tls&limit=1&count=true"); *page.Total != int64(len(feeds)) {
		t.Errorf("got %d feeds counted, want %d", *page.Total, len(feeds))
	}
}

func TestFindFeeds_RejectsCursorOfOtherOrder(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	next := getJSON[wire.FeedPage](t, w, "/api/feeds?sort=title&limit=1").Next
	if next == "" {
		t.Fatal("got no cursor")
	}
	for _, query := range []string{"sort=items&after=" + next, "sort=added&after=garbage", "sort=newest&after=%00"} {
		w.request(t, "GET", "/api/feeds?"+query, "").isProblem(t, 400, "cursor does not belong")
	}
}

func TestSearch_FeedsByTitle(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for query, want := range map[string]int{
		"feed:feeds.example": 2, `feed:"A <B>feed"`: 2, "feed:" + w.feed: 2, "kernel feed:feeds.example": 1, "feed:nothing": 0, "-feed:feeds.example": 0,
		"kernel OR feed:nothing": 1,
	} {
		if found := getJSON[wire.SearchResults](t, w, "/api/search?q="+url.QueryEscape(query)); int(found.Total) != want {
			t.Errorf("%s: got %d items, want %d", query, found.Total, want)
		}
	}
}

// Feeds are in the store: they are listed while the schedule cannot be read.
func TestFeeds_ListedWithoutSchedule(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	feeds := getJSON[wire.FeedPage](t, w, "/api/feeds?count=true").Feeds
	w.Mesh.Broken = errors.New("the mesh is unavailable")
	page := getJSON[wire.FeedPage](t, w, "/api/feeds?count=true")
	if len(page.Feeds) != len(feeds) || *page.Total != int64(len(feeds)) {
		t.Fatalf("got %d feeds of %d, want %d", len(page.Feeds), *page.Total, len(feeds))
	}
	for _, f := range page.Feeds {
		if !f.Unknown || f.State != nil || f.LastPoll() != "unknown" || f.NextPoll(now, time.Time.String) != "unknown" {
			t.Errorf("got %+v, want an unknown state", f)
		}
	}
	w.request(t, "GET", "/api/feeds?state=failing", "").isProblem(t, 503, "the mesh is unavailable")
}
