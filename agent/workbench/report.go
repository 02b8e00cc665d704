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
	maxTopics  = 200  // the largest changes
	maxBusiest = 50   // rules with most matches
	maxNever   = 1000 // rules without matches
)

// A Report is the result of a back-test.
type Report struct {
	Items         int              `json:"items" doc:"Items tested, from the newest days."`
	Corrected     int              `json:"corrected" doc:"Items with manual corrections, whose labels stay. They count only in the matches of rules below."`
	Outdated      int              `json:"outdated" doc:"Items whose stored labels differ from those of the rules in force; applying the rules changes these too."`
	MicrosPerItem float64          `json:"micros_per_item" doc:"Processor time per item, in microseconds."`
	Effects       Effects          `json:"effects"`
	Categories    []Shift          `json:"categories" doc:"By name."`
	Topics        []Shift          `json:"topics" doc:"The 200 that change most, largest change first."`
	Samples       Samples          `json:"samples"`
	Busiest       []RuleCount      `json:"busiest" doc:"The 50 rules with most matches."`
	Never         []string         `json:"never" doc:"Rules that match no item, in the order of the set; at most 1,000."`
	NeverCount    int              `json:"never_count" doc:"Number of rules that match no item."`
	Conflicts     []Conflict       `json:"conflicts" doc:"Rules, and categories, that often match together and disagree."`
	Corrections   CorrectionReport `json:"said" doc:"Results on manually corrected items."`
}

// Effects counts the items that change. An item may count in several fields.
type Effects struct {
	Same   int `json:"same" doc:"Items that do not change."`
	Spam   int `json:"spam" doc:"Items that become spam."`
	Clean  int `json:"clean" doc:"Items that are no longer spam."`
	Gained int `json:"gained" doc:"Items that gain a category or topic."`
	Lost   int `json:"lost" doc:"Items that lose a category or topic."`
}

// A Shift is the number of items with a label before and after.
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
	Why    []string `json:"why" doc:"Reasons of the decision after; for a lost label, of the decision before."`
}

// Labelled is the labels of an item.
type Labelled struct {
	Spam       bool     `json:"spam,omitempty"`
	Categories []string `json:"categories" doc:"Best first."`
	Topics     []string `json:"topics"`
}

// A RuleCount is the number of items that a rule matches.
type RuleCount struct {
	Rule  string `json:"rule" doc:"File and line, such as devops.rules:4."`
	Items int    `json:"items"`
}

// A reporter collects decisions for a report.
type reporter struct {
	rules      []rule.Rule
	out        Report
	took       time.Duration
	categories map[string]*Shift
	topics     map[string]*Shift
	matches    map[string]int // items by the place of the rule
	conflicts  *conflictCounter
}

func newReporter(rules []rule.Rule) *reporter {
	return &reporter{
		rules: rules, categories: map[string]*Shift{}, topics: map[string]*Shift{},
		matches: map[string]int{}, conflicts: newConflictCounter(rules),
		out: Report{Samples: Samples{Spam: []Sample{}, Clean: []Sample{}, Gained: []Sample{}, Lost: []Sample{}}},
	}
}

// add counts an item.
func (r *reporter) add(item storage.Item, before classify.Decision, after timedDecision) {
	r.out.Items++
	r.took += after.took
	for _, f := range after.Matched {
		r.matches[f.Rule]++
	}
	if item.Corrected {
		r.out.Corrected++
		return
	}
	r.conflicts.add(after.Decision)
	was, is := labelled(before), labelled(after.Decision)
	if !was.equal(labelledAs(item)) {
		r.out.Outdated++
	}
	count(r.categories, was.Categories, is.Categories)
	count(r.topics, was.Topics, is.Topics)
	r.compare(Sample{ID: item.ID, FeedID: item.FeedID, Title: item.Title, URL: item.URL, Before: was, After: is}, before.Reasons, after.Reasons)
}

// compare records the changes of an item. whyBefore and whyAfter are the reasons of the decisions.
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

// report returns the report.
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
	out.Conflicts = r.conflicts.conflicts()
	return out
}

// busiest returns the rules with most matches.
func (r *reporter) busiest() []RuleCount {
	list := []RuleCount{}
	for at, n := range r.matches {
		list = append(list, RuleCount{at, n})
	}
	slices.SortFunc(list, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Rule, b.Rule))
	})
	return list[:min(len(list), maxBusiest)]
}

// never returns the first rules without matches, and their number.
func (r *reporter) never() (list []string, n int) {
	list = []string{}
	for _, rule := range r.rules {
		at := PlaceOf(rule)
		if r.matches[at] > 0 {
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

// lacks reports whether a name of want is missing in have.
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

// CorrectionReport compares rules with manual corrections.
type CorrectionReport struct {
	Items int             `json:"items" doc:"Corrected items compared, earliest correction first; at most 10,000."`
	Right int             `json:"right" doc:"Of these, the items whose labels agree with the correction: spam, the first category, the topics. Fields without a correction are ignored."`
	Wrong []Contradiction `json:"wrong" doc:"The 50 rules whose confident conclusions most often contradict corrections."`
}
