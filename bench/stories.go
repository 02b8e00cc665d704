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

	"golang.org/x/sys/unix"

	"feedmesh/classify/story"
)

// benchStories prints what placing items costs while more and more events live, on
// one core, and how long it takes to read them back. Items are made: 30,000 words as
// common as words are, every other item of a happening that others tell too. A title
// has 9 words and a text 40, about as many as feeds' descriptions. Times are of the
// processor, so that other processes do not count.
func benchStories(args []string) error {
	flags := flag.NewFlagSet("stories", flag.ContinueOnError)
	most := flags.Int("events", 50_000, "most live events")
	measured := flags.Int("items", 5000, "items measured at each step")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread() // whose time is taken: other processes do not count
	defer runtime.UnlockOSThread()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "live events\titems\tstories\titems/s\tp50\tp99\tlongest pass\tmemory\tbytes an item\t")
	for _, events := range []int{*most / 50, *most / 5, *most} {
		if err := benchPlacing(out, events, *measured); err != nil {
			return err
		}
	}
	return out.Flush()
}

// benchPlacing adds the row of a number of live events.
func benchPlacing(out *tabwriter.Writer, events, measured int) error {
	before := heap()
	limits := story.DefaultLimits()
	limits.Events = events
	c := story.New(story.Default(), limits, story.IDs{})
	press := newPress()
	var kept []story.Item
	var placed []story.Placement
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := 0; n < events; _, n, _ = c.Len() {
		item := press.item(now)
		kept, placed = append(kept, item), append(placed, c.Place(item))
		now = now.Add(20 * time.Millisecond)
		if len(kept)%500 == 0 {
			c.Tick(now)
		}
	}
	c.Tick(now.Add(time.Minute))
	items, _, stories := c.Len()
	var ours int64
	times := make([]time.Duration, measured)
	began := cpuTime()
	longest := time.Duration(0)
	for i := range times {
		item := press.item(now)
		start := threadTime()
		c.Place(item)
		times[i] = threadTime() - start
		now = now.Add(200 * time.Millisecond)
		if i%500 == 499 {
			start = threadTime()
			c.Tick(now)
			longest = max(longest, threadTime()-start)
		}
	}
	each := (cpuTime() - began) / time.Duration(measured)
	slices.Sort(times)
	ours = int64(heap()) - int64(before)
	runtime.KeepAlive(placed)
	for _, item := range kept { // the bench's own
		ours -= int64(len(item.ID) + len(item.Title) + len(item.Text))
	}
	fmt.Fprintf(out, "%d\t%d\t%d\t%.0f\t%.0f us\t%.0f us\t%.0f ms\t%.0f MB\t%d\t\n", events, items, stories, 1/each.Seconds(),
		times[len(times)/2].Seconds()*1e6, times[len(times)*99/100].Seconds()*1e6, longest.Seconds()*1e3, float64(ours)/1e6, ours/int64(items))
	rebuilt := story.New(story.Default(), limits, story.IDs{})
	took := cpuTime()
	for i, item := range kept {
		rebuilt.Remember(item, placed[i])
	}
	fmt.Fprintf(os.Stderr, "%d events: read back %d items in %.1f s\n", events, len(kept), (cpuTime() - took).Seconds())
	return nil
}

// A press makes items.
type press struct {
	random *rand.Rand
	words  *rand.Zipf
	events [][]uint64 // words of happenings that are in the news
	made   int
}

func newPress() *press {
	random := rand.New(rand.NewPCG(7, 2))
	return &press{random: random, words: rand.NewZipf(random, 1.1, 8, 30_000)}
}

// item makes the next item: one in two tells what nobody told before.
func (p *press) item(now time.Time) story.Item {
	p.made++
	var about []uint64
	if len(p.events) == 0 || p.random.IntN(2) == 0 {
		for range 14 {
			about = append(about, 100+p.random.Uint64N(30_000))
		}
		p.events = append(p.events, about)
	} else {
		about = p.events[p.random.IntN(len(p.events))]
	}
	return story.Item{
		ID: fmt.Sprintf("item%022d", p.made), Title: p.text(about, 5, 4), Text: p.text(about, 12, 28), Language: "en",
		Host: fmt.Sprintf("host%d.example", p.random.IntN(5000)), Seen: now,
	}
}

// text returns so many words of a happening and so many that are just words.
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

// threadTime returns the processor time that this thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
