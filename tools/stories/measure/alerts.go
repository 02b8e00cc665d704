package measure

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"feedmesh/classify/story"
)

const (
	// LargeStory is the number of publishers from which a story is large: alerts of others are false.
	LargeStory = 20

	alertWithin = 15 * time.Minute // from the third publisher
	learnTime   = 24 * time.Hour   // without alerts, as in agents

	// arrivalMean is the mean time from the first item of a story on a day to the others, where arrivals are drawn.
	arrivalMean = 2 * time.Hour
)

// An AlertReport reports how soon alerts of large stories are sent, and how many are false.
type AlertReport struct {
	Arrival string        `json:"arrival"` // "even" within the day, or "drawn": soon after an event at a random time
	Alert   string        `json:"alert"`   // its condition
	Large   int           `json:"large"`   // stories of LargeStory publishers in the set
	InTime  int           `json:"in_time"` // of these, alerted within 15 minutes of their third publisher
	Alerted int           `json:"alerted"` // of these, alerted at any time
	P50     time.Duration `json:"p50"`     // from the third publisher to the alert of those; below zero: before it
	Alerts  int           `json:"alerts"`
	Repeats int           `json:"repeats"` // further alerts of a large story
	False   int           `json:"false"`   // alerts of other stories
	Days    float64       `json:"days"`
}

// Alerts groups records with our method as they arrive, evaluates conditions of alerts every 5 minutes, and compares the alerts with
// the labelled stories: an alert is of the story of most items of its cluster. Records must have days; within a day their
// times are unknown, so that two ways to assume them are reported. Without days it returns nothing.
func Alerts(w story.Weights, records []Record) (reports []AlertReport) {
	if len(records) == 0 || records[0].Day == "" {
		return nil
	}
	for _, arrival := range []string{"even", "drawn"} {
		stream := slices.Clone(records)
		if arrival == "drawn" {
			drawArrivals(stream)
		}
		a := alerter{
			grouping: grouping{Clusters: story.New(w, story.DefaultLimits(), story.IDs{}), story: make(map[string]string)},
			bursts:   map[string]*story.Burst{}, states: map[string]*labelState{},
		}
		for _, n := range []int{3, 5, 10} {
			a.conditions = append(a.conditions, &condition{name: fmt.Sprintf("story reaches %d publishers", n), publishers: n, alerted: map[string]bool{}})
		}
		burst := &condition{name: "burst of a story", isBurst: true}
		several := &condition{name: "burst, from 3 publishers on", isBurst: true, publishers: 3, alerted: map[string]bool{}}
		a.conditions = append(a.conditions, burst, several)
		a.run(stream)
		for _, c := range a.conditions {
			reports = append(reports, a.report(arrival, c, stream))
		}
	}
	return reports
}

// drawArrivals gives each story an event at a random time of each day, and its items of the day times after it, of an exponential
// distribution as far as the day lasts.
func drawArrivals(records []Record) {
	random := rand.New(rand.NewPCG(1, 2))
	events := map[string]time.Duration{}
	for i := range records {
		r := &records[i]
		day := r.Seen.Truncate(24 * time.Hour)
		key := r.Day + " " + r.Story
		at, is := events[key]
		if !is {
			at = time.Duration(random.Float64() * float64(23*time.Hour))
			events[key] = at
		}
		left := float64(24*time.Hour - at)
		share := 1 - math.Exp(-left/float64(arrivalMean)) // of the distribution that is within the day
		r.Seen = day.Add(at + time.Duration(-math.Log(1-random.Float64()*share)*float64(arrivalMean)))
	}
	slices.SortStableFunc(records, func(a, b Record) int { return a.Seen.Compare(b.Seen) })
}

// A condition is when an alert is sent, with the alerts that were.
type condition struct {
	name       string
	isBurst    bool
	publishers int
	alerted    map[string]bool // events of stories that had an alert; nil: each begin of a burst is one

	first                  map[string]time.Time // by label of a large story
	alerts, repeats, other int
}

// A labelState is what a labelled story had so far.
type labelState struct {
	publishers map[string]bool
	third      time.Time // when its third publisher had an item
}

// An alerter evaluates conditions over a stream of records.
type alerter struct {
	grouping
	items      []alertItem // of the window
	bursts     map[string]*story.Burst
	conditions []*condition
	states     map[string]*labelState // by label
}

type alertItem struct {
	event, source, label string
	seen                 time.Time
}

// run places the records, and evaluates the conditions at the end of each bin.
func (a *alerter) run(records []Record) {
	for _, r := range records {
		l := a.states[r.Story]
		if l == nil {
			l = &labelState{publishers: map[string]bool{}}
			a.states[r.Story] = l
		}
		if l.publishers[r.Host] = true; len(l.publishers) == 3 && l.third.IsZero() {
			l.third = r.Seen
		}
	}
	start := records[0].Seen.Truncate(story.BurstBin)
	for bin, i := start, 0; i < len(records); bin = bin.Add(story.BurstBin) {
		end := bin.Add(story.BurstBin)
		for ; i < len(records) && records[i].Seen.Before(end); i++ {
			r := records[i]
			placed := a.Place(r.Item)
			a.story[placed.EventID] = placed.StoryID
			a.items = append(a.items, alertItem{placed.EventID, r.Host, r.Story, r.Seen})
			a.tick(r.Seen)
		}
		a.evaluate(bin, end, bin.Sub(start) < learnTime)
	}
}

