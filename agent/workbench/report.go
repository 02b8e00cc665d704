package workbench

import (
	"cmp"
	"slices"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// Bounds of a report.
const (
	maxSamples = 20   // of each kind
	maxTopics  = 200  // those that change most
	maxBusiest = 50   // rules that fire most
	maxNever   = 1000 // rules that never fire
)

// A Report is what a back-test found.
type Report struct {
	Items         int        `json:"items" doc:"How many were looked at, those of the newest days."`
	Corrected     int        `json:"corrected" doc:"Of these, how many a person corrected: their labels stay. They count for nothing below but in rules that fire."`
	Outdated      int        `json:"outdated" doc:"Of these, how many are stored with other labels than the rules in force give: an apply changes them too."`
	MicrosPerItem float64    `json:"micros_per_item" doc:"Time to decide one, in microseconds of a processor."`
	Effects       Effects    `json:"effects"`
	Categories    []Shift    `json:"categories" doc:"By name."`
	Topics        []Shift    `json:"topics" doc:"The 200 that change most, those first."`
	Samples       Samples    `json:"samples"`
	Busiest       []Firing   `json:"busiest" doc:"The 50 rules that fire most."`
	Never         []string   `json:"never" doc:"Rules that held for none of the items, in the order of the set; at most 1,000."`
	NeverCount    int        `json:"never_count" doc:"How many such rules there are."`
	Conflicts     []Conflict `json:"conflicts" doc:"What often fires together and says different things."`
	Said          Said       `json:"said" doc:"How it does on what people corrected."`
}

// Effects says for how many items something changes. An item may count in
// several.
type Effects struct {
	Same   int `json:"same" doc:"Nothing changes."`
	Spam   int `json:"spam" doc:"It becomes spam."`
	Clean  int `json:"clean" doc:"It is spam no more."`
	Gained int `json:"gained" doc:"It gains a category or topic."`
	Lost   int `json:"lost" doc:"It loses one."`
}

// A Shift says how many items have a label before and after.
type Shift struct {
	Name   string `json:"name"`
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// Samples are items for which something changes, at most 20 of each kind.
type Samples struct {
	Spam   []Sample `json:"spam"`
	Clean  []Sample `json:"clean"`
	Gained []Sample `json:"gained"`
	Lost   []Sample `json:"lost"`
}

// A Sample is an item before and after.
type Sample struct {
	ID     string   `json:"id"`
	FeedID string   `json:"feed_id"`
	Title  string   `json:"title"`
	URL    string   `json:"url,omitempty"`
	Before Labelled `json:"before"`
	After  Labelled `json:"after"`
	Why    []string `json:"why" doc:"What decided it after; if it loses something, what decided it before."`
}

// Labelled is how an item is labelled.
type Labelled struct {
	Spam       bool     `json:"spam,omitempty"`
	Categories []string `json:"categories" doc:"Best first."`
	Topics     []string `json:"topics"`
}

// A Firing says for how many items a rule holds.
type Firing struct {
	Rule  string `json:"rule" doc:"Its place: devops.rules:4."`
	Items int    `json:"items"`
}

// A reporter adds up verdicts.
type reporter struct {
	rules      []rule.Rule
	out        Report
	took       time.Duration
	categories map[string]*Shift
	topics     map[string]*Shift
	fired      map[string]int // items by the place of the rule
	together   *together
}

func newReporter(rules []rule.Rule) *reporter {
	return &reporter{
		rules: rules, categories: map[string]*Shift{}, topics: map[string]*Shift{},
		fired: map[string]int{}, together: newTogether(rules),
		out: Report{Samples: Samples{Spam: []Sample{}, Clean: []Sample{}, Gained: []Sample{}, Lost: []Sample{}}},
	}
}

// add counts one more item.
func (r *reporter) add(item storage.Item, before classify.Decision, after judged) {
	r.out.Items++
	r.took += after.took
	for _, f := range after.Fired {
		r.fired[f.Rule]++
	}
	if item.Corrected {
		r.out.Corrected++
		return
	}
	r.together.add(after.Decision)
	was, is := labelled(before), labelled(after.Decision)
	if !was.equal(labelledAs(item)) {
		r.out.Outdated++
	}
	count(r.categories, was.Categories, is.Categories)
	count(r.topics, was.Topics, is.Topics)
	r.compare(Sample{ID: item.ID, FeedID: item.FeedID, Title: item.Title, URL: item.URL, Before: was, After: is}, before.Why, after.Why)
}

// compare notes what changes for an item. whyBefore and whyAfter are the reasons
// of the decisions.
func (r *reporter) compare(s Sample, whyBefore, whyAfter []string) {
	e, samples := &r.out.Effects, &r.out.Samples
	note := func(is bool, n *int, of *[]Sample, why []string) {
		if !is {
			return
		}
		if *n++; len(*of) < maxSamples {
			s.Why = list(why)
			*of = append(*of, s)
		}
	}
	gained := lacks(s.Before.Categories, s.After.Categories) || lacks(s.Before.Topics, s.After.Topics)
	lost := lacks(s.After.Categories, s.Before.Categories) || lacks(s.After.Topics, s.Before.Topics)
	note(s.After.Spam && !s.Before.Spam, &e.Spam, &samples.Spam, whyAfter)
	note(s.Before.Spam && !s.After.Spam, &e.Clean, &samples.Clean, whyBefore)
	note(gained, &e.Gained, &samples.Gained, whyAfter)
	note(lost, &e.Lost, &samples.Lost, whyBefore)
	if s.Before.Spam == s.After.Spam && !gained && !lost {
		e.Same++
	}
}

// report returns the sums.
func (r *reporter) report() Report {
	out := r.out
	if out.Items > 0 {
		out.MicrosPerItem = float64(r.took.Nanoseconds()) / 1000 / float64(out.Items)
	}
	out.Categories = shifts(r.categories, func(a, b Shift) int { return cmp.Compare(a.Name, b.Name) })
	out.Topics = shifts(r.topics, func(a, b Shift) int {
		return cmp.Or(cmp.Compare(b.change(), a.change()), cmp.Compare(b.After, a.After), cmp.Compare(a.Name, b.Name))
	})
	out.Topics = out.Topics[:min(len(out.Topics), maxTopics)]
	out.Busiest = r.busiest()
	out.Never, out.NeverCount = r.never()
	out.Conflicts = r.together.conflicts()
	return out
}

// busiest returns the rules that fire most, those first.
func (r *reporter) busiest() []Firing {
	list := []Firing{}
	for at, n := range r.fired {
		list = append(list, Firing{at, n})
	}
	slices.SortFunc(list, func(a, b Firing) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Rule, b.Rule))
	})
	return list[:min(len(list), maxBusiest)]
}

