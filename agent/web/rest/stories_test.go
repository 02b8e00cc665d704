package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// newsOf returns an item of the testbed's feed, as the cluster actor placed it: of an
// event that began with another item, in the story that began with a third one.
func (w *testbed) newsOf(key, host, title string, minutes int, event, story string) storage.Item {
	i := storage.Item{
		FeedID: w.feed, Key: key, Hash: key, Title: title, Language: "en", Partition: "en", StoryReason: "nothing like it was there",
		URL: "https://" + host + "/" + key, Excerpt: "It was said at " + host + " that the kernel has a new scheduler for many cores.",
		FirstSeen: now.Add(time.Duration(minutes) * time.Minute), Published: now.Add(time.Duration(minutes) * time.Minute),
		Categories: []string{"operating-systems"}, Topics: []string{"linux"},
	}
	i.ID = storage.ItemID(w.feed, key)
	i.EventID = w.eventOf(event)
	i.StoryID = w.storyOf(story)
	return i
}

func (w *testbed) itemOf(key string) string { return storage.ItemID(w.feed, key) }

// eventOf and storyOf return the IDs of what began with an item.
func (w *testbed) eventOf(key string) string { return storage.EventID(w.itemOf(key)) }
func (w *testbed) storyOf(key string) string { return storage.StoryID(w.eventOf(key)) }

