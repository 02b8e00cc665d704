package meilisearch

import (
	"fmt"
	"testing"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/indextest"
)

// BenchmarkPut adds batches of generated items to a growing index.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{20, 200, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			indextest.MeasurePut(b, open(b, newOptions(b)), size)
		})
	}
}

// BenchmarkSearch searches an index of 50,000 generated items.
func BenchmarkSearch(b *testing.B) {
	x, made := open(b, newOptions(b)), indextest.NewItemGenerator(1)
	for range 10 {
		if err := x.Put(b.Context(), made.Items(5000)...); err != nil {
			b.Fatal(err)
		}
	}
	indextest.MeasureSearches(b, x, made)
	measureOthers(b, x, made)
}

// measureOthers measures searches that take several requests or tokens of the index.
func measureOthers(b *testing.B, x *Index, made *indextest.ItemGenerator) {
	word := func() query.Node { return query.Text{Words: made.SearchWord()} }
	search := func(q storage.Query) error { _, err := x.Search(b.Context(), q); return err }
	items := made.Items(100)
	for _, bench := range []struct {
		name string
		call func() error
	}{
		{"typing", func() error {
			return search(storage.Query{Where: query.Text{Words: made.SearchWord()[:4], Form: query.Prefix}})
		}},
		{"four alternatives", func() error {
			return search(storage.Query{Where: query.Or{word(), word(), word(), word()}, Facets: true})
		}},
		{"phrase", func() error {
			return search(storage.Query{Where: query.Text{Words: made.SearchWord() + " " + made.SearchWord(), Form: query.Phrase}})
		}},
		{"once", func() error { return search(storage.Query{Where: word(), OnePerStory: true}) }},
		{"mistakes", func() error { return search(storage.Query{Where: query.Text{Words: made.SearchWord() + "xx"}}) }},
		{"similar", func() error {
			items = append(items[1:], items[0])
			_, err := x.Similar(b.Context(), items[0], 10)
			return err
		}},
		{"suggest", func() error {
			_, err := x.Suggest(b.Context(), made.SearchWord()[:2], 10)
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) { indextest.MeasureTimes(b, bench.call) })
	}
}
