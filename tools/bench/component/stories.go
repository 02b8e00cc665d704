package component

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/tools/bench/cpu"
	"feedmesh/tools/bench/report"
)

// Stories measures duplicate detection and clustering as the window grows, and the time to load a
// window. Items are generated. For duplicate detection they have titles of 7 to 12 words, 60 % of them texts
// of 40 to 160, and one in ten is a copy. For stories they have 9 and 40 of 30,000 words, with natural
// frequencies, and every other one reports an event that others report too. Times are CPU times, so that
// other processes do not count; for loading it is elapsed time, on all cores.
func Stories(_ context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("stories", flag.ContinueOnError)
	items := flags.Int("items", 1_000_000, "maximum number of items in the near index")
	events := flags.Int("events", 50_000, "maximum number of events in the window")
	back := flags.Int("back", 500_000, "items to restore")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	onOneCore(out, func(c costs) {
		c.near(*items)
		for _, n := range []int{*events / 50, *events / 5, *events} {
			c.stories(n)
		}
		for _, n := range []int{*back / 5, *back} {
			c.readBack(n)
		}
	})
	return nil
}

// costs are the rows of the costs of items.
type costs struct{ *report.Report }

// onOneCore adds rows on a separate thread, on one core.
func onOneCore(out *report.Report, do func(c costs)) {
	cores := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(cores)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	do(costs{out})
}

