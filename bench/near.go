package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"feedmesh/classify/near"
)

// benchNear prints what finding near-duplicates costs while the index grows, on one
// core, with made items.
func benchNear(args []string) error {
	flags := flag.NewFlagSet("near", flag.ContinueOnError)
	most := flags.Int("items", 1_000_000, "how many items to remember")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	settings := near.Default()
	settings.Max = *most
	b := &nearBench{settings: settings, maker: newItemMaker()}
	before := heap()
	b.index = near.NewIndex(settings)
	fmt.Printf("near-duplicates: made items, %d %% with a body of 40 to 160 words, one in %d a copy; one core, by the clock\n", bodied, copied)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "live items\tplaced/s\tp50\tp99\tsketch p50\tp99\tsketched and placed/s\tmemory an item\tcopies found\tothers taken for copies")
	for _, size := range []int{10_000, 30_000, 100_000, 300_000, 1_000_000} {
		if size > *most {
			break
		}
		b.fill(size - measured)
		b.row(out, "", before)
	}
	b.row(out, " and as many forgotten as come", before)
	b.broken(out, before)
	return out.Flush()
}

const (
	bodied   = 60     // percent of items
	copied   = 10     // of so many items one is a copy
	measured = 10_000 // items that a row is of
)

// A nearBench is an index under measurement.
type nearBench struct {
	settings near.Settings
	index    *near.Index
	maker    *itemMaker
	n        int // items placed

	placing, sketching []time.Duration
	copies, found      int
	wrong              int
}

// fill places items until there were n.
func (b *nearBench) fill(n int) {
	for b.n < n {
		b.place(b.maker.next())
	}
}

func (b *nearBench) place(item madeItem) {
	began := time.Now()
	mark := near.Mark{
		ItemID: fmt.Sprintf("%026d", b.n), FeedID: fmt.Sprint("feed", item.feed), URLKey: fmt.Sprint("example.org/", b.n),
		TextHash: near.TextHash(item.title, item.body), Seen: time.Unix(1_700_000_000+int64(b.n/5), 0),
		Sketch: b.settings.Sketch(item.title, item.body),
	}
	made := time.Now()
	as := b.index.Place(mark)
	b.placing, b.sketching = append(b.placing, time.Since(made)), append(b.sketching, made.Sub(began))
	b.n++
	switch {
	case item.copy && as.Of != "":
		b.copies, b.found = b.copies+1, b.found+1
	case item.copy:
		b.copies++
	case as.Of != "":
		b.wrong++
	}
}

// row places the items that a row is of, and adds it.
func (b *nearBench) row(out *tabwriter.Writer, note string, before uint64) {
	b.placing, b.sketching = nil, nil
	b.copies, b.found, b.wrong = 0, 0, 0
	b.fill(b.n + measured)
	b.print(out, note, before)
}

func (b *nearBench) print(out *tabwriter.Writer, note string, before uint64) {
	size := (heap() - before) / uint64(b.index.Len())
	place, sketch := timingOf(b.placing), timingOf(b.sketching)
	fmt.Fprintf(out, "%d%s\t%.0f\t%.1f us\t%.1f us\t%.1f us\t%.1f us\t%.0f\t%d bytes\t%d of %d\t%d\n", b.index.Len(), note,
		1/place.each.Seconds(), micros(place.p50), micros(place.p99), micros(sketch.p50), micros(sketch.p99),
		1/(place.each+sketch.each).Seconds(), size, b.found, b.copies, b.wrong)
	out.Flush()
}

// broken adds the row of a feed that sends one item 10,000 times, under new IDs.
func (b *nearBench) broken(out *tabwriter.Writer, before uint64) {
	item := b.maker.next()
	item.feed = -1
	b.place(item)
	b.placing, b.sketching = nil, nil
	b.copies, b.found, b.wrong = 0, 0, 0
	item.copy = true
	for range measured {
		b.place(item)
	}
	b.print(out, ", one item again and again", before)
}

// timingOf sorts times and sums them up.
func timingOf(times []time.Duration) timing {
	sum := time.Duration(0)
	for _, t := range times {
		sum += t
	}
	slices.Sort(times)
	return timing{sum / time.Duration(len(times)), times[len(times)/2], times[len(times)*99/100]}
}

func micros(d time.Duration) float64 { return d.Seconds() * 1e6 }

// A madeItem is an item of made words.
type madeItem struct {
	title, body string
	feed        int
	copy        bool // of an item before it
}

// An itemMaker makes items, always the same ones.
type itemMaker struct {
	random *rand.Rand
	words  []string
	often  *rand.Zipf
	last   []madeItem // to copy
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
