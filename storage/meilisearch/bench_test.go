package meilisearch

import (
	"fmt"
	"testing"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/storagetest"
)

// BenchmarkPut indexes made-up items in batches, into an index that grows
// meanwhile.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{20, 200, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			storagetest.MeasurePut(b, open(b, newOptions(b)), size)
		})
	}
}

// BenchmarkSearch asks an index of 50,000 made-up items; of 10,000 if it is to be
// short.
func BenchmarkSearch(b *testing.B) {
	x, made := open(b, newOptions(b)), storagetest.NewMaker(1)
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		if err := x.Put(b.Context(), made.Items(5000)...); err != nil {
			b.Fatal(err)
		}
	}
	storagetest.MeasureSearches(b, x, made)
	measureOthers(b, x, made)
}

// measureOthers asks for what Meilisearch does not do by itself.
func measureOthers(b *testing.B, x *Index, made *storagetest.Maker) {
	word := func() query.Node { return query.Text{Words: made.Sought()} }
	ask := func(q storage.Query) error { _, err := x.Search(b.Context(), q); return err }
	items := made.Items(100)
	for _, bench := range []struct {
		name string
		call func() error
	}{
		{"typing", func() error {
			return ask(storage.Query{Where: query.Text{Words: made.Sought()[:4], Form: query.Prefix}})
		}},
		{"four alternatives", func() error {
			return ask(storage.Query{Where: query.Or{word(), word(), word(), word()}, Facets: true})
		}},
		{"phrase", func() error {
			return ask(storage.Query{Where: query.Text{Words: made.Sought() + " " + made.Sought(), Form: query.Phrase}})
		}},
		{"once", func() error { return ask(storage.Query{Where: word(), Once: true}) }},
		{"mistakes", func() error { return ask(storage.Query{Where: query.Text{Words: made.Sought() + "xx"}}) }},
		{"similar", func() error {
			items = append(items[1:], items[0])
			_, err := x.Similar(b.Context(), items[0], 10)
			return err
		}},
		{"suggest", func() error {
			_, err := x.Suggest(b.Context(), made.Sought()[:2], 10)
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) { storagetest.MeasureTimes(b, bench.call) })
	}
}
