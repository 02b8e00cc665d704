package rest

import (
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func ids(items []wire.ItemBrief) (list []string) {
	for _, i := range items {
		list = append(list, i.ID)
	}
	return list
}

func TestDuplicates_OfOriginalOrDuplicate(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	for _, key := range []string{"k1", "k2"} {
		d := getJSON[wire.Duplicates](t, w, "/api/items/"+w.itemOf(key)+"/duplicates")
		if d.First.ID != w.itemOf("k1") || !slices.Equal(ids(d.Items), []string{w.itemOf("k2")}) || d.Items[0].DuplicateWhy == "" || d.Items[0].DuplicateScore != 0.97 {
			t.Errorf("%s: got %+v, want k1, and why k2 repeats it", key, d)
		}
	}
	if d := getJSON[wire.Duplicates](t, w, "/api/items/"+w.itemOf("k5")+"/duplicates"); d.First.ID != w.itemOf("k5") || d.Items == nil || len(d.Items) != 0 {
		t.Errorf("got %+v, want k5 and a list of none", d)
	}
	w.request(t, "GET", "/api/items/none/duplicates", "").isProblem(t, 404, "item none")
}

func TestDuplicates_Limit(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	var items []storage.Item
	for i := range service.MaxDuplicates + 2 {
		items = append(items, w.newsOf(strings.Repeat("d", i+1), "a.example", "Same", i, "d", "d"))
		if i > 0 {
			items[i].DuplicateOf, items[i].DuplicateBy = items[0].ID, "text"
		}
	}
	w.put(t, items...)
	d := getJSON[wire.Duplicates](t, w, "/api/items/"+items[0].ID+"/duplicates")
	if len(d.Items) != service.MaxDuplicates || d.Items[0].ID != items[1].ID || len(d.Notes) != 1 {
		t.Errorf("got %d items and notes %q, want the first %d and a note on the rest", len(d.Items), d.Notes, service.MaxDuplicates)
	}
}

func TestRelated_OrderByPublisher(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.put(t, w.newsOf("k6", "www.lwn.example", "More on it", 30*60, "k4", "k1"))
	r := getJSON[wire.Related](t, w, "/api/items/"+w.itemOf("k1")+"/related")
	want := []string{w.itemOf("k4"), w.itemOf("k6"), w.itemOf("k3")}
	if got := ids(r.Items); !slices.Equal(got, want) || r.Story.ID != w.storyOf("k1") || r.Story.Items != 5 {
		t.Errorf("got %v of %+v, want the newest of c, then those of its own publisher and of c again, without k2: %v", got, r.Story, want)
	}
	if r = getJSON[wire.Related](t, w, "/api/items/"+w.itemOf("k1")+"/related?limit=1"); len(r.Items) != 1 {
		t.Errorf("got %d, want one", len(r.Items))
	}
	if r = getJSON[wire.Related](t, w, "/api/items/"+w.item+"/related"); r.Items == nil || len(r.Items) != 0 {
		t.Errorf("got %+v of an item without a story, want none", r)
	}
}

func TestExplain_ComparesItems(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	for _, c := range []struct {
		a, b                 string
		repeat, event, story bool
		by                   string
		words                []string
	}{
		{"k2", "k1", true, true, true, "title", []string{"The first item repeats the second.", "almost the same title; 97 % of 4-grams", "Compared now, their words make them the same: ", "They are of one event."}},
		{"k1", "k2", true, true, true, "title", []string{"The second item repeats the first."}},
		{"k1", "k3", false, true, true, "", []string{"Neither item is held to repeat the other.", "not enough to make them the same", "They are of one event.", "in its event because: nothing like it was there."}},
		{"k1", "k4", false, false, true, "", []string{"of one story, but of two events"}},
		{"k1", "k5", false, false, false, "", []string{"They are of two stories."}},
	} {
		e := getJSON[wire.Explanation](t, w, "/api/items/"+w.itemOf(c.a)+"/explain?with="+w.itemOf(c.b))
		if e.Item.ID != w.itemOf(c.a) || e.With.ID != w.itemOf(c.b) || e.Repeat != c.repeat || e.SameEvent != c.event || e.SameStory != c.story || e.Similarity.By != c.by {
			t.Errorf("%s with %s: got %+v", c.a, c.b, e)
		}
		for _, words := range c.words {
			if all := strings.Join(e.Sentences, "\n"); !strings.Contains(all, words) {
				t.Errorf("%s with %s: got %s, want %q", c.a, c.b, all, words)
			}
		}
	}
	w.request(t, "GET", "/api/items/"+w.itemOf("k1")+"/explain?with=none", "").isProblem(t, 404, "item none")
	w.request(t, "GET", "/api/items/none/explain?with="+w.itemOf("k1"), "").isProblem(t, 404, "item none")
	w.request(t, "GET", "/api/items/none/explain", "").isProblem(t, 422, "")
}

func TestClick_IsCounted(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	path := "/api/items/" + w.itemOf("k3") + "/clicks"
	for _, content := range []string{`{"count":1}`, `{"count":100}`} {
		if a := w.request(t, "POST", path, content); a.StatusCode != 204 || a.body != "" {
			t.Errorf("%s: got %d %s, want 204", content, a.StatusCode, a.body)
		}
	}
	for _, content := range []string{`{"count":0}`, `{"count":101}`, `{}`} {
		w.request(t, "POST", path, content).isProblem(t, 422, "")
	}
	w.request(t, "POST", "/api/items/none/clicks", `{"count":1}`).isProblem(t, 404, "item none")
	if got := getJSON[wire.StoryView](t, w, "/api/stories/"+w.storyOf("k1")).Clicks; got != 101 {
		t.Errorf("got %d clicks on the story, want 101", got)
	}
}
