package eval

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"feedmesh/classify/near"
	"feedmesh/tests/corpus"
)

func read(t testing.TB, names ...string) []Item {
	t.Helper()
	folder := corpus.Folder(t, names[:len(names)-1]...)
	items, err := Read(bytes.NewReader(corpus.Bytes(t, filepath.Join(folder, names[len(names)-1]))))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// report prints the misclassified pairs of the train half. Pairs of the test half are not printed.
func report(t *testing.T, wrong [][2]Item) {
	s := near.Default()
	for _, w := range wrong {
		l := s.Compare(s.Sketch(w[0].Title, w[0].Text), s.Sketch(w[1].Title, w[1].Text), w[0].Feed == w[1].Feed)
		t.Logf("%s %q, %s %q: %+v", w[0].Relation, w[0].Title, w[1].Relation, w[1].Title, l)
	}
}

// Constructed copies, with and without titles: without, a teaser must match by containment in the text.
func TestPlaceCopies_Constructed(t *testing.T) {
	items := read(t, "neardup", "constructed.jsonl.gz")
	_, wrong := PlaceCopies(items, near.Default(), false)
	report(t, wrong)
	untitled := slices.Clone(items)
	for i := range items {
		untitled[i].Title = ""
	}
	for _, variant := range []struct {
		name  string
		items []Item
		least float64
	}{{"as they are", items, 0.97}, {"without titles", untitled, 0.95}} {
		c, _ := PlaceCopies(variant.items, near.Default(), true)
		t.Logf("%s: recall %.4f of %d, false %d of %d; %v", variant.name, c.Recall, c.Copies, c.False, c.Pairs, c.Relations)
		if c.Recall < variant.least || c.FalseRate > MaxFalse {
			t.Errorf("%s: want a recall of at least %.2f at %.2f %% false", variant.name, variant.least, 100*MaxFalse)
		}
		if c.Relations["teaser"] < 0.97 {
			t.Errorf("%s: %.3f of the teasers are found, want 0.97", variant.name, c.Relations["teaser"])
		}
	}
	var b strings.Builder
	placed, _ := PlaceCopies(items, near.Default(), true)
	PrintCopies(&b, append(CompareCopies(items, Methods(near.Default())), placed))
	t.Log("\n" + b.String())
}

func TestPlaceCopies_OnePostInTwoFeeds(t *testing.T) {
	items := read(t, "neardup", "same-post-two-feeds.jsonl.gz")
	// The set labels groups by the address without its query, which merges all videos of a site.
	videos := slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.Watch })
	for _, variant := range []struct {
		name  string
		items []Item
		least float64
	}{{"as they are", items, 0}, {"without the videos", videos, 0.97}} {
		for _, test := range []bool{false, true} {
			c, _ := PlaceCopies(variant.items, near.Default(), test)
			t.Logf("%s, test half %v: recall %.4f of %d, false %d of %d", variant.name, test, c.Recall, c.Copies, c.False, c.Pairs)
			if c.Recall < variant.least || c.FalseRate > MaxFalse {
				t.Errorf("%s, test half %v: want a recall of at least %.2f at %.2f %% false", variant.name, test, variant.least, 100*MaxFalse)
			}
		}
	}
}

// Titles alone. Our recall must exceed that of every source at no higher false rate.
func TestCompareTitles_EditedTitles(t *testing.T) {
	if testing.Short() {
		t.Skip("compares a million pairs of titles")
	}
	all := CompareTitles(read(t, "stories", "uci-headlines.jsonl.gz"), Methods(near.Default()))
	var b strings.Builder
	PrintTitles(&b, all)
	t.Log("\n" + b.String())
	ours := all[0]
	if ours.Recall < 0.97 || ours.FalseRate > MaxFalse || ours.Apart < 0.92 {
		t.Errorf("recall %.4f, %.2f %% false, %.3f of other numbers apart; want 0.97, %.2f %%, 0.92", ours.Recall, 100*ours.FalseRate, ours.Apart, 100*MaxFalse)
	}
	for _, other := range all[1:] {
		if other.Recall >= ours.Recall && other.FalseRate <= ours.FalseRate {
			t.Errorf("%s has a recall of %.4f at %.2f %% false, not worse than ours", other.Method, other.Recall, 100*other.FalseRate)
		}
	}
}

func TestPlaceCopies_TenCopiesInAThousandArticles(t *testing.T) {
	items := read(t, "neardup", "articles-minhash.jsonl.gz")
	for i := range items {
		items[i].Title, items[i].Test = "", true
	}
	c, _ := PlaceCopies(items, near.Default(), true)
	t.Logf("%+v", c)
	if c.Recall < 1 {
		t.Errorf("%d of %d copies are found, want all", c.Found, c.Copies)
	}
}

// TestPlaceReposts requires that further posts of an address are found by their titles.
func TestPlaceReposts(t *testing.T) {
	for _, r := range PlaceReposts(read(t, "stories", "same-url-titles.jsonl.gz"), near.Default()) {
		t.Logf("%s: recall %.3f of %d, %d false; under another title %.3f of %d", r.Half, r.Recall, r.Items, r.False, r.RetitledShare, r.Retitled)
		if r.Half == "test" && (r.Recall < 0.75 || r.False > 5) {
			t.Errorf("got recall %.3f and %d false, want 0.75 and 5", r.Recall, r.False)
		}
	}
}
