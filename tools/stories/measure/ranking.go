package measure

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"feedmesh/classify/story"
)

const (
	rankEvery = time.Hour      // interval of ordering
	ahead     = 24 * time.Hour // delay until an order is evaluated
	top       = 10
)

// A Ranking reports how well and how soon an order of stories shows those with most sources 24 hours later.
type Ranking struct {
	Order string  `json:"order"` // "ours", "most sources", or "newest"
	NDCG  float64 `json:"ndcg"`  // of ten, mean over times; the gain is the number of sources
	Times int     `json:"times"`

	// Of the stories among the ten of most sources at the end of a day: how many were ever among the ten
	// shown, and how long after their first item.
	Great int           `json:"great"`
	Shown int           `json:"shown"`
	P50   time.Duration `json:"p50"`
	P90   time.Duration `json:"p90"`
}

// A Churn reports how often the story of an item has another ID a day later. Expired stories count with their
// last ID.
type Churn struct {
	Items int     `json:"items"` // of all days
	Moved int     `json:"moved"`
	Share float64 `json:"share"`
}

// Rank groups records with our method in order of arrival, orders the current stories every hour, and
// evaluates the orders: by our rank, by the number of sources, and by the latest item. Records must have
// days; without days it returns nothing.
func Rank(w story.Weights, records []Record) ([]Ranking, Churn) {
	if len(records) == 0 || records[0].Day == "" {
		return nil, Churn{}
	}
	r := ranker{
		grouping: grouping{Clusters: story.New(w, story.DefaultLimits(), story.IDs{}), story: make(map[string]string)},
		first:    make(map[string]time.Time), listed: make(map[string]map[string]time.Time),
	}
	next := records[0].Seen.Add(rankEvery)
	for _, record := range records {
		for ; !record.Seen.Before(next); next = next.Add(rankEvery) {
			r.takeSnapshot(next)
		}
		placed := r.Place(record.Item)
		r.story[placed.EventID] = placed.StoryID
		r.items = append(r.items, windowItem{placed.EventID, record.Host, record.Seen})
		r.tick(record.Seen)
	}
	return r.rankings(), r.churn
}

// A ranker tracks stories and their orders.
type ranker struct {
	grouping
	items     []windowItem // of the window, by time
	snapshots []snapshot   // not yet evaluated
	first     map[string]time.Time
	churn     Churn

	sums   [3]float64
	times  int
	listed map[string]map[string]time.Time // by order and event: when its story was among the ten
	great  map[string]time.Time            // by event that a great story began with: when that was
}

// windowItem is an item of the window.
type windowItem struct {
	event, source string
	seen          time.Time
}

// A snapshot is the orders at a time. Stories are identified by their first event, which merges do not change.
type snapshot struct {
	at     time.Time
	orders [3][]string
	live   []string
	before map[string]string // the story of each event
	items  map[string]int    // by event
}

var orders = [3]string{"ours", "most sources", "newest"}

// A rankedStory is the state of a story at a time.
type rankedStory struct {
	event     string // it began with
	sources   map[string]bool
	sightings []story.SourceSighting
	rank      [3]float64
}

// tales returns the stories of the items in the window before a time, by the first event of each.
func (r *ranker) tales(until time.Time) []*rankedStory {
	byID := make(map[string]*rankedStory)
	var list []*rankedStory
	for _, item := range r.items {
		if item.seen.After(until) {
			break
		}
		id := r.story[item.event]
		t := byID[id]
		if t == nil {
			t = &rankedStory{event: item.event, sources: make(map[string]bool)}
			byID[id] = t
			list = append(list, t)
		}
		t.sources[item.source] = true
		t.sightings = append(t.sightings, story.SourceSighting{Source: item.source, Weight: 1, Seen: item.seen})
		t.rank[2] = float64(item.seen.Unix())
	}
	for _, t := range list {
		t.rank[0] = story.Rank(story.NewHotScore(t.sightings), 0, false)
		t.rank[1] = float64(len(t.sources))
	}
	return list
}

