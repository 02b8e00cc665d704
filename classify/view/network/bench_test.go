package network_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"feedmesh/classify/query"
	"feedmesh/classify/view"
	"feedmesh/classify/view/network"
	"feedmesh/tests/cputime"
)

var mostViews = flag.Int("network.views", 10_000, "largest number of views that BenchmarkMatch measures")

// BenchmarkMatch prints how many items a second one core matches, in CPU time and beside evaluating each view by itself. Items
// have 150 words, which are split into stems each time. Views read each other in three levels. Words of items are distributed as in
// texts (Zipf), those of views evenly over the logarithm of their rank.
func BenchmarkMatch(b *testing.B) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "views\tdistinct\tnodes\tbytes/view\tcompile ms\tviews/item\tµs/item\titems/s\teach by itself: items/s\tratio\t")
	for range b.N {
		for n := 100; n <= *mostViews; n *= 10 {
			for _, distinct := range slices.Compact([]int{1000, n}) {
				if distinct <= n {
					measure(b, table, n, distinct)
				}
			}
		}
	}
	if err := table.Flush(); err != nil {
		b.Fatal(err)
	}
}

// measure prints a row for n views, of which so many are distinct apart from their names.
func measure(b *testing.B, table *tabwriter.Writer, n, distinct int) {
	w := workload{rand.New(rand.NewPCG(uint64(n), uint64(distinct)))}
	views, items := w.views(n, distinct), w.items(2000)
	sample := make([]*network.Document, 500)
	for i, item := range w.items(len(sample)) {
		sample[i] = item.document()
		sample[i].Stems(query.Anywhere) // splits its words, so that they do not count as memory of the network
		sample[i].Stems(query.Title)
	}
	before, start := heapBytes(), cputime.Used(b)
	net, err := network.Compile(views, noon, sample)
	if err != nil {
		b.Fatal(err)
	}
	compiled := cputime.Used(b) - start
	net.Match(items[0].document()) // makes a state
	size := heapBytes() - before
	runtime.KeepAlive(sample)

	matches := 0
	start = cputime.Used(b)
	for _, i := range items {
		matches += len(net.Match(i.document()))
	}
	perItem := (cputime.Used(b) - start).Seconds() / float64(len(items))

	conditions := parsed(b, views)
	few := items[:max(2, 20_000/n)]
	alone := 0
	start = cputime.Used(b)
	for _, i := range few {
		alone += len(oneByOneParsed(views, conditions, i.document()))
	}
	perItemAlone := (cputime.Used(b) - start).Seconds() / float64(len(few))
	check := 0
	for _, i := range few {
		check += len(net.Match(i.document()))
	}
	if check != alone {
		b.Fatalf("%d views: got %d matches, each by itself %d", n, check, alone)
	}
	fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%.0f\t%.1f\t%.0f\t%.0f\t%.1f\t%.1f\t\n", n, distinct, net.Nodes(), size/uint64(n), compiled.Seconds()*1e3,
		float64(matches)/float64(len(items)), perItem*1e6, 1/perItem, 1/perItemAlone, perItemAlone/perItem)
}

// heapBytes returns the size of the heap when collections no longer reduce it: pools keep values for two of them.
func heapBytes() uint64 {
	var m runtime.MemStats
	for before := uint64(math.MaxUint64); ; before = m.HeapAlloc {
		runtime.GC()
		if runtime.ReadMemStats(&m); m.HeapAlloc >= before {
			return m.HeapAlloc
		}
	}
}

func parsed(b *testing.B, views []view.View) []query.Node {
	conditions := make([]query.Node, len(views))
	for i, v := range views {
		n, err := v.Condition(noon)
		if err != nil {
			b.Fatal(err)
		}
		conditions[i] = n
	}
	return conditions
}

