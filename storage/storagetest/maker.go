package storagetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"feedmesh/storage"
)

// A Maker makes up items of some 2 KB for measuring an index, the same ones for
// the same seed.
type Maker struct {
	rand  *rand.Rand
	zipf  *rand.Zipf
	words []string // most frequent first
	made  int
}

// NewMaker returns a maker with a vocabulary of its own.
func NewMaker(seed uint64) *Maker {
	r := rand.New(rand.NewPCG(seed, seed))
	m := &Maker{rand: r, zipf: rand.NewZipf(r, 1.1, 4, 80_000)}
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

// word returns a word as often as texts have it.
func (m *Maker) word() string { return m.words[m.zipf.Uint64()] }

// Sought returns a word such as people search for, which is none of the most
// frequent and none of the rarest.
func (m *Maker) Sought() string { return m.words[100+m.rand.IntN(5000)] }

// text returns so many words.
func (m *Maker) text(words int) string {
	all := make([]string, words)
	for i := range all {
		all[i] = m.word()
	}
	return strings.Join(all, " ")
}

// date returns a time in the first 300 days of 2026.
func (m *Maker) date() time.Time {
	return time.Date(2026, 1, 1, 0, 0, m.rand.IntN(300*24*60*60), 0, time.UTC)
}

// Items returns n new items.
func (m *Maker) Items(n int) []storage.Indexed {
	items := make([]storage.Indexed, n)
	for i := range items {
		m.made++
		feed, date := storage.FeedID(fmt.Sprint(m.rand.IntN(50_000))), m.date()
		items[i] = storage.Indexed{
			Item: storage.Item{
				ID: storage.ItemID(feed, fmt.Sprint(m.made)), FeedID: feed, Title: m.text(8), Author: m.text(2),
				URL: fmt.Sprintf("https://www.%d.example.org/%d", m.rand.IntN(5000), m.made), Excerpt: m.text(30),
				Language: []string{"en", "ru", "de", ""}[m.rand.IntN(4)], Tags: []string{m.word(), m.word()},
				Categories: []string{m.words[m.rand.IntN(30)], m.words[m.rand.IntN(30)]},
				Topics:     []string{m.words[m.rand.IntN(250)], m.words[m.rand.IntN(250)]}, Sentiment: m.rand.Float64() - 0.5,
				Published: date, FirstSeen: date, Changed: date, Spam: m.rand.IntN(20) == 0,
			},
			Text: m.text(220),
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