// takeSnapshot orders the current stories, and evaluates the orders of a day ago.
func (r *ranker) takeSnapshot(now time.Time) {
	window := story.DefaultLimits().Window
	r.items = slices.DeleteFunc(r.items, func(t windowItem) bool { return now.Sub(t.seen) > window+ahead })
	tales := r.tales(now)
	for len(r.snapshots) > 0 && !r.snapshots[0].at.Add(ahead).After(now) {
		r.settle(r.snapshots[0], tales)
		r.snapshots = r.snapshots[1:]
	}
	l := snapshot{at: now, before: make(map[string]string), items: make(map[string]int)}
	for _, item := range r.items {
		if now.Sub(item.seen) <= window {
			l.before[item.event] = r.story[item.event]
			l.items[item.event]++
		}
	}
	for o := range orders {
		slices.SortStableFunc(tales, func(a, b *rankedStory) int { return cmp.Compare(b.rank[o], a.rank[o]) })
		for _, t := range tales[:min(len(tales), top)] {
			l.orders[o] = append(l.orders[o], t.event)
			if _, ok := r.listedIn(o)[t.event]; !ok {
				r.listedIn(o)[t.event] = now
			}
		}
	}
	for _, t := range tales {
		l.live = append(l.live, t.event)
		if _, ok := r.first[t.event]; !ok {
			r.first[t.event] = t.sightings[0].Seen
		}
	}
	r.snapshots = append(r.snapshots, l)
}

func (r *ranker) listedIn(order int) map[string]time.Time {
	m := r.listed[orders[order]]
	if m == nil {
		m = make(map[string]time.Time)
		r.listed[orders[order]] = m
	}
	return m
}

// settle evaluates the orders of a look after a day.
func (r *ranker) settle(l snapshot, tales []*rankedStory) {
	sources := make(map[string]float64) // by story
	for _, t := range tales {
		sources[r.story[t.event]] = float64(len(t.sources))
	}
	gain := func(event string, seen map[string]bool) float64 {
		id := r.story[event]
		if seen[id] {
			return 0 // part of a story that is already counted
		}
		seen[id] = true
		return sources[id]
	}
	var best []float64
	seen := make(map[string]bool)
	for _, event := range l.live {
		best = append(best, gain(event, seen))
	}
	slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
	ideal := dcg(best[:min(len(best), top)])
	if ideal == 0 {
		return
	}
	r.times++
	for o, events := range l.orders {
		var gains []float64
		seen := make(map[string]bool)
		for _, event := range events {
			gains = append(gains, gain(event, seen))
		}
		r.sums[o] += dcg(gains) / ideal
	}
	if l.at.Hour() != 0 {
		return
	}
	for event, id := range l.before {
		r.churn.Items += l.items[event]
		if r.story[event] != id {
			r.churn.Moved += l.items[event]
		}
	}
	if r.great == nil {
		r.great = make(map[string]time.Time)
	}
	slices.SortStableFunc(tales, func(a, b *rankedStory) int { return cmp.Compare(len(b.sources), len(a.sources)) })
	for _, t := range tales[:min(len(tales), top)] {
		if _, ok := r.great[t.event]; !ok {
			r.great[t.event] = t.sightings[0].Seen
		}
	}
}

func dcg(gains []float64) float64 {
	sum := 0.0
	for i, g := range gains {
		sum += float64(g / math.Log2(float64(i+2)))
	}
	return sum
}

func (r *ranker) rankings() []Ranking {
	r.churn.Share = share(r.churn.Moved, r.churn.Items)
	var list []Ranking
	for o, name := range orders {
		ranking := Ranking{Order: name, NDCG: r.sums[o] / float64(max(1, r.times)), Times: r.times, Great: len(r.great)}
		var delays []time.Duration
		for event, began := range r.great {
			if at, ok := r.listedIn(o)[event]; ok {
				delays = append(delays, at.Sub(began))
			}
		}
		slices.Sort(delays)
		if ranking.Shown = len(delays); len(delays) > 0 {
			ranking.P50, ranking.P90 = delays[len(delays)/2], delays[len(delays)*9/10]
		}
		list = append(list, ranking)
	}
	return list
}

// PrintRankings writes rankings and churn for people.
func PrintRankings(w io.Writer, rankings []Ranking, churn Churn) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tabs, "STORIES BY\tNDCG@10\tTIMES\tGREAT\tSHOWN\tAFTER P50\tP90\t")
	for _, r := range rankings {
		fmt.Fprintf(tabs, "%s\t%.3f\t%d\t%d\t%d\t%.1f h\t%.1f h\t\n", r.Order, r.NDCG, r.Times, r.Great, r.Shown, r.P50.Hours(), r.P90.Hours())
	}
	tabs.Flush()
	fmt.Fprintf(w, "of %d items, %s %% are in a story of another ID a day later\n", churn.Items, percent(churn.Share))
}
