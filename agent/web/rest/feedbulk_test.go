package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// changed runs a step of a bulk change and returns its result.
func (w *testbed) changed(t *testing.T, what string) wire.BulkResult {
	t.Helper()
	a := w.request(t, "POST", "/api/feeds/bulk", what)
	var done wire.BulkResult
	if err := json.Unmarshal([]byte(a.body), &done); err != nil || a.StatusCode != 200 {
		t.Fatalf("%s: got %d %s", what, a.StatusCode, a.body)
	}
	return done
}

// observed returns the feeds of the observations with an outcome.
func (w *testbed) observed(t *testing.T, outcome subjects.Outcome) (ids []string) {
	t.Helper()
	for _, task := range servicetest.Published(t, w.Mesh, subjects.ObserveQueue) {
		for _, o := range task.Observations {
			if o.Outcome == outcome {
				ids = append(ids, o.FeedID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *testbed) feedOf(t *testing.T, id string) storage.Feed {
	t.Helper()
	f, err := w.Store.Feed(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBulk_PinAndTag(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	id := w.inAllStates(t)
	for range 2 { // a step is idempotent
		if done := w.changed(t, `{"do":"tag","tags":[" a  b ","made"],"filter":{"class":"http 4xx"}}`); done.Done != 2 || done.Failed != 0 || done.Next != "" {
			t.Errorf("got %+v, want 2 done", done)
		}
	}
	if f := w.feedOf(t, id["404"]); !slices.Equal(f.Tags, []string{"made", "a b"}) {
		t.Errorf("the tags are %q", f.Tags)
	}
	w.changed(t, `{"do":"pin","ids":["`+id["ok"]+`","`+id["404"]+`","none"]}`)
	w.changed(t, `{"do":"untag","tags":["made"],"filter":{"pinned":true}}`)
	if f := w.feedOf(t, id["404"]); !f.Pinned || !slices.Equal(f.Tags, []string{"a b"}) {
		t.Errorf("the feed is %+v, want it pinned, with one tag", f)
	}
	w.changed(t, `{"do":"unpin","filter":{},"all":true}`)
	if f := w.feedOf(t, id["404"]); f.Pinned {
		t.Error("the feed is pinned still")
	}
	if got := len(w.observed(t, subjects.Changed)); got != 8 {
		t.Errorf("the schedule heard of %d changes, want the 8 that were some", got)
	}
}

func TestBulk_RefreshByErrorClass(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	id := w.inAllStates(t)
	if done := w.changed(t, `{"do":"refresh","filter":{"class":"dns"},"dry_run":true}`); done.Found != 1 || len(w.observed(t, subjects.Refresh)) != 0 {
		t.Errorf("got %+v, want one found and nothing done", done)
	}
	w.changed(t, `{"do":"refresh","filter":{"class":"dns"}}`)
	w.changed(t, `{"do":"refresh","filter":{"host":"404.example"}}`)
	want := []string{id["dns"], id["404"]}
	slices.Sort(want)
	if got := w.observed(t, subjects.Refresh); !slices.Equal(got, want) {
		t.Errorf("the schedule was to poll %v, want %v", got, want)
	}
}

func TestBulk_Remove(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.inAllStates(t)
	if done := w.changed(t, `{"do":"remove","filter":{"tag":"made"}}`); done.Done != 6 {
		t.Errorf("got %+v, want 6 removed", done)
	}
	if n, err := w.Store.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || n.Feeds != 3 {
		t.Errorf("there are %d feeds, %v; want the 3 others", n, err)
	}
	if got := len(w.observed(t, subjects.Removed)); got != 6 {
		t.Errorf("the schedule heard of %d, want 6", got)
	}
}

func TestBulk_RejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for what, why := range map[string]string{
		`{"do":"remove","filter":{}}`:                       "set all if all feeds are meant",
		`{"do":"remove"}`:                                   "name feeds by IDs or by a filter",
		`{"do":"pin","ids":["a"],"filter":{"q":"x"}}`:       "one of them",
		`{"do":"tag","ids":["a"]}`:                          "tags are needed",
		`{"do":"pin","ids":["a"],"tags":["x"]}`:             "for nothing else",
		`{"do":"tag","ids":["a"],"tags":[" "]}`:             "is no tag",
		`{"do":"pin","ids":["a"],"filter":{"state":"odd"}}`: "",
	} {
		w.request(t, "POST", "/api/feeds/bulk", what).isProblem(t, 422, why)
	}
	for range service.MaxBulks {
		w.server.Bulk.Slots <- struct{}{}
	}
	w.request(t, "POST", "/api/feeds/bulk", `{"do":"pin","ids":["a"]}`).isProblem(t, 429, "retry when")
	if n, _ := w.Store.CountFeeds(t.Context(), storage.FeedQuery{}); n.Feeds != 3 {
		t.Errorf("there are %d feeds, want all 3", n)
	}
}

func TestBulk_TagLimitLeavesFeedUnchanged(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	list := make([]string, service.MaxTags-1)
	for i := range list {
		list[i] = fmt.Sprintf("t%d", i)
	}
	tags, _ := json.Marshal(list)
	done := w.changed(t, `{"do":"tag","filter":{},"all":true,"tags":`+string(tags)+`}`)
	if done.Done != 2 || done.Failed != 1 || len(done.Reasons) != 1 || done.Reasons[0].ID != w.feed {
		t.Errorf("got %+v, want one failed and why", done)
	}
	if f := w.feedOf(t, w.feed); len(f.Tags) != 2 {
		t.Errorf("the tags are %q", f.Tags)
	}
}
