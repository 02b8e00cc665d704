package meilisearch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

// BenchmarkPut indexes made-up items of some 2 KB, in batches, into an index
// that grows meanwhile.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{20, 200, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			x, made := open(b, newOptions(b)), newMaker(1)
			n := 0
			for b.Loop() {
				b.StopTimer()
				items := made.items(size)
				b.StartTimer()
				if err := x.Put(b.Context(), items...); err != nil {
					b.Fatal(err)
				}
				n += size
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// BenchmarkSearch asks an index of 50,000 made-up items for words of theirs,
// and reports how long half of the searches take at most, and 99 of 100.
func BenchmarkSearch(b *testing.B) {
	x, made := open(b, newOptions(b)), newMaker(1)
	for range 10 {
		if err := x.Put(b.Context(), made.items(5000)...); err != nil {
			b.Fatal(err)
		}
	}
	for _, bench := range []struct {
		name  string
		query func() storage.Query
	}{
		{"words", func() storage.Query { return storage.Query{Words: made.sought() + " " + made.sought()} }},
		{"word", func() storage.Query { return storage.Query{Words: made.sought()} }},
		{"frequent", func() storage.Query { return storage.Query{Words: made.word()} }},
		{"twenty", func() storage.Query { return storage.Query{Words: made.text(20)} }},
		{"newest", func() storage.Query { return storage.Query{Words: made.sought(), Newest: true} }},
		{"facets", func() storage.Query { return storage.Query{Words: made.sought(), Language: "en", Facets: true} }},
		{"since", func() storage.Query { return storage.Query{Words: made.sought(), After: made.date()} }},
		{"all", func() storage.Query { return storage.Query{} }},
		{"all facets", func() storage.Query { return storage.Query{Facets: true} }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				if _, err := x.Search(b.Context(), bench.query()); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
		})
	}
}

// A maker makes up items, the same ones for the same seed.
type maker struct {
	rand  *rand.Rand
	zipf  *rand.Zipf
	words []string // most frequent first
	made  int
}

func newMaker(seed uint64) *maker {
	r := rand.New(rand.NewPCG(seed, seed))
	m := &maker{rand: r, zipf: rand.NewZipf(r, 1.1, 4, 80_000)}
	latin := strings.Fields("ka to ser ing lo per mi ation dex un")
	cyrillic := strings.Fields("ка то сер ость ло пер ми ение дек ами")
	for range 80_001 {
		syllables := latin
		if r.IntN(4) == 0 {
			syllables = cyrillic
		}
		var word strings.Builder
		for range 2 + r.IntN(4) {
			word.WriteString(syllables[r.IntN(len(syllables))])
		}
		m.words = append(m.words, word.String())
	}
	return m
}

func (m *maker) word() string { return m.words[m.zipf.Uint64()] }

// sought returns a word such as people search for, which is none of the most
// frequent and none of the rarest.
func (m *maker) sought() string { return m.words[100+m.rand.IntN(5000)] }

func (m *maker) text(words int) string {
	all := make([]string, words)
	for i := range all {
		all[i] = m.word()
	}
	return strings.Join(all, " ")
}

func (m *maker) date() time.Time {
	return time.Date(2026, 1, 1, 0, 0, m.rand.IntN(300*24*60*60), 0, time.UTC)
}

func (m *maker) items(n int) []storage.Indexed {
	items := make([]storage.Indexed, n)
	for i := range items {
		m.made++
		feed, date := storage.FeedID(fmt.Sprint(m.rand.IntN(5000))), m.date()
		items[i] = storage.Indexed{
			Item: storage.Item{
				ID: storage.ItemID(feed, fmt.Sprint(m.made)), FeedID: feed, Title: m.text(8), Author: m.text(2),
				URL: "https://example.org/" + fmt.Sprint(m.made), Excerpt: m.text(30),
				Language: []string{"en", "ru", "de", ""}[m.rand.IntN(4)], Tags: []string{m.word(), m.word()},
				Categories: []string{m.words[m.rand.IntN(30)], m.words[m.rand.IntN(30)]},
				Published:  date, FirstSeen: date, Changed: date, Spam: m.rand.IntN(20) == 0,
			},
			Text: m.text(220),
		}
		if m.rand.IntN(10) == 0 {
			items[i].DuplicateOf = "another"
		}
	}
	return items
}