// A cluster is a story of ours at the end of a bin.
type cluster struct {
	events, sources map[string]bool
	labels          map[string]int
	items, new      int // of the window; of the bin
}

// label returns the story of most of its items.
func (c *cluster) label() (label string) {
	for name, n := range c.labels {
		if n > c.labels[label] || n == c.labels[label] && name < label {
			label = name
		}
	}
	return label
}

// evaluate compares the stories that have items in a bin with the conditions.
func (a *alerter) evaluate(bin, end time.Time, isLearning bool) {
	window := story.DefaultLimits().Window
	a.items = slices.DeleteFunc(a.items, func(i alertItem) bool { return end.Sub(i.seen) > window })
	clusters := map[string]*cluster{}
	all := 0
	for _, i := range a.items {
		id := a.story[i.event]
		c := clusters[id]
		if c == nil {
			c = &cluster{events: map[string]bool{}, sources: map[string]bool{}, labels: map[string]int{}}
			clusters[id] = c
		}
		c.events[i.event], c.sources[i.source] = true, true
		c.labels[i.label]++
		if c.items++; !i.seen.Before(bin) {
			c.new++
			all++
		}
	}
	starts := map[string]bool{}
	for id, c := range clusters {
		if a.bursts[id] == nil && c.items >= 3 {
			a.bursts[id] = &story.Burst{}
		}
	}
	for id, b := range a.bursts {
		c := clusters[id]
		if c == nil { // expired, or part of another story
			delete(a.bursts, id)
			continue
		}
		if isLearning {
			b.Learn(c.new, all)
		} else if is, _ := b.Add(c.new, all, 1/float64(len(a.bursts))); is {
			starts[id] = true
		}
	}
	for id, c := range clusters {
		if c.new == 0 {
			continue
		}
		for _, condition := range a.conditions {
			a.compare(condition, id, c, starts[id], end, isLearning)
		}
	}
}

// compare counts an alert if a condition holds for a story that had none.
func (a *alerter) compare(n *condition, id string, c *cluster, starts bool, at time.Time, isLearning bool) {
	isOn := starts
	if n.alerted != nil { // once for each story
		isOn = !n.isBurst || a.bursts[id] != nil && a.bursts[id].On
		for event := range c.events {
			isOn = isOn && !n.alerted[event]
		}
	}
	if !isOn || len(c.sources) < n.publishers {
		return
	}
	if n.alerted != nil {
		for event := range c.events {
			n.alerted[event] = true
		}
	}
	if isLearning {
		return
	}
	label := c.label()
	n.alerts++
	switch _, is := n.first[label]; {
	case len(a.states[label].publishers) < LargeStory:
		n.other++
	case is:
		n.repeats++
	default:
		if n.first == nil {
			n.first = map[string]time.Time{}
		}
		n.first[label] = at
	}
}

// report compares the alerts of a condition with the large stories, without those that began while rates were learned.
func (a *alerter) report(arrival string, n *condition, records []Record) AlertReport {
	start, end := records[0].Seen.Add(learnTime), records[len(records)-1].Seen
	r := AlertReport{Arrival: arrival, Alert: n.name, Alerts: n.alerts, Repeats: n.repeats, False: n.other, Days: end.Sub(start).Hours() / 24}
	var delays []time.Duration
	for label, l := range a.states {
		if len(l.publishers) < LargeStory || l.third.Before(start) {
			continue
		}
		r.Large++
		at, is := n.first[label]
		if !is {
			continue
		}
		delay := at.Sub(l.third)
		if delays = append(delays, delay); delay <= alertWithin {
			r.InTime++
		}
	}
	slices.Sort(delays)
	if r.Alerted = len(delays); r.Alerted > 0 {
		r.P50 = delays[len(delays)/2]
	}
	return r
}

// PrintAlerts writes reports for people.
func PrintAlerts(w io.Writer, reports []AlertReport) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tabs, "ARRIVAL\tALERT\tLARGE STORIES\tIN TIME\tALERTED\tP50\tFALSE A DAY\tREPEATS A DAY\t")
	for _, r := range reports {
		days := cmp.Or(r.Days, 1)
		fmt.Fprintf(tabs, "%s\t%s\t%d\t%s %%\t%s %%\t%.1f h\t%.1f\t%.1f\t\n", r.Arrival, r.Alert, r.Large, percent(share(r.InTime, r.Large)),
			percent(share(r.Alerted, r.Large)), r.P50.Hours(), float64(r.False)/days, float64(r.Repeats)/days)
	}
	tabs.Flush()
}
