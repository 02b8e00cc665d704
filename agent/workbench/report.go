package workbench

import (
	"cmp"
	"slices"
	"time"

	"feedmesh/agent/wire"
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

// A reporter collects decisions for a report.
type reporter struct {
	rules      []rule.Rule
	out        wire.Report
	took       time.Duration
	categories map[string]*wire.Shift
	topics     map[string]*wire.Shift
	matches    map[string]int // items by the place of the rule
	conflicts  *conflictCounter
}

func newReporter(rules []rule.Rule) *reporter {
	return &reporter{
		rules: rules, categories: map[string]*wire.Shift{}, topics: map[string]*wire.Shift{},
		matches: map[string]int{}, conflicts: newConflictCounter(rules),
		out: wire.Report{Samples: wire.Samples{Spam: []wire.Sample{}, Clean: []wire.Sample{}, Gained: []wire.Sample{}, Lost: []wire.Sample{}}},
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
	if !sameLabels(was, labelledAs(item)) {
		r.out.Outdated++
	}
	count(r.categories, was.Categories, is.Categories)
	count(r.topics, was.Topics, is.Topics)
	r.compare(wire.Sample{ID: item.ID, FeedID: item.FeedID, Title: item.Title, URL: item.URL, Before: was, After: is}, before.Reasons, after.Reasons)
	if differs(before, after.Decision) {
		r.out.Effects.Changed++
	} else {
		r.out.Effects.Same++
	}
}

// compare records the changes of an item. whyBefore and whyAfter are the reasons of the decisions.
func (r *reporter) compare(s wire.Sample, whyBefore, whyAfter []string) {
	e, samples := &r.out.Effects, &r.out.Samples
	note := func(is bool, n *int, of *[]wire.Sample, why []string) {
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
}

// report returns the report.
func (r *reporter) report() wire.Report {
	out := r.out
	if out.Items > 0 {
		out.MicrosPerItem = float64(r.took.Nanoseconds()) / 1000 / float64(out.Items)
	}
	out.Categories = shifts(r.categories, func(a, b wire.Shift) int { return cmp.Compare(a.Name, b.Name) })
	out.Topics = shifts(r.topics, func(a, b wire.Shift) int {
		return cmp.Or(cmp.Compare(change(b), change(a)), cmp.Compare(b.After, a.After), cmp.Compare(a.Name, b.Name))
	})
	out.Topics = out.Topics[:min(len(out.Topics), maxTopics)]
	out.Busiest = r.busiest()
	out.Never, out.NeverCount = r.never()
	out.Conflicts = r.conflicts.conflicts()
	return out
}

// busiest returns the rules with most matches.
func (r *reporter) busiest() []wire.RuleCount {
	list := []wire.RuleCount{}
	for at, n := range r.matches {
		list = append(list, wire.RuleCount{Rule: at, Items: n})
	}
	slices.SortFunc(list, func(a, b wire.RuleCount) int {
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
func change(s wire.Shift) int { return max(s.After-s.Before, s.Before-s.After) }

func shifts(by map[string]*wire.Shift, order func(a, b wire.Shift) int) []wire.Shift {
	list := make([]wire.Shift, 0, len(by))
	for _, s := range by {
		list = append(list, *s)
	}
	slices.SortFunc(list, order)
	return list
}

// count counts the labels of an item before and after.
func count(by map[string]*wire.Shift, before, after []string) {
	of := func(name string) *wire.Shift {
		if by[name] == nil {
			by[name] = &wire.Shift{Name: name}
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
func labelled(d classify.Decision) wire.Labelled {
	return wire.Labelled{Spam: d.Spam, Categories: list(d.Categories), Topics: list(d.Topics)}
}

// labelledAs returns how an item is labelled in the store.
func labelledAs(item storage.Item) wire.Labelled {
	return wire.Labelled{Spam: item.Spam, Categories: list(item.Categories), Topics: list(item.Topics)}
}

func sameLabels(a, b wire.Labelled) bool {
	return a.Spam == b.Spam && slices.Equal(a.Categories, b.Categories) && slices.Equal(a.Topics, b.Topics)
}
