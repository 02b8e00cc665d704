package measure

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"feedmesh/classify/story"
)

// Methods are the names of the methods, ours first.
func Methods() []string { return []string{"ours", "single-pass", "components", "kmeans", "chains"} }

// A Report is the result of a method on records in an order.
type Report struct {
	Method string   `json:"method"`
	Order  string   `json:"order"` // "arrival" or "shuffled"
	Events *Figures `json:"events,omitempty"`
	Figures
	Periods []Period      `json:"periods,omitempty"` // if records have days
	P50     time.Duration `json:"p50"`               // per item; the mean for methods that process all items in one batch
	P99     time.Duration `json:"p99"`
	Bytes   int           `json:"bytes"` // per stored item; 0 for methods without state
}

// Run groups records with a method, in order of arrival and shuffled, and returns its quality. w are the
// weights of our method. It panics if no method has that name.
func Run(method string, w story.Weights, records []Record) []Report {
	var list []Report
	for _, order := range []string{"arrival", "shuffled"} {
		r := Report{Method: method, Order: order}
		if order == "shuffled" {
			records = shuffled(records)
		}
		if method == "ours" {
			r.ours(w, records)
		} else {
			r.rival(records)
		}
		list = append(list, r)
	}
	return list
}

// Ours groups records with our method in order of arrival, and returns its quality.
func Ours(w story.Weights, records []Record) Report {
	r := Report{Method: "ours", Order: "arrival"}
	r.ours(w, records)
	return r
}

// maxBatch bounds a batch of items for methods that compare all pairs.
const maxBatch = 5000

// batches splits records for methods without expiry: a small set is one batch, a large set one batch a day.
func batches(records []Record) [][]Record {
	if len(records) <= maxBatch {
		return [][]Record{records}
	}
	return days(records)
}

// rival groups records with one of the other methods.
func (r *Report) rival(records []Record) {
	began := time.Now()
	if r.Method == "single-pass" {
		events, stories := singlePass(records)
		f := compare(records, names(events))
		r.Events = &f
		r.evaluate(records, names(stories))
	} else {
		var stories []string
		for n, batch := range batches(records) {
			for _, cluster := range names(r.batch(batch)) {
				stories = append(stories, fmt.Sprint(n, " ", cluster))
			}
		}
		r.evaluate(records, stories)
	}
	r.P50 = time.Since(began) / time.Duration(max(1, len(records)))
	r.P99 = r.P50
}

func (r *Report) batch(records []Record) []int {
	switch r.Method {
	case "components":
		return components(records)
	case "kmeans":
		return kmeans(records)
	case "chains":
		return chains(records)
	}
	panic("measure: there is no method " + r.Method)
}

func names(clusters []int) []string {
	list := make([]string, len(clusters))
	for i, c := range clusters {
		list[i] = strconv.Itoa(c)
	}
	return list
}

// A Period is the quality of a grouping within periods of days: a story, or a cluster, is another one in each period.
type Period struct {
	Days   int   `json:"days"` // 0: one period
	BCubed Score `json:"bcubed"`
}

// periods are the lengths of the periods in which sets with days are evaluated, in days.
var periods = []int{1, 3, 0}

// evaluate compares clusters with stories, and sets the report's figures.
func (r *Report) evaluate(records []Record, clusters []string) {
	r.Figures = compare(records, clusters)
	if len(records) == 0 || records[0].Day == records[len(records)-1].Day {
		return
	}
	for _, days := range periods {
		r.Periods = append(r.Periods, Period{days, compareWithin(records, clusters, days).BCubed})
	}
}

// compare compares clusters with stories, of large sets per day.
func compare(records []Record, clusters []string) Figures {
	days := 0
	if len(records) > maxBatch {
		days = 1
	}
	return compareWithin(records, clusters, days)
}

// compareWithin compares clusters with stories within periods of days; 0 stands for one period.
func compareWithin(records []Record, clusters []string, days int) Figures {
	stories, parts := make([]string, len(records)), make([]string, len(records))
	for i, record := range records {
		period := ""
		if at, err := time.Parse(time.DateOnly, record.Day); err == nil && days > 0 {
			period = fmt.Sprint(" ", at.Unix()/int64(days*24*3600))
		}
		stories[i], parts[i] = record.Story+period, clusters[i]+period
	}
	return Compare(stories, parts)
}

