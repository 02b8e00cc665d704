// Package readers simulates people who read, to measure how well package interest learns what they open.
//
// A reader prefers a few categories, opens an item of one of them with a probability of 0.6 and another with 0.05, and
// sees only what is listed: the model's list, which is newest-first as long as nothing was learned. The model sees the
// words of the title, what rules find in it, and the host; the categories that readers prefer are those of the labels.
package readers

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"feedmesh/classify/interest"
)

const (
	preferred = 3 // categories of a reader
	minShare  = 0.01

	opensPreferred = 0.6
	opensOther     = 0.05

	perVisit = 60               // items that arrive between two visits
	every    = 10 * time.Minute // an item arrives
	window   = 500              // newest items that are candidates
	listed   = 20               // items of a list

	pools    = 5 // lists that are measured, each of other items
	poolSize = 400
)

// Reads are the numbers of opened items after which lists are measured.
var Reads = []int{0, 10, 20, 50, 100}

// An Item is a labelled item.
type Item struct {
	ID         string
	Categories []string // as labelled
	Document   interest.Document

	features []interest.Feature
	keys     []interest.Key
}

// A Curve is the mean nDCG@20 of readers after each number of [Reads], and of the newest items.
type Curve struct {
	Readers int
	Newest  float64
	Model   []float64
}

// Measure simulates readers of a set whose items are in order of time: those with numbers of which keep is true, of the
// given number. They read the first two thirds; lists of the last third are measured.
func Measure(items []Item, number int, keep func(int) bool) Curve {
	for n := range items {
		i := &items[n]
		i.features = interest.Features(i.Document)
		i.keys = make([]interest.Key, len(i.features))
		for k, f := range i.features {
			i.keys[k] = f.Key
		}
	}
	split := len(items) * 2 / 3
	categories := frequent(items)
	curve := Curve{Model: make([]float64, len(Reads))}
	for n := range number {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		r := reader{number: n, prefers: map[string]bool{}}
		for _, c := range random.Perm(len(categories))[:min(preferred, len(categories))] {
			r.prefers[categories[c]] = true
		}
		if !keep(n) {
			continue
		}
		curve.Readers++
		newest, model := r.read(items[:split], items[split:])
		curve.Newest += newest
		for k, v := range model {
			curve.Model[k] += v
		}
	}
	curve.Newest /= float64(curve.Readers)
	for k := range curve.Model {
		curve.Model[k] /= float64(curve.Readers)
	}
	return curve
}

// frequent returns the categories that at least a hundredth of the items have, sorted.
func frequent(items []Item) []string {
	counts := map[string]int{}
	for _, i := range items {
		for _, c := range i.Categories {
			counts[c]++
		}
	}
	var names []string
	for c, n := range counts {
		if float64(n) >= minShare*float64(len(items)) {
			names = append(names, c)
		}
	}
	slices.Sort(names)
	return names
}

// A reader is a simulated person.
type reader struct {
	number  int
	prefers map[string]bool
	model   interest.Model
	opened  int
}

// opens reports whether the reader opens an item when it is listed: always the same for the same item.
func (r *reader) opens(i Item) bool {
	h := fnv.New64a()
	h.Write([]byte(strconv.Itoa(r.number) + " " + i.ID))
	random := rand.New(rand.NewPCG(h.Sum64(), 2))
	if slices.ContainsFunc(i.Categories, func(c string) bool { return r.prefers[c] }) {
		return random.Float64() < opensPreferred
	}
	return random.Float64() < opensOther
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// arrival returns when the item with a number arrives.
func arrival(n int) time.Time { return start.Add(time.Duration(n) * every) }

// read simulates visits, until the last of Reads or the end of the stream, and measures lists of the judged items. Numbers
// of reads that the stream is too short for have the value of the last.
func (r *reader) read(stream, judged []Item) (newest float64, points []float64) {
	done := map[string]bool{} // opened, or passed over
	for now := window; now <= len(stream) && len(points) < len(Reads); now += perVisit {
		var candidates []int
		for n := now - 1; n >= now-window; n-- {
			if !done[stream[n].ID] {
				candidates = append(candidates, n)
			}
		}
		list := r.list(stream, candidates, arrival(now))
		var above []int
		for _, n := range list {
			for len(points) < len(Reads) && r.opened >= Reads[len(points)] {
				points = append(points, r.measure(judged))
			}
			i := stream[n]
			if !r.opens(i) {
				above = append(above, n)
				continue
			}
			r.opened++
			done[i.ID] = true
			r.model.Learn(i.ID, i.features, interest.Opened, arrival(now))
			for _, passed := range above {
				done[stream[passed].ID] = true
				r.model.Learn(stream[passed].ID, stream[passed].features, interest.Skipped, arrival(now))
			}
			above = nil
		}
	}
	for len(points) < len(Reads) {
		points = append(points, r.measure(judged))
	}
	return r.gainOf(judged, newestOf), points
}

// list returns what the reader sees of the items with the given numbers, newest first.
func (r *reader) list(items []Item, numbers []int, now time.Time) []int {
	candidates := make([]interest.Candidate, len(numbers))
	for k, n := range numbers {
		candidates[k] = interest.Candidate{Features: items[n].keys, Publisher: items[n].Document.Feed, Age: now.Sub(arrival(n))}
	}
	ranked := r.model.Rank(candidates, listed)
	list := make([]int, len(ranked))
	for k, s := range ranked {
		list[k] = numbers[s.Index]
	}
	return list
}

// newestOf returns the numbers of the newest items.
func newestOf(pool []Item) []int {
	var list []int
	for n := len(pool) - 1; n >= 0 && len(list) < listed; n-- {
		list = append(list, n)
	}
	return list
}

// measure returns the mean nDCG@20 of the model's lists.
func (r *reader) measure(judged []Item) float64 {
	return r.gainOf(judged, func(pool []Item) []int {
		numbers := make([]int, 0, len(pool))
		for n := len(pool) - 1; n >= 0; n-- {
			numbers = append(numbers, n)
		}
		return r.list(pool, numbers, arrival(len(pool)))
	})
}

// gainOf returns the mean nDCG@20 of lists. An item that the reader opens has a gain of 1.
func (r *reader) gainOf(judged []Item, list func(pool []Item) []int) float64 {
	sum, n := 0.0, 0
	size := min(poolSize, len(judged)/pools)
	for k := range pools {
		pool := judged[k*size : (k+1)*size]
		relevant := 0
		for _, i := range pool {
			if r.opens(i) {
				relevant++
			}
		}
		if relevant == 0 {
			continue
		}
		got, best := 0.0, 0.0
		for place, n := range list(pool) {
			if r.opens(pool[n]) {
				got += discount(place)
			}
		}
		for place := range min(relevant, listed) {
			best += discount(place)
		}
		sum += got / best
		n++
	}
	return sum / float64(cmp.Or(n, 1))
}

func discount(place int) float64 { return 1 / math.Log2(float64(place)+2) }
