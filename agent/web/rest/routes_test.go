package rest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// addMany adds feeds and returns the URLs of all feeds, in order.
func (w *testbed) addMany(t *testing.T, n int) []string {
	t.Helper()
	var urls []string
	for i := range n {
		u := fmt.Sprintf("https://many.example/%d?a=b&c=%d", i, i)
		if _, err := w.Store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(u), URL: u}); err != nil {
			t.Fatal(err)
		}
	}
	feeds, err := w.Store.FindFeeds(t.Context(), storage.FeedQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range feeds {
		urls = append(urls, f.URL)
	}
	return urls
}

func TestFeeds_PagesAreComplete(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	want := w.addMany(t, 21) // 24 in all
	for limit, pages := range map[int]int{1: 24, 5: 5, 8: 3, 24: 1, 25: 1, 500: 1} {
		var got []string
		n, after := 0, ""
		for {
			p := getJSON[wire.FeedPage](t, w, fmt.Sprintf("/api/feeds?limit=%d&after=%s", limit, url.QueryEscape(after)))
			n++
			for _, f := range p.Feeds {
				got = append(got, f.URL)
				if f.URL == feedURL && (f.State == nil || f.State.Error != "no such host") {
					t.Errorf("got state %+v, want the state in the schedule", f.State)
				}
			}
			if after = p.Next; after == "" || n > 100 {
				break
			}
		}
		if !slices.Equal(got, want) || n != pages {
			t.Errorf("by %d: got %d feeds on %d pages, want %d on %d, in order", limit, len(got), n, len(want), pages)
		}
	}
}

func TestSearch_PagesAreComplete(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	batch, indexed := storage.Batch{FeedID: w.feed}, []storage.IndexItem(nil)
	for i := range 38 { // 40 in all, many at the same time and equally good
		it := storage.Item{FeedID: w.feed, Key: fmt.Sprint("many", i), Hash: "h", Title: "Released", Published: now.Add(-time.Duration(i/10) * time.Hour), FirstSeen: now}
		it.ID = storage.ItemID(w.feed, it.Key)
		batch.Items, indexed = append(batch.Items, it), append(indexed, storage.IndexItem{Item: it})
	}
	_, err := w.Store.PutItems(t.Context(), batch)
	if err := errors.Join(err, w.Index.Put(t.Context(), indexed...)); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"q=release", "q=", "q=releasing&sort=newest", "q=released&feed=" + w.feed} {
		for limit, pages := range map[int]int{7: 6, 10: 4, 40: 1, 100: 1} {
			seen := map[string]bool{}
			n, cursor := 0, ""
			for {
				p := getJSON[wire.SearchResults](t, w, fmt.Sprintf("/api/search?%s&limit=%d&cursor=%s", query, limit, url.QueryEscape(cursor)))
				n++
				for _, it := range p.Items {
					if seen[it.ID] {
						t.Errorf("%s: %s comes twice", query, it.ID)
					}
					seen[it.ID] = true
				}
				if p.Total != 40 {
					t.Errorf("%s: got a total of %d, want 40", query, p.Total)
				}
				if cursor = p.Next; cursor == "" || n > 100 {
					break
				}
			}
			if len(seen) != 40 || n != pages {
				t.Errorf("%s by %d: got %d items on %d pages, want 40 on %d", query, limit, len(seen), n, pages)
			}
		}
	}
}

func TestQuarantine_PagesAreComplete(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for seq := uint64(10); seq < 20; seq++ {
		w.Mesh.Tasks[seq] = subjects.Quarantined{Seq: seq}
	}
	for limit, pages := range map[int]int{1: 12, 5: 3, 6: 2, 12: 1} {
		var got []uint64
		n, after := 0, uint64(0)
		for {
			p := getJSON[wire.QuarantinePage](t, w, fmt.Sprintf("/api/quarantine?limit=%d&after=%d", limit, after))
			n++
			for _, q := range p.Tasks {
				got = append(got, q.Seq)
			}
			if after = p.Next; after == 0 || n > 100 {
				break
			}
		}
		if !slices.IsSorted(got) || len(got) != 12 || n != pages {
			t.Errorf("by %d: got %v on %d pages, want 12 in order on %d", limit, got, n, pages)
		}
	}
}

