package bleve_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

// BenchmarkPut indexes made-up items of 300 words, in batches.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{50, 200, 500, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			x := open(b, filepath.Join(b.TempDir(), "index"))
			defer x.Close()
			made := newMaker(1)
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

// BenchmarkSearch asks an index of 25,000 made-up items for words of theirs.
func BenchmarkSearch(b *testing.B) {
	x := open(b, filepath.Join(b.TempDir(), "index"))
	defer x.Close()
	made := newMaker(1)
	for range 50 {
		if err := x.Put(b.Context(), made.items(500)...); err != nil {
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
		{"newest", func() storage.Query { return storage.Query{Words: made.sought(), Newest: true} }},
		{"facets", func() storage.Query { return storage.Query{Words: made.sought(), Language: "en", Facets: true} }},
		{"since", func() storage.Query { return storage.Query{Words: made.sought(), After: made.date()} }},
		{"all", func() storage.Query { return storage.Query{} }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(b.Context(), bench.query()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStamps counts 100,000 made-up items of 300 days by day, and walks
// over all of them, after a tenth were put again and a tenth deleted.
func BenchmarkStamps(b *testing.B) {
	x := open(b, filepath.Join(b.TempDir(), "index"))
	defer x.Close()
	made := newMaker(1)
	for range 200 {
		items := made.items(500)
		if err := x.Put(b.Context(), items...); err != nil {
			b.Fatal(err)
		}
		if err := x.Put(b.Context(), items[:50]...); err != nil {
			b.Fatal(err)
		}
		var gone []string
		for _, it := range items[50:100] {
			gone = append(gone, it.ID)
		}
		if err := x.Delete(b.Context(), gone...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("days", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Days(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			days, err := x.Days(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for day, want := range days {
				for after := ""; want > 0; {
					page, err := x.Stamps(b.Context(), day, after, 500)
					if err != nil || len(page) == 0 {
						b.Fatalf("%d stamps are missing, %v", want, err)
					}
					want -= int64(len(page))
					n += len(page)
					after = page[len(page)-1].ID
				}
			}
			if n != 90_000 {
				b.Fatalf("walked over %d items", n)
			}
		}
	})
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
	for range 80_001 {
		syllables := []string{"ka", "to", "ser", "ing", "lo", "per", "mi", "ation", "dex", "un"}
		if r.IntN(4) == 0 {
			syllables = []string{"ка", "то", "сер", "ость", "ло", "пер", "ми", "ение", "дек", "ами"}
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
	var text strings.Builder
	for range words {
		text.WriteString(m.word())
		text.WriteByte(' ')
	}
	return text.String()
}

func (m *maker) date() time.Time {
	return time.Date(2026, 1, 1, 0, 0, m.rand.IntN(300*24*60*60), 0, time.UTC)
}

func (m *maker) items(n int) []storage.Indexed {
	items := make([]storage.Indexed, n)
	for i := range items {
		m.made++
		feed := storage.FeedID(fmt.Sprint(m.rand.IntN(5000)))
		items[i] = storage.Indexed{
			Item: storage.Item{
				ID: storage.ItemID(feed, fmt.Sprint(m.made)), FeedID: feed, Title: m.text(8), Author: m.text(2),
				Language: []string{"en", "ru", "de", ""}[m.rand.IntN(4)], Tags: []string{m.word(), m.word()},
				Categories: []string{m.words[m.rand.IntN(30)], m.words[m.rand.IntN(30)]},
				Published:  m.date(), FirstSeen: m.date(), Changed: m.date(), Spam: m.rand.IntN(20) == 0,
			},
			Text: m.text(300),
		}
		if m.rand.IntN(10) == 0 {
			items[i].DuplicateOf = "another"
		}
	}
	return items
}
