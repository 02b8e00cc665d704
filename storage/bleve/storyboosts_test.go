package bleve_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
)

// itemsOfSources returns items with the word "word" of a story that the given number of publishers carry.
func itemsOfSources(sources int, story string, ids ...string) []storage.IndexItem {
	items := word(ids...)
	for i := range items {
		items[i].StoryID, items[i].Sources = story, sources
	}
	return items
}

// scores returns the scores of the items with the word "word", by ID.
func scores(t *testing.T, x *bleve.Index) map[string]float64 {
	t.Helper()
	results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}, Limit: storage.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	scores := make(map[string]float64)
	for _, hit := range results.Hits {
		scores[hit.ID] = hit.Score
	}
	return scores
}

func putItems(t *testing.T, x *bleve.Index, items ...storage.IndexItem) {
	t.Helper()
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
}

func TestPut_GrowingStoryRaisesAllItsItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	defer func() { x.Close() }()
	putItems(t, x, itemsOfSources(1, "s", "a", "b")...)
	putItems(t, x, itemsOfSources(1, "s", "c")...)
	putItems(t, x, itemsOfSources(1, "other", "d")...)
	before := scores(t, x)
	putItems(t, x, itemsOfSources(16, "s", "c")...)
	after := scores(t, x)
	for _, id := range []string{"a", "b", "c"} {
		if after[id] <= before[id] || after[id] != after["c"] {
			t.Errorf("%s: got score %v, %v before 16 publishers carried the story; want a higher score, equal to c, %v", id, after[id], before[id], after["c"])
		}
	}
	if after["d"] != before["d"] {
		t.Errorf("d: got score %v, %v before the other story grew", after["d"], before["d"])
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, path)
	if repeated := scores(t, x); fmt.Sprint(repeated) != fmt.Sprint(after) {
		t.Errorf("the scores are %v when it is opened again, want %v", repeated, after)
	}
	putItems(t, x, itemsOfSources(1, "s", "a")...)
	if fallen := scores(t, x); fmt.Sprint(fallen) != fmt.Sprint(before) {
		t.Errorf("got scores %v after coverage fell to one, want %v", fallen, before)
	}
}

func TestCount_ExcludesDocumentsOfStories(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	putItems(t, x, itemsOfSources(16, "s", "a")...)
	putItems(t, x, itemsOfSources(8, "another", "b")...)
	if n, err := x.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("there are %d items, %v, want 2", n, err)
	}
	for _, text := range []string{"", "-missing", "lang:en OR -lang:en"} {
		where, err := query.Parse(text, noon)
		if err != nil {
			t.Fatal(err)
		}
		q := storage.Query{Where: where, Facets: true, Duplicates: true, Muted: true}
		results, err := x.Search(t.Context(), q)
		if err != nil || results.Total != 2 {
			t.Errorf("%q finds %d, %v, want 2", text, results.Total, err)
		}
	}
	days, err := x.Days(t.Context())
	if err != nil || len(days) != 1 || days[storage.Day(seen)] != 2 {
		t.Errorf("got days %v, %v, want one with 2 items", days, err)
	}
}

func TestOpen_RemovesStoriesWithoutItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	putItems(t, x, itemsOfSources(16, "s", "a")...)
	putItems(t, x, itemsOfSources(16, "another", "b")...)
	if err := x.Delete(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	putItems(t, x, itemsOfSources(16, "another", "b")...)
	raised := scores(t, x)
	for range 2 { // the first removes them in the background, and Close waits for it
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		x = open(t, path)
	}
	defer x.Close()
	if got := x.StoriesWithSteps(); !slices.Equal(got, []string{"another"}) {
		t.Errorf("got boosts of %v, want only the other story", got)
	}
	if got := scores(t, x)["b"]; got != raised["b"] {
		t.Errorf("b scores %v, want %v as before", got, raised["b"])
	}
}

func TestPut_UnchangedItemIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	defer x.Close()
	items := itemsOfSources(4, "s", "a", "b")
	putItems(t, x, items...)
	before := segments(path)
	putItems(t, x, items...)
	if after := segments(path); !slices.Equal(after, before) {
		t.Errorf("the files are %v, %v before", after, before)
	}
	items[0].Title = "another word"
	putItems(t, x, items...)
	if after := segments(path); slices.Equal(after, before) {
		t.Error("an item that changed is not written")
	}
}

func TestPut_UncachedUnchangedItemIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	defer func() { x.Close() }()
	items := itemsOfSources(4, "s", "a", "b", "c")
	for i := range items {
		items[i].Changed = seen.Add(time.Hour)
	}
	putItems(t, x, items...)
	if err := x.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, path) // with an empty fingerprint cache
	before := segments(path)
	putItems(t, x, items[0], items[2])
	if after := segments(path); !slices.Equal(after, before) {
		t.Errorf("the files are %v, %v before", after, before)
	}
	putItems(t, x, items[1]) // no longer in the index
	raised := scores(t, x)
	items[0].Changed, items[0].Author = seen.Add(2*time.Hour), "another"
	items[2].Sources = 16
	putItems(t, x, items[0], items[2])
	if got := scores(t, x); len(got) != 3 || got["c"] <= raised["c"] {
		t.Errorf("got scores %v, %v before coverage grew; want three higher scores", got, raised)
	}
	where := query.Text{Words: "another", In: query.Author}
	if results, err := x.Search(t.Context(), storage.Query{Where: where}); err != nil || results.Total != 1 {
		t.Errorf("author search: got %d items, %v; want one", results.Total, err)
	}
}

func TestPut_ConcurrentWithDelete(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	done := make(chan error)
	for n := range 4 {
		go func() {
			var err error
			for i := range 25 {
				items := itemsOfSources(1+(i+n)%3, "s", "a", "b")
				items[0].Author = fmt.Sprint((i + n) % 2)
				if err == nil && n%2 == 0 {
					err = x.Put(t.Context(), items...)
				} else if err == nil {
					err = x.Delete(t.Context(), "a", "b")
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for author := range 2 { // one of them may match the last version
		items := itemsOfSources(1, "s", "a", "b")
		items[0].Author = fmt.Sprint(author)
		putItems(t, x, items...)
		where := query.Text{Words: fmt.Sprint(author), In: query.Author}
		results, err := x.Search(t.Context(), storage.Query{Where: where})
		if err != nil || results.Total != 1 || len(found(t, x)) != 2 {
			t.Errorf("author search: got %d items, and %v, %v; want one, and both", results.Total, found(t, x), err)
		}
	}
}

// Segments that contain only documents of stories are read and merged like others.
func TestMerge_SegmentsWithoutItems(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	const stories, each = 2000, 20
	var items []storage.IndexItem
	for i := range stories {
		items = append(items, itemsOfSources(1, fmt.Sprint(i), fmt.Sprint("item", i))...)
	}
	putItems(t, x, items...)
	for i := range items {
		items[i].Sources = 16
	}
	for some := range slices.Chunk(items, each) {
		putItems(t, x, some...)
	}
	awaitMerged(t, x, stories/each/2)
	for some := range slices.Chunk(items, each) {
		some[0].Sources = 1
		putItems(t, x, some[0])
	}
	awaitMerged(t, x, stories/each/2)
	if got, want := len(x.StoriesWithSteps()), stories-stories/each; got != want {
		t.Errorf("got %d stories, want %d", got, want)
	}
}
