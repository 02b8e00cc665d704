package bleve_test

import (
	"path/filepath"
	"testing"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

func TestResultCache_ReturnsCopies(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	put(t, x, "a", "b")
	q := storage.Query{Where: query.Text{Words: "word"}, Facets: true}
	for range 3 {
		results, err := x.Search(t.Context(), q)
		if err != nil || len(results.Hits) != 2 || results.Hits[0].ID != "a" || results.Facets["day"][0].Count != 2 {
			t.Fatalf("found %+v, %v, want a and b, of one day", results, err)
		}
		results.Hits[0].ID, results.Facets["day"][0].Count = "changed", 0
		clear(results.Facets)
	}
}

func TestResultCache_IsInvalidatedByChanges(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	want := func(want int64) {
		t.Helper()
		for range 2 {
			results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}})
			if err != nil || results.Total != want {
				t.Errorf("found %d, %v, want %d", results.Total, err, want)
			}
		}
	}
	want(0)
	put(t, x, "a")
	want(1)
	put(t, x, "b", "c")
	want(3)
	if err := x.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	want(2)
}

func TestSearch_EmptyIndex(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	results, err := x.Search(t.Context(), storage.Query{Facets: true})
	if err != nil || results.Total != 0 || len(results.Facets) != len(storage.FacetNames) {
		t.Errorf("found %+v, %v, want nothing, with facets", results, err)
	}
	if hits, err := x.Similar(t.Context(), word("a")[0], 10); err != nil || len(hits) > 0 {
		t.Errorf("like an item are %v, %v, want none", hits, err)
	}
	if words, err := x.Suggest(t.Context(), "w", 10); err != nil || len(words) > 0 {
		t.Errorf("suggestions are %v, %v, want none", words, err)
	}
}
