package indextest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"feedmesh/storage"
)

// An ItemGenerator generates items for benchmarks, of about 2 KB unless Words is changed. Equal seeds generate equal items.
type ItemGenerator struct {
	Words int // in the text of an item, and at most in its excerpt

	rand  *rand.Rand
	zipf  *rand.Zipf
	words []string // most frequent first
	made  int
}

// NewItemGenerator returns a generator with its own vocabulary.
func NewItemGenerator(seed uint64) *ItemGenerator {
	r := rand.New(rand.NewPCG(seed, seed))
	m := &ItemGenerator{Words: 220, rand: r, zipf: rand.NewZipf(r, 1.1, 4, 80_000)}
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

// word returns a word with a realistic frequency distribution.
func (m *ItemGenerator) word() string { return m.words[m.zipf.Uint64()] }

// SearchWord returns a typical search word: neither one of the most frequent words nor of the rarest.
func (m *ItemGenerator) SearchWord() string { return m.words[100+m.rand.IntN(5000)] }

// text returns a text of so many words.
func (m *ItemGenerator) text(words int) string {
	all := make([]string, words)
	for i := range all {
		all[i] = m.word()
	}
	return strings.Join(all, " ")
}

// date returns a random time in the first 300 days of 2026.
func (m *ItemGenerator) date() time.Time {
	return time.Date(2026, 1, 1, 0, 0, m.rand.IntN(300*24*60*60), 0, time.UTC)
}

// Items returns n new items.
func (m *ItemGenerator) Items(n int) []storage.IndexItem {
	items := make([]storage.IndexItem, n)
	for i := range items {
		m.made++
		feed, date := storage.FeedID(fmt.Sprint(m.rand.IntN(50_000))), m.date()
		items[i] = storage.IndexItem{
			Item: storage.Item{
				ID: storage.ItemID(feed, fmt.Sprint(m.made)), FeedID: feed, Title: m.text(8), Author: m.text(2),
				URL: fmt.Sprintf("https://www.%d.example.org/%d", m.rand.IntN(5000), m.made), Excerpt: m.text(min(30, m.Words)),
				Language: []string{"en", "ru", "de", ""}[m.rand.IntN(4)], Tags: []string{m.word(), m.word()},
				Categories: []string{m.words[m.rand.IntN(30)], m.words[m.rand.IntN(30)]},
				Topics:     []string{m.words[m.rand.IntN(250)], m.words[m.rand.IntN(250)]}, Sentiment: m.rand.Float64() - 0.5,
				Published: date, FirstSeen: date, Changed: date, Spam: m.rand.IntN(20) == 0,
			},
			Text: m.text(m.Words),
		}
		if m.rand.IntN(10) == 0 {
			items[i].DuplicateOf = "another"
		}
		if m.rand.IntN(2) == 0 {
			items[i].StoryID, items[i].Sources = fmt.Sprint("story", m.rand.IntN(1+m.made/5)), 1+m.rand.IntN(30)
		}
	}
	return items
}