func TestSearch_RejectsCursorOfOtherSearch(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	next := getJSON[wire.SearchResults](t, w, "/api/search?q=released&limit=1").Next
	if next == "" {
		t.Fatal("got no cursor")
	}
	for _, query := range []string{"q=kernel&cursor=" + next, "cursor=" + next, "q=released&sort=newest&cursor=" + next, "q=released&cursor=x" + next, "q=released&cursor=garbage", "cursor=%00"} {
		w.request(t, "GET", "/api/search?"+query, "").isProblem(t, 400, "cursor does not belong to this query")
	}
}

func TestSearch_HighlightsMatches(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	found := getJSON[wire.SearchResults](t, w, "/api/search?q=kernels&facets=true")
	if len(found.Items) != 1 {
		t.Fatalf("got %d items, want 1", len(found.Items))
	}
	it := found.Items[0]
	if it.ID != w.item || it.FeedTitle != "A <b>feed</b>" || it.HTML != "" || it.Score <= 0 {
		t.Errorf("got %+v, want the item, its feed's title and no HTML", it)
	}
	title, marked := "", ""
	for _, s := range it.TitleSpans {
		if title += s.Text; s.Hit {
			marked += s.Text
		}
	}
	if title != "Kernel released" || marked != "Kernel" {
		t.Errorf("got the title %q with %q marked, want Kernel released with Kernel", title, marked)
	}
	if want := []wire.Facet{{Value: w.feed, Label: "A <b>feed</b>", Count: 1}}; !reflect.DeepEqual(found.Facets["feed"], want) {
		t.Errorf("got facets %+v, want %+v", found.Facets["feed"], want)
	}
}

// The index may lag behind the store.
func TestSearch_OmitsRemovedItems(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if _, err := w.Store.RemoveFeed(t.Context(), w.feed); err != nil {
		t.Fatal(err)
	}
	if found := getJSON[wire.SearchResults](t, w, "/api/search?q=released&facets=true"); len(found.Items) != 0 || found.Items == nil {
		t.Errorf("got %+v, want no items, and a list of none", found)
	}
}

