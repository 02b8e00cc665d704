package bleve_test

import (
	"path/filepath"
	"slices"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/storagetest"
)

func TestAllPartsHaveTheSameFields(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	full := storagetest.NewMaker(1).Items(1)[0]
	full.Flags, full.StoryID, full.Sources = []string{storage.Muted}, "story", 1
	told := full
	told.Sources = 16 // only how its story is told is written again
	for _, item := range []storage.Indexed{full, told, word("a")[0], {Item: storage.Item{ID: "empty"}}} {
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
	if got := x.ToldStories(); !slices.Equal(got, []string{"story"}) {
		t.Errorf("the index remembers how %v are told, want the story", got)
	}
}

func TestTheSameValuesInOtherFieldsAreAnotherDocument(t *testing.T) {
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
