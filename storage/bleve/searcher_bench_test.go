package bleve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	upstream "github.com/blevesearch/bleve/v2"
	bleveq "github.com/blevesearch/bleve/v2/search/query"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/indextest"
)

// BenchmarkSearcher compares searches over segments with Bleve's own searcher on the same index of 25,000
// generated items: the same words in the same fields, filter, facets and order. Three words are of the text of
// one item, so that they match. "quiet" searches an index at rest; "busy" adds an item before each search.
func BenchmarkSearcher(b *testing.B) {
	x := open(b, filepath.Join(b.TempDir(), "index"))
	defer x.Close()
	made := indextest.NewItemGenerator(1)
	var items []storage.IndexItem
	for range 50 {
		items = made.Items(500)
		if err := x.Put(b.Context(), items...); err != nil {
			b.Fatal(err)
		}
	}
	searched := 0
	for _, busy := range []bool{false, true} {
		for _, words := range []int{1, 3} {
			for _, facets := range []bool{false, true} {
				name := fmt.Sprintf("%s/words=%d/facets=%t", map[bool]string{false: "quiet", true: "busy"}[busy], words, facets)
				texts := func() string {
					if busy {
						if err := x.Put(b.Context(), made.Items(1)...); err != nil {
							b.Fatal(err)
						}
					}
					if words == 1 {
						return made.SearchWord()
					}
					searched++
					text := strings.Fields(items[searched%len(items)].Text)
					return strings.Join(text[searched%100:][:words], " ")
				}
				b.Run(name+"/segments", func(b *testing.B) {
					measureSearcher(b, texts, func(text string) error {
						_, err := x.Search(b.Context(), storage.Query{Where: query.Text{Words: text}, Now: noon, Facets: facets})
						return err
					})
				})
				b.Run(name+"/bleve", func(b *testing.B) {
					measureSearcher(b, texts, func(text string) error {
						_, err := x.Upstream().Search(bleveRequest(text, facets))
						return err
					})
				})
			}
		}
	}
}

// measureSearcher measures searches for texts, whose making is not measured.
func measureSearcher(b *testing.B, texts func() string, search func(text string) error) {
	indextest.MeasureDurations(b, func() (time.Duration, error) {
		text := texts()
		begin := time.Now()
		err := search(text)
		return time.Since(begin), err
	})
}

// bleveRequest returns the request to Bleve for original items with all words of a text, best first.
func bleveRequest(text string, facets bool) *upstream.SearchRequest {
	kind := bleveq.NewTermQuery("item")
	kind.SetField("kind")
	kind.SetBoost(0)
	all := bleveq.NewConjunctionQuery([]bleveq.Query{kind})
	for _, word := range query.QueryWords(text) {
		anywhere := bleveq.NewDisjunctionQuery(nil)
		for field, boost := range map[string]float64{"title": 4, "tags": 2, "author": 1.5, "text": 1} {
			term := bleveq.NewTermQuery(word.Stem)
			term.SetField(field)
			term.SetBoost(boost)
			anywhere.AddQuery(term)
		}
		all.AddQuery(anywhere)
	}
	request := upstream.NewSearchRequestOptions(all, 20, 0, false)
	request.SortBy([]string{"-_score", "-published", "_id"})
	if facets {
		for _, name := range []string{"category", "topic", "feed", "language", "date", "sentiment"} {
			request.AddFacet(name, upstream.NewFacetRequest(name, storage.MaxFacet))
		}
	}
	return request
}

// TestSearcher_BleveFindsTheSameItems keeps the benchmark honest: both searchers find as many items.
func TestSearcher_BleveFindsTheSameItems(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	made := indextest.NewItemGenerator(1)
	if err := x.Put(t.Context(), made.Items(500)...); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for range 50 {
		text := made.SearchWord()
		ours, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: text}})
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := x.Upstream().Search(bleveRequest(text, false))
		if err != nil {
			t.Fatal(err)
		}
		if ours.Fuzzy {
			ours.Total = 0
		}
		if uint64(ours.Total) != theirs.Total {
			t.Errorf("%q: got %d items, Bleve finds %d", text, ours.Total, theirs.Total)
		}
		compared += int(theirs.Total)
	}
	if compared == 0 {
		t.Error("got no item for any word, want a comparison")
	}
}