// ours groups as the agent does: item by item, with passes by interval.
func (r *Report) ours(w story.Weights, records []Record) {
	c := story.New(w, story.DefaultLimits(), story.IDs{})
	g := grouping{Clusters: c, story: make(map[string]string)}
	events := make([]string, len(records))
	times := make([]time.Duration, len(records))
	for i, record := range records {
		began := time.Now()
		placed := c.Place(record.Item)
		times[i] = time.Since(began)
		events[i] = placed.EventID
		g.story[placed.EventID] = placed.StoryID
		g.tick(record.Seen)
	}
	if len(records) > 0 {
		g.tick(records[len(records)-1].Seen.Add(time.Hour))
	}
	if live, _, _ := c.Len(); live > 0 {
		with := heap()
		c, g.Clusters = nil, nil
		r.Bytes = int(with-heap()) / live
	}
	stories := make([]string, len(records))
	for i, id := range events {
		stories[i] = g.story[id]
	}
	f := compare(records, events)
	r.Events = &f
	r.evaluate(records, stories)
	slices.Sort(times)
	if len(times) > 0 {
		r.P50, r.P99 = times[len(times)/2], times[len(times)*99/100]
	}
}

// grouping tracks the stories of events.
type grouping struct {
	*story.Clusters
	story map[string]string // last story, by event
}

func (g *grouping) tick(now time.Time) {
	for _, change := range g.Tick(now) {
		for _, id := range change.Events {
			g.story[id] = change.Into
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// PairReport is the quality of predicting whether two items are of one story.
type PairReport struct {
	Language string `json:"language"`
	Pairs    int    `json:"pairs"`
	Same     int    `json:"same"` // pairs of one story
	Score
}

// RunPairs places the items of all pairs in order, separately for each language, and evaluates which pairs
// are predicted to be of one story.
func RunPairs(w story.Weights, pairs []Pair) []PairReport {
	byLanguage := make(map[string][]Pair)
	var languages []string
	for _, p := range pairs {
		if _, ok := byLanguage[p.A.Language]; !ok {
			languages = append(languages, p.A.Language)
		}
		byLanguage[p.A.Language] = append(byLanguage[p.A.Language], p)
	}
	slices.Sort(languages)
	total := counted{}
	var list []PairReport
	for _, language := range languages {
		c := judge(w, byLanguage[language])
		total.pairs, total.same, total.predicted, total.right = total.pairs+c.pairs, total.same+c.same, total.predicted+c.predicted, total.right+c.right
		list = append(list, c.report(language))
	}
	return append(list, total.report("all"))
}

type counted struct{ pairs, same, predicted, right int }

func (c counted) report(language string) PairReport {
	return PairReport{language, c.pairs, c.same, scored(share(c.right, c.predicted), share(c.right, c.same))}
}

func judge(w story.Weights, pairs []Pair) counted {
	c := story.New(w, story.DefaultLimits(), story.IDs{})
	g := grouping{Clusters: c, story: make(map[string]string)}
	place := func(item story.Item, at int) string {
		item.Seen = undated.Add(time.Duration(at) * time.Minute)
		placed := c.Place(item)
		g.story[placed.EventID] = placed.StoryID
		g.tick(item.Seen)
		return placed.EventID
	}
	events := make([][2]string, len(pairs))
	for i, p := range pairs {
		events[i] = [2]string{place(p.A, 2*i), place(p.B, 2*i+1)}
	}
	g.tick(undated.Add(time.Duration(2*len(pairs)+60) * time.Minute))
	n := counted{pairs: len(pairs)}
	for i, p := range pairs {
		predicted := g.story[events[i][0]] == g.story[events[i][1]]
		if p.Same {
			n.same++
		}
		if predicted {
			n.predicted++
		}
		if p.Same && predicted {
			n.right++
		}
	}
	return n
}
