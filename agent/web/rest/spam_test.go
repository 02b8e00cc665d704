package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// correctItem corrects an item and returns it.
func (w *testbed) correctItem(t *testing.T, method, path, content string) wire.ItemView {
	t.Helper()
	a := w.request(t, method, path, content)
	var item wire.ItemView
	if err := json.Unmarshal([]byte(a.body), &item); a.StatusCode != 200 || err != nil {
		t.Fatalf("%s %s: got %d %s, %v", method, path, a.StatusCode, a.body, err)
	}
	return item
}

func TestSpam_SetAndClear(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	path := "/api/items/" + w.item + "/spam"
	if item := w.correctItem(t, "POST", path, ""); !item.Spam || !item.Corrected || item.Reasons[0] != "a person said so: spam" || item.FeedTitle != "A <b>feed</b>" {
		t.Errorf("got %+v, want it spam", item)
	}
	page := getJSON[wire.SpamPage](t, w, "/api/spam")
	if page.Total != 1 || len(page.Items) != 1 || page.Items[0].ID != w.item || page.Items[0].FeedTitle == "" || page.Items[0].HTML != "" || page.Items[0].Judged.IsZero() {
		t.Errorf("got %+v, want the item without its HTML", page)
	}
	for range 2 { // idempotent
		if item := w.correctItem(t, "DELETE", path, ""); item.Spam || !item.Corrected || item.Reasons[0] != "a person said so: not spam" {
			t.Errorf("got %+v, want it not spam", item)
		}
	}
	if page := getJSON[wire.SpamPage](t, w, "/api/spam"); page.Total != 0 || page.Items == nil || len(page.Items) != 0 {
		t.Errorf("got %+v, want a list of none", page)
	}
	index := servicetest.Published(t, w.Mesh, subjects.IndexQueue)
	if len(index) != 3 || index[0].ID() == index[1].ID() || !slices.Equal(index[0].IDs, []string{w.item}) {
		t.Errorf("the index got %+v, want a separate task for each change", index)
	}
	said, err := w.Store.Corrections(t.Context(), storage.Correction{}, 10)
	if err != nil || len(said) != 1 || said[0].Spam == nil || *said[0].Spam || !said[0].At.Equal(now) {
		t.Errorf("got %+v, %v; want a correction to learn from", said, err)
	}
}

func TestSpam_PagesAreComplete(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	var batch storage.Batch
	for i := range 25 {
		key := fmt.Sprintf("spam %d", i)
		batch.Items = append(batch.Items, storage.Item{ID: storage.ItemID(w.feed, key), FeedID: w.feed, Key: key, Hash: "1", Title: key, Spam: true, FirstSeen: now})
	}
	batch.FeedID = w.feed
	if _, err := w.Store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for limit, pages := range map[int]int{1: 25, 10: 3, 25: 1, 100: 1} {
		got, n := map[string]bool{}, 0
		for cursor := ""; ; {
			p := getJSON[wire.SpamPage](t, w, fmt.Sprintf("/api/spam?limit=%d&feed=%s&cursor=%s", limit, w.feed, url.QueryEscape(cursor)))
			n++
			for _, it := range p.Items {
				got[it.ID] = true
			}
			if cursor = p.Next; p.Total != 25 || cursor == "" || n > 100 {
				break
			}
		}
		if len(got) != 25 || n != pages {
			t.Errorf("by %d: got %d items on %d pages, want 25 on %d", limit, len(got), n, pages)
		}
	}
	if p := getJSON[wire.SpamPage](t, w, "/api/spam?feed=other"); p.Total != 0 || len(p.Items) != 0 {
		t.Errorf("got %+v, want none of another feed", p)
	}
	for _, cursor := range []string{"x", "x/y", "2026-01-02T03:04:05Z", "/"} {
		w.request(t, "GET", "/api/spam?cursor="+url.QueryEscape(cursor), "").isProblem(t, 400, "cursor does not belong to this query")
	}
}

func TestCorrection_SetsLabels(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	path := "/api/items/" + w.item + "/labels"
	item := w.correctItem(t, "PUT", path, `{"categories":["hardware","operating-systems"],"topics":["schedulers"],"spam":false}`)
	if !item.Corrected || !slices.Equal(item.Categories, []string{"hardware", "operating-systems"}) || !slices.Equal(item.Topics, []string{"schedulers"}) {
		t.Errorf("got %+v, want the corrected labels", item)
	}
	if item = w.correctItem(t, "PUT", path, `{"topics":[]}`); len(item.Topics) != 0 || len(item.Categories) != 2 {
		t.Errorf("got %+v, want no topics, and the categories left", item)
	}
	if item = w.correctItem(t, "DELETE", path, ""); item.Corrected || len(item.Categories) != 2 {
		t.Errorf("got %+v, want the correction removed", item)
	}
	if n := len(servicetest.Published(t, w.Mesh, subjects.IndexQueue)); n != 3 {
		t.Errorf("the index got %d tasks, want 3", n)
	}
	a := w.request(t, "PUT", path, `{"categories":["Hard Ware","a","a"],"topics":["железо"]}`)
	a.isProblem(t, 422, "the labels are invalid, nothing was changed")
	var p struct {
		Errors []struct{ Location, Message string }
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || len(p.Errors) != 3 || p.Errors[2].Location != "body.topics" {
		t.Errorf("got %s, %v; want all three errors", a.body, err)
	}
	if w.storedItem(t, w.item).Corrected {
		t.Error("what was refused was stored")
	}
}

func TestCorrection_IndexPublishError(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.Mesh.Broken = errors.New("the mesh is unavailable")
	for _, c := range [][3]string{{"POST", "spam", ""}, {"DELETE", "spam", ""}, {"PUT", "labels", "{}"}, {"DELETE", "labels", ""}} {
		w.request(t, c[0], "/api/items/"+w.item+"/"+c[1], c[2]).isProblem(t, 503, "the mesh is unavailable")
	}
}

func TestSpam_ThresholdPerFeed(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, c := range []struct {
		change string
		want   float64
	}{{`{"spam_threshold":0.8}`, 0.8}, {`{"pinned":true}`, 0.8}, {`{"spam_threshold":0}`, 0}} {
		if got := w.set(t, c.change); got.SpamThreshold != c.want || w.stored(t).SpamThreshold != c.want {
			t.Errorf("%s: got %v, want %v", c.change, got.SpamThreshold, c.want)
		}
	}
	w.request(t, "PATCH", "/api/feeds/"+w.feed, `{"spam_threshold":1.5}`).isProblem(t, 422, "")
}