// oneByOneParsed returns the views of an item, each evaluated by itself after those that it reads.
func oneByOneParsed(views []view.View, conditions []query.Node, d *network.Document) map[string]bool {
	members := map[string]bool{}
	for i, v := range views {
		reads := len(v.From) == 0
		for _, s := range v.From {
			reads = reads || s.Kind == view.Other && members[s.Value] || s.Kind == view.Feed && s.Value == d.Feed
			for _, tag := range d.FeedTags {
				reads = reads || s.Kind == view.Tag && s.Value == tag
			}
		}
		if reads && query.Matches(conditions[i], d.Document) {
			members[v.Name] = true
		}
	}
	return members
}

// A workload makes views and items.
type workload struct{ *rand.Rand }

const (
	feeds, tags = 5000, 200
	vocabulary  = 50_000
)

func word(rank int) string {
	var b strings.Builder
	for n := uint64(rank)*2654435761 + 12345; b.Len() < 3+rank%7; n /= 21 {
		b.WriteByte("bcdfghklmnprstvaeiouz"[n%21])
	}
	return fmt.Sprint(b.String(), "x", rank)
}

// ofView returns a word for a condition: ranks 50 to 20,000.
func (w workload) ofView() string {
	return word(int(50 * math.Pow(400, w.Float64())))
}

func (w workload) views(n, distinct int) []view.View {
	views := make([]view.View, n)
	for i := range views {
		if i >= distinct {
			views[i] = views[i-distinct]
		} else {
			views[i] = w.view(views[:i])
		}
		views[i].Name = fmt.Sprintf("v%06d", i)
	}
	return views
}

// view makes a view of feeds and tags, or one that reads two of the first tenth or fifth of the earlier ones.
func (w workload) view(earlier []view.View) view.View {
	var v view.View
	level := 0
	if len(earlier) > 20 {
		level = w.IntN(3)
	}
	for range 1 + w.IntN(3) {
		switch level {
		case 0:
			s := view.Source{Kind: view.Feed, Value: fmt.Sprint("f", w.IntN(feeds))}
			if w.IntN(2) == 0 {
				s = view.Source{Kind: view.Tag, Value: fmt.Sprint("t", w.IntN(tags))}
			}
			v.From = append(v.From, s)
		default:
			v.From = append(v.From, view.Source{Kind: view.Other, Value: earlier[w.IntN(len(earlier)*level/20+1)].Name})
		}
	}
	if w.IntN(10) == 0 {
		v.From = nil
	}
	v.Where = w.ofView()
	switch w.IntN(6) {
	case 0:
		v.Where += " OR " + w.ofView()
	case 1:
		v.Where += " -" + w.ofView()
	case 2:
		v.Where = fmt.Sprintf("cat:c%d lang:en", w.IntN(30))
	case 3:
		v.Where = fmt.Sprintf("(%s OR title:%s) lang:ru", v.Where, w.ofView())
	case 4:
		v.Where = fmt.Sprintf(`"%s %s" OR %s*`, w.ofView(), w.ofView(), w.ofView())
	}
	return v
}

// An item is what documents are made of.
type item struct {
	query.Document
	tags []string
}

// document returns a document whose words are not split yet.
func (i *item) document() *network.Document {
	return &network.Document{FeedTags: i.tags, Now: noon, Document: &query.Document{
		Title: i.Title, Text: i.Text, Feed: i.Feed, Language: i.Language, Categories: i.Categories, Published: i.Published,
	}}
}

func (w workload) items(n int) []*item {
	zipf := rand.NewZipf(w.Rand, 1.07, 2, vocabulary)
	words := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = word(int(zipf.Uint64()))
		}
		return strings.Join(all, " ")
	}
	items := make([]*item, n)
	for i := range items {
		feed := w.IntN(feeds)
		items[i] = &item{
			Document: query.Document{
				Title: words(8), Text: words(142), Feed: fmt.Sprint("f", feed), Language: []string{"en", "ru"}[w.IntN(2)],
				Categories: []string{fmt.Sprint("c", w.IntN(30))}, Published: noon,
			},
			tags: []string{fmt.Sprint("t", feed%tags)},
		}
	}
	return items
}
