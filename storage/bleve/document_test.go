package bleve_test

import (
	"path/filepath"
	"slices"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/indextest"
)

func TestPut_AllSegmentsHaveEqualFields(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	full := indextest.NewItemGenerator(1).Items(1)[0]
	full.Flags, full.StoryID, full.Sources = []string{storage.FlagMuted}, "story", 1
	storyDoc := full
	storyDoc.Sources = 16 // only the document of its story is written again
	for _, item := range []storage.IndexItem{full, storyDoc, word("a")[0], {Item: storage.Item{ID: "empty"}}} {
		if err := x.Put(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	parts := x.FieldsOfParts()
	for _, fields := range parts {
		if !slices.Equal(fields, parts[0]) || len(fields) < 20 {
			t.Errorf("a part has the fields %v, another %v; want all there are in both, or merging takes longer", fields, parts[0])
		}
	}
	if got := x.StoriesWithSteps(); !slices.Equal(got, []string{"story"}) {
		t.Errorf("got boosts of %v, want the story", got)
	}
}

func TestFingerprint_DependsOnTheFields(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	item := word("a")[0]
	item.Topics = []string{"bees", "flag"}
	put := func() {
		t.Helper()
		if err := x.Put(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	put()
	item.Topics, item.Flags = []string{"bees"}, []string{"flag"}
	put()
	results, err := x.Search(t.Context(), storage.Query{Facets: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := results.Facets["topic"]; len(got) != 1 || got[0].Value != "bees" {
		t.Errorf("got the topics %v, want those it was put with last", got)
	}
}
