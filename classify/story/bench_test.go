package story

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/tests/corpus"
)

// realItems returns real items with texts, one each ten seconds.
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

// BenchmarkRead reads the words of an item.
func BenchmarkRead(b *testing.B) {
	items, w := realItems(b), Default()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Read(items[i%len(items)])
	}
}

// BenchmarkPlace places an item that was read, each 500th with a pass, among 5,000
// live events: of the real texts, each told anew in parts of others.
func BenchmarkPlace(b *testing.B) {
	items, w := mixed(realItems(b), 8000), Default()
	limits := DefaultLimits()
	limits.Events = 5000
	c := New(w, limits, IDs{})
	next := func(i int) Item {
		item := items[i%len(items)]
		item.ID, item.Seen = fmt.Sprint(i), noon.Add(time.Duration(i)*time.Second)
		item.Read = w.Read(item)
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

// mixed returns n items of which each has the first half of the words of one item and
// the second of another.
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

// BenchmarkTell makes headline and summary of a story of so many items.
func BenchmarkTell(b *testing.B) {
	var versions []Version
	for i, item := range realItems(b) {
		text := item.Text[:min(len(item.Text), 600)]
		versions = append(versions, Version{ItemID: item.ID, Title: item.Title, Text: text, Language: item.Language, Source: fmt.Sprint(i % 60), Seen: item.Seen})
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