func (w *testbed) feeds(t *testing.T) []storage.Feed {
	t.Helper()
	feeds, err := w.Store.FindFeeds(t.Context(), storage.FeedQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range feeds {
		feeds[i].Added, feeds[i].Items, feeds[i].LastItem, feeds[i].Categories, feeds[i].Writes = time.Time{}, 0, time.Time{}, nil, 0
	}
	return feeds
}

func empty(d *setup) { d.Checks = func(context.Context) []wire.Check { return nil } }

func TestExport_ImportRoundTrip(t *testing.T) {
	t.Parallel()
	from := newTestbed(t)
	from.addMany(t, 30)
	a := from.request(t, "GET", "/api/feeds/export", "")
	if got := a.Header.Get("Content-Type"); a.StatusCode != 200 || !strings.HasPrefix(got, "text/x-opml") {
		t.Errorf("got %d %s, want OPML", a.StatusCode, got)
	}
	to := newTestbed(t)
	for _, f := range to.feeds(t) {
		if _, err := to.Store.RemoveFeed(t.Context(), f.ID); err != nil {
			t.Fatal(err)
		}
	}
	to.imported(t, a.body)
	if got, want := to.feeds(t), from.feeds(t); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if again := to.request(t, "GET", "/api/feeds/export", ""); again.body != a.body {
		t.Errorf("exported again: got %s\nwant %s", again.body, a.body)
	}
}

func TestRemoveFeed_NotifiesIndexAndSchedule(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if a := w.request(t, "DELETE", "/api/feeds/"+w.feed, ""); a.StatusCode != 204 || a.body != "" {
		t.Fatalf("got %d %s, want 204", a.StatusCode, a.body)
	}
	index, observe := servicetest.Published(t, w.Mesh, subjects.IndexQueue), servicetest.Published(t, w.Mesh, subjects.ObserveQueue)
	want := []string{storage.ItemID(w.feed, "1"), storage.ItemID(w.feed, "2")}
	slices.Sort(want)
	if len(index) != 1 || !slices.Equal(slices.Sorted(slices.Values(index[0].IDs)), want) {
		t.Errorf("index: got %+v, want its items %v", index, want)
	}
	if len(observe) != 1 || len(observe[0].Observations) != 1 || observe[0].Observations[0].Outcome != subjects.Removed || observe[0].Observations[0].FeedID != w.feed {
		t.Errorf("schedule: got %+v, want it removed", observe)
	}
	w.request(t, "GET", "/api/feeds/"+w.feed, "").isProblem(t, 404, "not found")
	w.request(t, "GET", "/api/items/"+w.item, "").isProblem(t, 404, "not found")
	w.request(t, "DELETE", "/api/feeds/"+w.feed, "").isProblem(t, 404, "not found")
	if got := len(w.Mesh.Published); got != 3 { // its items leave their views too
		t.Errorf("got %d messages, want 3", got)
	}
}

func TestRefresh_NotifiesSchedule(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for range 2 {
		if a := w.request(t, "POST", "/api/feeds/"+w.feed+"/refresh", ""); a.StatusCode != 202 {
			t.Errorf("got %d %s, want 202", a.StatusCode, a.body)
		}
	}
	got := servicetest.Published(t, w.Mesh, subjects.ObserveQueue)
	if len(got) != 2 || got[0].Observations[0].Outcome != subjects.Refresh || got[0].Observations[0].FeedID != w.feed || got[0].ID() == got[1].ID() {
		t.Errorf("got %+v, want two distinct tasks", got)
	}
}

func TestStatus_CountsFeedsByState(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for range 3 {
		s := getJSON[wire.Status](t, w, "/api/status")
		if want := (wire.FeedCounts{Stored: 3, Polled: 2, Failing: 1, Gone: 1, InFlight: 1}); s.Feeds != want || s.Items != 2 || s.Indexed != 2 || s.Version != "test" {
			t.Errorf("got %+v, want feeds %+v and 2 items", s, want)
		}
		if len(s.Queues) != 2 || s.Queues[0].Oldest != 61.5 || len(s.Agents) != 1 || s.Active["schedule"].Agent != "a1" {
			t.Errorf("got %+v, want the mesh as it is", s)
		}
	}
	if w.Mesh.Loads != 1 {
		t.Errorf("all states were read %d times at one moment, want once", w.Mesh.Loads)
	}
}

func TestStatus_UsesCountsOfLease(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.Mesh.Holders[subjects.ScheduleLease(0)] = subjects.Lease{Feeds: &subjects.ScheduleCounts{Polled: 40, Failing: 30, Gone: 20, InFlight: 10}}
	want := wire.FeedCounts{Polled: 40, Failing: 30, Gone: 20, InFlight: 10}
	if got, err := service.CountFeeds(t.Context(), w.Mesh); got != want || err != nil {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	want.Stored = 3
	if got := getJSON[wire.Status](t, w, "/api/status").Feeds; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if w.Mesh.Loads != 0 {
		t.Error("the states of all feeds were read")
	}
}

func TestReadiness_ListsChecks(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	a := w.request(t, "GET", "/readyz", "")
	if want := `{"checks":[{"name":"store","ok":true},{"name":"mesh","ok":true}],"ready":true}`; a.StatusCode != 200 || strings.TrimSpace(a.body) != want || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s, want 200 %s", a.StatusCode, a.body, want)
	}
	w.Checks[1] = wire.Check{Name: "mesh", Detail: "away; start it"}
	a = w.request(t, "GET", "/readyz", "")
	if want := `{"checks":[{"name":"store","ok":true},{"name":"mesh","ok":false,"detail":"away; start it"}],"ready":false}`; a.StatusCode != 503 || strings.TrimSpace(a.body) != want {
		t.Errorf("got %d %s, want 503 %s", a.StatusCode, a.body, want)
	}
}

func TestReadiness_EmptyList(t *testing.T) {
	t.Parallel()
	if a := newTestbed(t, empty).request(t, "GET", "/readyz", ""); strings.TrimSpace(a.body) != `{"checks":[],"ready":true}` {
		t.Errorf("got %s, want an empty list", a.body)
	}
}

func TestMetrics_AreServed(t *testing.T) {
	t.Parallel()
	a := newTestbed(t).request(t, "GET", "/metrics", "")
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain; version=0.0.4") ||
		!strings.Contains(a.body, "# TYPE feedmesh_items_stored_total counter\nfeedmesh_items_stored_total 2\n") {
		t.Errorf("got %d %s %s, want metrics", a.StatusCode, a.Header.Get("Content-Type"), a.body)
	}
}

// disagree changes the items so that the index lacks one, has one outdated and one removed item, and returns
// their IDs in this order.
func (w *testbed) disagree(t *testing.T) []string {
	t.Helper()
	gone := storage.Item{ID: "zzz", FeedID: "gone", Title: "Left over", FirstSeen: now.Add(-72 * time.Hour), Changed: now}
	missing := storage.Item{ID: storage.ItemID(w.feed, "3"), FeedID: w.feed, Key: "3", Hash: "3", FirstSeen: now.Add(-48 * time.Hour)}
	stale := storage.Item{ID: w.item, FeedID: w.feed, Key: "1", Hash: "another", FirstSeen: now}
	_, err := w.Store.PutItems(t.Context(), storage.Batch{FeedID: w.feed, Items: []storage.Item{missing, stale}})
	if err = errors.Join(err, w.Index.Put(t.Context(), storage.IndexItem{Item: gone})); err != nil {
		t.Fatal(err)
	}
	return []string{missing.ID, stale.ID, gone.ID}
}

// reindexed runs a reindex and returns its result and the queued items.
func (w *testbed) reindexed(t *testing.T, path string) (got wire.Reindex, ids []string) {
	t.Helper()
	if a := w.request(t, "POST", path, ""); a.StatusCode != 202 {
		t.Fatalf("got %d %s, want 202", a.StatusCode, a.body)
	}
	for end := time.Now().Add(5 * time.Second); got.State != "done" && time.Now().Before(end); {
		got = getJSON[wire.Reindex](t, w, "/api/reindex")
	}
	for _, task := range servicetest.Published(t, w.Mesh, subjects.IndexQueue) {
		ids = append(ids, task.IDs...)
	}
	return got, ids
}

func TestReindex_QueuesDifferences(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	differ := w.disagree(t)
	if got := getJSON[wire.Reindex](t, w, "/api/reindex"); got.State != "none" {
		t.Errorf("before: got %+v, want none", got)
	}
	got, ids := w.reindexed(t, "/api/reindex")
	want := wire.Reindex{State: "done", Started: now, Ended: now, Total: 3, Compared: 4, Missing: 1, Stale: 1, Surplus: 1, Queued: 3, Waiting: 3}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := []string{differ[1], differ[0], differ[2]}; !slices.Equal(ids, want) {
		t.Errorf("got %v queued, want %v: the newest day first", ids, want)
	}
}

func TestReindex_QueuesAllItemsOnRequest(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.disagree(t)
	got, ids := w.reindexed(t, "/api/reindex?all=true")
	want := wire.Reindex{State: "done", All: true, Started: now, Ended: now, Total: 3, Compared: 4, Missing: 1, Stale: 1, Surplus: 1, Queued: 4, Waiting: 3}
	if got != want || len(ids) != 4 {
		t.Errorf("got %+v and %v queued, want %+v", got, ids, want)
	}
}

func TestReindex_CurrentIndexQueuesNothing(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	got, ids := w.reindexed(t, "/api/reindex")
	if got.State != "done" || got.Compared != 2 || got.Queued != 0 || len(ids) != 0 {
		t.Errorf("got %+v and %v queued, want two compared and nothing queued", got, ids)
	}
}

func TestReindex_ReportsError(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.Mesh.Full = errors.New("the queue is full")
	w.disagree(t)
	if a := w.request(t, "POST", "/api/reindex", ""); a.StatusCode != 202 {
		t.Fatalf("got %d %s, want 202", a.StatusCode, a.body)
	}
	var got wire.Reindex
	for end := time.Now().Add(5 * time.Second); got.State != "failed" && time.Now().Before(end); {
		got = getJSON[wire.Reindex](t, w, "/api/reindex")
	}
	if got.State != "failed" || got.Error != "the queue is full" || got.Queued != 0 {
		t.Errorf("got %+v, want it failed with a reason", got)
	}
}