// put stores items and summarizes their stories.
func (w *testbed) put(t *testing.T, items ...storage.Item) {
	t.Helper()
	if _, err := w.Store.PutItems(t.Context(), storage.Batch{FeedID: w.feed, Items: items}); err != nil {
		t.Fatal(err)
	}
	marks, err := w.Store.DirtyStories(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var told []storage.Story
	seen := map[string]bool{}
	for _, m := range marks {
		if seen[m.StoryID] {
			continue
		}
		seen[m.StoryID] = true
		of, err := storage.ItemsOfStory(t.Context(), w.Store, m.StoryID, placement.MaxItems)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := placement.Summarize(m.StoryID, of, func(string) float64 { return 1 }, false, now); ok {
			told = append(told, s)
		}
	}
	if err := w.Store.PutStories(t.Context(), storage.Fence{}, marks, told, nil); err != nil {
		t.Fatal(err)
	}
}

// kernel puts a story of two events: k1, which k2 repeats, and k3; and k4 a day
// later. k5 is alone, and r1 is Russian.
func (w *testbed) kernel(t *testing.T) {
	t.Helper()
	k := []storage.Item{
		w.newsOf("k1", "lwn.example", "Kernel 7.1 released", 0, "k1", "k1"),
		w.newsOf("k2", "www.b.example", "Kernel 7.1 released - B", 5, "k1", "k1"),
		w.newsOf("k3", "c.example", "What is new in Linux 7.1", 60, "k1", "k1"),
		w.newsOf("k4", "c.example", "A hole in Linux 7.1", 24*60, "k4", "k1"),
		w.newsOf("k5", "d.example", "Another kernel", 10, "k5", "k5"),
		w.newsOf("r1", "e.example", "Ядро 7.1", 10, "r1", "r1"),
	}
	k[1].DuplicateOf, k[1].DuplicateBy, k[1].DuplicateScore, k[1].DuplicateReason = k[0].ID, "title", 0.97, "almost the same title; 97 % of 4-grams"
	k[4].Topics = nil
	k[5].Partition, k[5].Language = "ru", "ru"
	w.put(t, k...)
}

func TestStories_PublishersAndActivity(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	page := getJSON[wire.StoryPage](t, w, "/api/stories")
	if len(page.Stories) != 1 || page.Next != "" {
		t.Fatalf("got %+v, want the only story of several publishers", page)
	}
	s := page.Stories[0]
	if s.ID != w.storyOf("k1") || s.Story.Items != 4 || s.Events != 2 || s.Sources != 3 || s.FeedTitle != "A <b>feed</b>" || s.FeedID != w.feed {
		t.Errorf("got %+v, want the story of 4 items, 2 events and 3 publishers", s)
	}
	headline, err := storage.ItemByID(t.Context(), w.Store, s.Headline)
	if err != nil || s.URL != headline.URL || s.Title != headline.Title || s.Publishers[0] != placement.Publisher(headline) {
		t.Errorf("got %q at %s of %v; want those of the headline's item, %+v, %v", s.Title, s.URL, s.Publishers, headline, err)
	}
	if s.Why != "nothing like it was there" {
		t.Errorf("got %q, want the reason of an item", s.Why)
	}
	if got := slices.Sorted(slices.Values(s.Publishers)); !slices.Equal(got, []string{"b.example", "c.example", "lwn.example"}) {
		t.Errorf("got publishers %q, want each once", s.Publishers)
	}
	if a := s.Activity; !a.Since.Equal(now.Truncate(time.Hour)) || len(a.Hours) != 25 || a.Hours[0] != 2 || a.Hours[1] != 1 || a.Hours[24] != 1 {
		t.Errorf("got %+v, want two items, one an hour later, and one a day later", a)
	}
}

func TestStories_FiltersAndPages(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	var more []storage.Item
	for i := range 7 {
		key := fmt.Sprint("m", i)
		more = append(more, w.newsOf(key, "a.example", "More "+key, i, key, key), w.newsOf(key+"'", "b.example", "More "+key, i, key, key))
	}
	w.put(t, more...)
	for query, want := range map[string]int{
		"": 8, "language=en": 8, "language=ru": 0, "sources=3": 1, "sources=4": 0, "topic=linux": 8, "topic=bsd": 0,
		"category=operating-systems&sources=3": 1, "category=languages": 0,
		"after=" + now.Add(time.Hour).Format(time.RFC3339): 1, "before=" + now.Format(time.RFC3339): 0,
	} {
		if got := len(getJSON[wire.StoryPage](t, w, "/api/stories?"+query).Stories); got != want {
			t.Errorf("%s: got %d stories, want %d", query, got, want)
		}
	}
	for _, sort := range []string{"rank", "newest", "longest"} {
		got, pages := []string{}, 0
		for cursor := ""; pages < 10; {
			p := getJSON[wire.StoryPage](t, w, "/api/stories?limit=3&sort="+sort+"&cursor="+url.QueryEscape(cursor))
			pages++
			for _, s := range p.Stories {
				got = append(got, s.ID)
			}
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		if slices.Sort(got); pages != 3 || len(slices.Compact(got)) != 8 {
			t.Errorf("%s: got %d stories on %d pages, want 8 different ones on 3", sort, len(got), pages)
		}
	}
}

func TestStory_EventsAndDuplicates(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	s := getJSON[wire.StoryView](t, w, "/api/stories/"+w.storyOf("k1"))
	if s.Story.Items != 4 || s.Sources != 3 || s.Partition != "en" || s.Notes != nil || s.Pending {
		t.Errorf("got %+v, want its summary", s)
	}
	if len(s.Timeline) != 2 || s.Timeline[0].ID != w.eventOf("k1") || s.Timeline[1].ID != w.eventOf("k4") || !s.Timeline[0].LastSeen.Equal(now.Add(time.Hour)) {
		t.Fatalf("got %+v, want both events, earliest first", s.Timeline)
	}
	first := s.Timeline[0].Items
	if len(first) != 2 || first[0].ID != w.itemOf("k1") || first[1].ID != w.itemOf("k3") || len(first[0].Duplicates) != 1 {
		t.Fatalf("got %+v, want k1 with what repeats it, and k3", first)
	}
	if d := first[0].Duplicates[0]; d.ID != w.itemOf("k2") || d.DuplicateBy != "title" || d.DuplicateScore != 0.97 || !strings.Contains(d.DuplicateWhy, "97 %") || d.Publisher != "b.example" || d.FeedTitle == "" {
		t.Errorf("got %+v, want k2, and why it repeats k1", d)
	}
	if len(s.Summary) == 0 || s.Summary[0].Item.ID != s.Headline || s.Summary[0].Item.URL == "" {
		t.Errorf("got %+v, want sentences with their items, the headline's first", s.Summary)
	}
	if !reflect.DeepEqual(s.Publishers, []wire.Publisher{{Name: "c.example", Items: 2}, {Name: "b.example", Items: 1}, {Name: "lwn.example", Items: 1}}) {
		t.Errorf("got %+v, want its publishers by items", s.Publishers)
	}
	alone := getJSON[wire.StoryView](t, w, "/api/stories/"+w.storyOf("k5"))
	if alone.Story.Items != 1 || alone.Title != "Another kernel" || alone.Headline != w.itemOf("k5") || len(alone.Timeline) != 1 || alone.Summary == nil {
		t.Errorf("got %+v, want a story of one item to be looked at by its ID", alone)
	}
	w.request(t, "GET", "/api/stories/none", "").isProblem(t, 404, "story none")
}

func TestStory_DuplicateInOtherEvent(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	k7 := w.newsOf("k7", "g.example", "Kernel 7.1 released", 25*60, "k4", "k1")
	k7.DuplicateOf, k7.DuplicateBy = w.itemOf("k1"), "hand"
	spam := w.newsOf("k8", "h.example", "Buy kernels", 26*60, "k4", "k1")
	spam.Spam = true
	w.put(t, k7, spam)
	s := getJSON[wire.StoryView](t, w, "/api/stories/"+w.storyOf("k1"))
	if first, second := s.Timeline[0].Items, s.Timeline[1].Items; len(first[0].Duplicates) != 1 || len(second) != 3 || second[2].ID != k7.ID || second[2].DuplicateOf != w.itemOf("k1") {
		t.Errorf("got %+v and %+v, want k7 below the items of its own event", first, second)
	}
	if s.Sources != 4 || len(s.Publishers) != 4 {
		t.Errorf("got %d publishers, %+v, want them without that of spam", s.Sources, s.Publishers)
	}
	if listed := getJSON[wire.StoryPage](t, w, "/api/stories").Stories[0].Publishers; len(listed) != 4 || slices.Contains(listed, "h.example") {
		t.Errorf("got %q in the list, want them without that of spam", listed)
	}
}

// Stories are summarized every two seconds; until then a request summarizes the current items.
func TestStory_SummarizedFromCurrentItems(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	old, err := storage.StoryByID(t.Context(), w.Store, w.storyOf("k1"))
	if err != nil {
		t.Fatal(err)
	}
	old.Rank = 42 // by what feeds count
	if err := w.Store.PutStories(t.Context(), storage.Fence{}, nil, []storage.Story{old}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Rearrange(t.Context(), storage.Rearrangement{Events: []storage.EventMove{{EventID: w.eventOf("k4"), StoryID: w.storyOf("k4")}}}); err != nil {
		t.Fatal(err)
	}
	if s := getJSON[wire.StoryView](t, w, "/api/stories/"+w.storyOf("k1")); s.Story.Items != 3 || s.Events != 1 || !s.LastSeen.Equal(now.Add(time.Hour)) || s.Rank != 42 {
		t.Errorf("got %+v, want three items and the stored rank", s.Story)
	}
}

func TestStory_ItemLimit(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	var items []storage.Item
	for i := range placement.MaxItems + 5 {
		items = append(items, w.newsOf(fmt.Sprint("h", i), fmt.Sprintf("h%d.example", i%50), "Huge", i/10, "h0", "h0"))
		if i > 0 {
			items[i].DuplicateOf = items[0].ID // which is not among the newest
		}
	}
	w.put(t, items...)
	s := getJSON[wire.StoryView](t, w, "/api/stories/"+w.storyOf("h0"))
	if n := len(s.Timeline[0].Items); n != placement.MaxItems || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "1005 items; these are the 1000 newest") {
		t.Errorf("got %d items and notes %q, want the newest thousand and a note on the rest", n, s.Notes)
	}
}

func TestBursts_HaveTitles(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	if b := getJSON[wire.Bursts](t, w, "/api/bursts"); b.Total != 0 || b.Bursts == nil {
		t.Errorf("got %+v, want a list of none", b)
	}
	note, _ := json.Marshal([]placement.Burst{{Of: "category", Name: "linux", Since: now, Items: 3}, {Of: "story", Name: w.storyOf("k1"), Since: now, Items: 4}, {Of: "story", Name: "gone", Since: now, Items: 1}})
	if err := storage.Notes(w.Store).Put(t.Context(), storage.Fence{}, placement.BurstsNote, note); err != nil {
		t.Fatal(err)
	}
	told, _ := storage.StoryByID(t.Context(), w.Store, w.storyOf("k1"))
	b := getJSON[wire.Bursts](t, w, "/api/bursts?limit=2")
	if b.Total != 3 || len(b.Bursts) != 2 || b.Bursts[0].Title != told.Title || b.Bursts[0].Items != 4 || b.Bursts[1].Name != "linux" {
		t.Errorf("got %+v, want the two with most items, and the story's title", b)
	}
	if b = getJSON[wire.Bursts](t, w, "/api/bursts?of=category"); b.Total != 1 || b.Bursts[0].Of != "category" {
		t.Errorf("got %+v, want the category alone", b)
	}
}

func TestSearch_StoryCoverage(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	for _, key := range []string{"k3", "k5"} {
		item, err := storage.ItemByID(t.Context(), w.Store, w.itemOf(key))
		if err == nil {
			err = w.Index.Put(t.Context(), storage.IndexItem{Item: item})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	told := map[string]*wire.StoryCoverage{}
	for _, item := range getJSON[wire.SearchResults](t, w, "/api/search").Items {
		told[item.ID] = item.Coverage
	}
	if got := told[w.itemOf("k3")]; got == nil || *got != (wire.StoryCoverage{Items: 4, Sources: 3}) || told[w.itemOf("k5")] != nil || told[w.item] != nil {
		t.Errorf("got %+v of k3 and %+v of k5; want 4 items of 3 publishers, and no coverage of a single item", got, told[w.itemOf("k5")])
	}
}

func TestStories_LanguagesEqualPartitions(t *testing.T) {
	field, _ := reflect.TypeFor[wire.StorySearch]().FieldByName("Language")
	if got := strings.Split(field.Tag.Get("enum"), ","); !slices.Equal(got, subjects.Languages) {
		t.Errorf("got %q, want %q", got, subjects.Languages)
	}
}

func (w *testbed) hands(t *testing.T) (hands []subjects.Override) {
	t.Helper()
	for _, task := range servicetest.Published(t, w.Mesh, subjects.ClusterQueue) {
		hands = append(hands, *task.Override)
	}
	return hands
}

// act applies manual edits immediately, in the store only, in place of the cluster actor. storiesmesh_test.go
// tests the cluster actor.
func (w *testbed) act(t *testing.T, do func(subjects.Override) storage.Rearrangement) {
	w.Mesh.OnCluster = func(m subjects.Message) {
		task, err := subjects.ClusterQueue.Decode(m.Data)
		if err != nil || task.Override == nil {
			t.Errorf("got %s, %v; want a manual edit", m.Data, err)
			return
		}
		if _, err := w.Store.Rearrange(context.Background(), do(*task.Override)); err != nil {
			t.Error(err)
		}
	}
}