// never returns the first rules that held for nothing, and how many there are.
func (r *reporter) never() (list []string, n int) {
	list = []string{}
	for _, rule := range r.rules {
		at := PlaceOf(rule)
		if r.fired[at] > 0 {
			continue
		}
		if n++; len(list) < maxNever {
			list = append(list, at)
		}
	}
	return list, n
}

// change returns by how many items a label's count differs.
func (s Shift) change() int { return max(s.After-s.Before, s.Before-s.After) }

func shifts(by map[string]*Shift, order func(a, b Shift) int) []Shift {
	list := make([]Shift, 0, len(by))
	for _, s := range by {
		list = append(list, *s)
	}
	slices.SortFunc(list, order)
	return list
}

// count counts the labels of an item before and after.
func count(by map[string]*Shift, before, after []string) {
	of := func(name string) *Shift {
		if by[name] == nil {
			by[name] = &Shift{Name: name}
		}
		return by[name]
	}
	for _, name := range before {
		of(name).Before++
	}
	for _, name := range after {
		of(name).After++
	}
}

// lacks reports whether have lacks one of want.
func lacks(have, want []string) bool {
	return slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(have, name) })
}

// labelled returns how a decision labels an item.
func labelled(d classify.Decision) Labelled {
	return Labelled{d.Spam, list(d.Categories), list(d.Topics)}
}

// labelledAs returns how an item is labelled in the store.
func labelledAs(item storage.Item) Labelled {
	return Labelled{item.Spam, list(item.Categories), list(item.Topics)}
}

func (l Labelled) equal(other Labelled) bool {
	return l.Spam == other.Spam && slices.Equal(l.Categories, other.Categories) && slices.Equal(l.Topics, other.Topics)
}
