package component

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"feedmesh/classify/near"
	"feedmesh/tools/bench/report"
)

// Near adds the rows of [Stories] for near-duplicates only.
func Near(_ context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("near", flag.ContinueOnError)
	most := flags.Int("items", 1_000_000, "number of items in the index")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	onOneCore(out, func(c costs) { c.near(*most) })
	return nil
}

const (
	bodied   = 60     // percent of items
	copied   = 10     // one item in so many is a copy
	measured = 10_000 // items measured for a row
)

// near adds rows for finding near-duplicates while the index grows, with generated items.
func (c costs) near(most int) {
	settings := near.Default()
	settings.MaxItems = most
	b := &nearBench{settings: settings, maker: newItemMaker()}
	before := heap()
	b.index = near.NewIndex(settings)
	for _, size := range []int{10_000, 30_000, 100_000, 300_000, 1_000_000} {
		if size <= most {
			b.fill(size - measured)
			b.row(c, "", before)
		}
	}
	b.row(c, ", as many forgotten as come", before)
	b.broken(c, before)
}

// A nearBench is an index under measurement.
type nearBench struct {
	settings near.Settings
	index    *near.Index
	maker    *itemMaker
	n        int // number of placed items

	placing, sketching []time.Duration
	copies, found      int
	wrong              int
}

// fill places items up to n.
func (b *nearBench) fill(n int) {
	for b.n < n {
		b.place(b.maker.next())
	}
}

func (b *nearBench) place(item madeItem) {
	mark := near.Signature{
		ItemID: fmt.Sprintf("%026d", b.n), FeedID: fmt.Sprint("feed", item.feed), URLKey: fmt.Sprint("example.org/", b.n),
		TextHash: near.TextHash(item.title, item.body), Seen: time.Unix(1_700_000_000+int64(b.n/5), 0),
	}
	began := threadTime()
	mark.Sketch = b.settings.Sketch(item.title, item.body)
	made := threadTime()
	as := b.index.Place(mark)
	b.placing, b.sketching = append(b.placing, threadTime()-made), append(b.sketching, made-began)
	b.n++
	switch {
	case item.copy && as.DuplicateOf != "":
		b.copies, b.found = b.copies+1, b.found+1
	case item.copy:
		b.copies++
	case as.DuplicateOf != "":
		b.wrong++
	}
}

// row places the items of a row, and adds it.
func (b *nearBench) row(c costs, note string, before uint64) {
	b.placing, b.sketching = nil, nil
	b.copies, b.found, b.wrong = 0, 0, 0
	b.fill(b.n + measured)
	b.print(c, note, before)
}

func (b *nearBench) print(c costs, note string, before uint64) {
	place, sketch := report.TimingOf(b.placing), report.TimingOf(b.sketching)
	b.placing, b.sketching = nil, nil
	c.rows("near: items placed"+note, b.index.Len(), place, (heap()-before)/uint64(b.index.Len()),
		"%d of %d copies found, %d others; sketched before in %s, p99 %s", b.found, b.copies, b.wrong, micros(sketch.P50), micros(sketch.P99))
}

// broken adds the row of a feed that sends one item 10,000 times, with new IDs.
func (b *nearBench) broken(c costs, before uint64) {
	item := b.maker.next()
	item.feed = -1
	b.place(item)
	b.placing, b.sketching = nil, nil
	b.copies, b.found, b.wrong = 0, 0, 0
	item.copy = true
	for range measured {
		b.place(item)
	}
	b.print(c, ", one item again and again", before)
	runtime.KeepAlive(b.index)
}

// A madeItem is a generated item.
type madeItem struct {
	title, body string
	feed        int
	copy        bool // of an earlier item
}

// An itemMaker generates items, reproducibly.
type itemMaker struct {
	random *rand.Rand
	words  []string
	often  *rand.Zipf
	last   []madeItem // source of copies
	made   int
}

func newItemMaker() *itemMaker {
	m := &itemMaker{random: rand.New(rand.NewPCG(7, 1))}
	for len(m.words) < 50_000 {
		m.words = append(m.words, syllables(m.random))
	}
	m.often = rand.NewZipf(m.random, 1.05, 20, uint64(len(m.words)-1))
	return m
}

func (m *itemMaker) text(words int) string {
	var b strings.Builder
	for range words {
		if m.random.IntN(10) < 3 {
			b.WriteString(stopWords[m.random.IntN(len(stopWords))])
		} else {
			b.WriteString(m.words[m.often.Uint64()])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func (m *itemMaker) next() madeItem {
	m.made++
	if m.made%copied == 0 && len(m.last) > 0 {
		item := m.last[m.random.IntN(len(m.last))]
		item.title += "- Daily News"
		item.feed, item.copy = m.random.IntN(50_000), true
		return item
	}
	item := madeItem{title: m.text(7 + m.random.IntN(6)), feed: m.random.IntN(50_000)}
	if m.random.IntN(100) < bodied {
		item.body = m.text(40 + m.random.IntN(121))
	}
	if m.last = append(m.last, item); len(m.last) > 1000 {
		m.last = m.last[500:]
	}
	return item
}