// rows adds rows for an operation on each item at a window size: its time, and the bytes of memory for each
// item. The remarks are printed.
func (c costs) rows(what string, live int, t report.Timing, bytes uint64, remarks string, args ...any) {
	what = fmt.Sprintf("%s, %d live", what, live)
	c.Add(what, 1/t.Mean.Seconds(), "/s")
	c.Add(what+": p50", t.P50.Seconds()*1e6, "us")
	c.Add(what+": p99", t.P99.Seconds()*1e6, "us")
	c.Add(what+": memory", float64(bytes), "bytes for each")
	fmt.Fprintf(os.Stderr, "  "+remarks+"\n", args...)
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f us", d.Seconds()*1e6) }

// stories adds the row for a number of events in the window.
func (c costs) stories(events int) {
	before := heap()
	limits := story.DefaultLimits()
	limits.Events = events
	weights := story.Default()
	clusters := story.New(weights, limits, story.IDs{})
	press := newPress()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, n := 0, 0; n < events; i++ {
		clusters.Place(press.item(now))
		now = now.Add(20 * time.Millisecond)
		if i%500 == 499 {
			clusters.Tick(now)
		}
		_, n, _ = clusters.Len()
	}
	clusters.Tick(now.Add(time.Minute))
	var times, reads []time.Duration
	passes, longest := time.Duration(0), time.Duration(0)
	for i := range measured {
		item := press.item(now)
		start := threadTime()
		item.Features = weights.Extract(item)
		reads = append(reads, threadTime()-start)
		start = threadTime()
		clusters.Place(item)
		times = append(times, threadTime()-start)
		now = now.Add(200 * time.Millisecond)
		if i%500 == 499 {
			start = threadTime()
			clusters.Tick(now)
			pass := threadTime() - start
			passes, longest = passes+pass, max(longest, pass)
		}
	}
	t, read := report.TimingOf(times), report.TimingOf(reads)
	t.Mean += passes / measured
	items, _, stories := clusters.Len()
	press.events = nil
	with := heap()

	c.rows("stories: items placed", events, t, (with-before)/uint64(items),
		"events; %d items of %d stories; passes among them, the longest %.1f ms; read before in %s, p99 %s",
		items, stories, longest.Seconds()*1e3, micros(read.P50), micros(read.P99))
	runtime.KeepAlive(clusters)
}

const pageOf = 1000 // items loaded in a page

// readBack adds the row for loading a number of items, without the store's part.
func (c costs) readBack(n int) {
	pages := makePages(n)
	runtime.GOMAXPROCS(runtime.NumCPU())
	defer runtime.GOMAXPROCS(1)
	b := &back{settings: near.Default(), weights: story.Default()}
	b.index = near.NewIndex(b.settings)
	b.clusters = story.New(b.weights, story.DefaultLimits(), story.IDs{})
	began, used := time.Now(), cpu.Time()
	b.run(pages)
	elapsed, used := time.Since(began), cpu.Time()-used
	items, events, _ := b.clusters.Len()
	each := elapsed / time.Duration(n)
	what := fmt.Sprintf("%d items read back", n)
	c.Add(what, 1/each.Seconds(), "/s")
	c.Add(what+": CPU", used.Seconds()*1e6/float64(n), "us an item")
	c.Add(what+": memory", float64(heap()/uint64(n)), "bytes an item")
	fmt.Fprintf(os.Stderr, "  near remembers %d items, stories %d of %d events\n", b.index.Len(), items, events)
	runtime.KeepAlive(b)
}

// back loads items.
type back struct {
	settings near.Settings
	weights  story.Weights
	index    *near.Index
	clusters *story.Clusters
}

// A stored item contains the stored fields of an item.
type stored struct {
	mark   near.Signature
	as     near.Match
	item   story.Item
	placed story.Placement
	needed bool // for stories
}

// run adds page after page, while workers extract the features of the next pages.
func (b *back) run(pages [][]stored) {
	read := make([]chan struct{}, len(pages))
	ahead := 2 * runtime.GOMAXPROCS(0)
	start := func(p int) {
		if p >= len(pages) {
			return
		}
		for i := range pages[p] {
			pages[p][i].needed = b.clusters.NeedsText(pages[p][i].item, pages[p][i].placed)
		}
		read[p] = make(chan struct{})
		go b.read(pages[p], read[p])
	}
	for p := range ahead {
		start(p)
	}
	for p, page := range pages {
		<-read[p]
		for i := range page {
			s := &page[i]
			b.index.Restore(s.mark, s.as)
			b.clusters.Restore(s.item, s.placed)
		}
		pages[p] = nil
		start(p + ahead)
	}
	b.clusters.Tick(time.Time{}) // the first call has additional work
}

// read extracts the features of a page.
func (b *back) read(page []stored, done chan<- struct{}) {
	for i := range page {
		s := &page[i]
		s.mark.Sketch = b.settings.Sketch(s.item.Title, s.item.Text)
		if s.needed {
			s.item.Features = b.weights.Extract(s.item)
		}
	}
	close(done)
}

// makePages returns n items as stored; items that report one event belong to it.
func makePages(n int) [][]stored {
	press := newPress()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var pages [][]stored
	for i := range n {
		if i%pageOf == 0 {
			pages = append(pages, nil)
		}
		item := press.item(now)
		happening := fmt.Sprintf("event%021d", press.last)
		page := &pages[len(pages)-1]
		*page = append(*page, stored{
			mark:   near.Signature{ItemID: item.ID, FeedID: item.Host, URLKey: item.Host + "/" + item.ID, TextHash: near.TextHash(item.Title, item.Text), Seen: now},
			item:   item,
			placed: story.Placement{EventID: happening, StoryID: happening},
		})
		now = now.Add(500 * time.Millisecond)
	}
	return pages
}

// A press generates items.
type press struct {
	random *rand.Rand
	words  *rand.Zipf
	events [][]uint64 // words of current events
	made   int
	last   int // event of the last item
}

func newPress() *press {
	random := rand.New(rand.NewPCG(7, 2))
	return &press{random: random, words: rand.NewZipf(random, 1.1, 8, 30_000)}
}

// item generates the next item: one in two reports a new event.
func (p *press) item(now time.Time) story.Item {
	p.made++
	if len(p.events) == 0 || p.random.IntN(2) == 0 {
		var about []uint64
		for range 14 {
			about = append(about, 100+p.random.Uint64N(30_000))
		}
		p.events = append(p.events, about)
		p.last = len(p.events) - 1
	} else {
		p.last = p.random.IntN(len(p.events))
	}
	about := p.events[p.last]
	return story.Item{
		ID: fmt.Sprintf("item%022d", p.made), Title: p.text(about, 5, 4), Text: p.text(about, 12, 28), Language: "en",
		Host: fmt.Sprintf("host%d.example", p.random.IntN(5000)), Seen: now,
	}
}

// text returns a number of words of an event and a number of random words.
func (p *press) text(about []uint64, own, others int) string {
	var b strings.Builder
	for range own {
		b.WriteString(wordOf(about[p.random.IntN(len(about))]) + " ")
	}
	for range others {
		b.WriteString(wordOf(p.words.Uint64()) + " ")
	}
	return b.String()
}

// wordOf returns a word for each number.
func wordOf(n uint64) string {
	var b []byte
	for n += 1000; n > 0; n /= 20 {
		b = append(b, "bcdfghjklmnprstvwxzq"[n%20], "aeiou"[n%5])
	}
	return string(b)
}

// threadTime returns the CPU time of this thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
