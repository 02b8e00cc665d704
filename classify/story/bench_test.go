package story

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/tests/corpus"
)

// realItems returns real items with texts, ten seconds apart.
func realItems(t testing.TB) (items []Item) {
	folder := corpus.Folder(t, "stories")
	for _, name := range []string{"ecb-plus", "basil"} {
		for n, r := range corpus.Lines[struct{ ID, Title, Body, Lang string }](t, filepath.Join(folder, name+".jsonl.gz")) {
			items = append(items, Item{
				ID: r.ID, Title: r.Title, Text: r.Body, Language: r.Lang, Host: fmt.Sprint("h", n%50), Seen: noon.Add(time.Duration(len(items)) * 10 * time.Second),
			})
		}
	}
	return items
}

// BenchmarkExtract extracts the features of an item.
func BenchmarkExtract(b *testing.B) {
	items, w := realItems(b), Default()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Extract(items[i%len(items)])
	}
}

// BenchmarkPlace places items with precomputed features, with a pass after each 500, among 5,000 stored
// events. The items are recombined from parts of real texts.
func BenchmarkPlace(b *testing.B) {
	items, w := mixed(realItems(b), 8000), Default()
	limits := DefaultLimits()
	limits.Events = 5000
	c := New(w, limits, IDs{})
	next := func(i int) Item {
		item := items[i%len(items)]
		item.ID, item.Seen = fmt.Sprint(i), noon.Add(time.Duration(i)*time.Second)
		item.Features = w.Extract(item)
		return item
	}
	for i := range 8000 {
		item := next(i)
		c.Place(item)
		c.Tick(item.Seen)
	}
	b.ReportAllocs()
	i := 8000
	for b.Loop() {
		b.StopTimer()
		item := next(i)
		b.StartTimer()
		c.Place(item)
		c.Tick(item.Seen)
		i++
	}
}

// mixed returns n items, each with the first half of one item's words and the second half of another's.
func mixed(items []Item, n int) (list []Item) {
	for i := range n {
		a, b := items[i%len(items)], items[(i*7919+i/len(items)*31)%len(items)]
		a.Text = a.Text[:len(a.Text)/2] + b.Text[len(b.Text)/2:]
		a.Title = a.Title[:len(a.Title)/2] + b.Title[len(b.Title)/2:]
		a.Host = fmt.Sprint("h", i)
		list = append(list, a)
	}
	return list
}

// BenchmarkHeadlineAndSummary computes headline and summary of stories of several sizes.
func BenchmarkHeadlineAndSummary(b *testing.B) {
	var versions []Document
	for i, item := range realItems(b) {
		text := item.Text[:min(len(item.Text), 600)]
		versions = append(versions, Document{ItemID: item.ID, Title: item.Title, Text: text, Language: item.Language, Source: fmt.Sprint(i % 60), Seen: item.Seen})
	}
	for _, n := range []int{5, 30, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Summary(versions[:n], Headline(versions[:n]))
			}
		})
	}
}
