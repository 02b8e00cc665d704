package workbench

import (
	"cmp"
	"fmt"
	"slices"

	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/classify/rule"
)

// A conflict needs at least conflictItems items with both names, and conflictShare of the items of the rarer
// name.
const (
	conflictItems = 5
	conflictShare = 0.5

	maxConflicts   = 50      // of each kind
	maxPairedRules = 20      // rules of one item that are paired
	maxPairs       = 100_000 // counted
)

// PlaceOf returns the file and line of a rule as [classify.RuleMatch] names it.
func PlaceOf(r rule.Rule) string { return fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line) }

// conflictCounter counts rules and categories that match the same items.
type conflictCounter struct {
	concludes  map[string]string // category by the place of the rule
	rules      pairs
	categories pairs
}

// pairs counts the items of names and of pairs of names; the first name of a pair is the lower.
type pairs struct {
	alone map[string]int
	both  map[[2]string]int
}

func newConflictCounter(rules []rule.Rule) *conflictCounter {
	t := &conflictCounter{
		concludes:  map[string]string{},
		rules:      pairs{map[string]int{}, map[[2]string]int{}},
		categories: pairs{map[string]int{}, map[[2]string]int{}},
	}
	for _, r := range rules {
		if r.Action.Kind == rule.Conclude && r.Action.Name != "" {
			t.concludes[PlaceOf(r)] = r.Action.Name
		}
	}
	return t
}

// confident returns the places of the matching rules whose points alone reach the threshold of their category.
func (t *conflictCounter) confident(d classify.Decision) []string {
	var places []string
	for _, f := range d.Matched {
		if t.concludes[f.Rule] != "" && f.Points >= classify.Threshold {
			places = append(places, f.Rule)
		}
	}
	return places
}

// add counts the decision on an item.
func (t *conflictCounter) add(d classify.Decision) {
	if d.Guessed {
		return // decided by the model, not by rules
	}
	t.categories.add(d.Categories)
	t.rules.add(t.confident(d))
}

func (p *pairs) add(names []string) {
	names = slices.Sorted(slices.Values(names[:min(len(names), maxPairedRules)]))
	for i, a := range names {
		p.alone[a]++
		for _, b := range names[i+1:] {
			if at := [2]string{a, b}; len(p.both) < maxPairs || p.both[at] > 0 {
				p.both[at]++
			}
		}
	}
}

// conflicts returns the conflicts, most items first.
func (t *conflictCounter) conflicts() []wire.Conflict {
	found := t.categories.conflicts("categories", func(name string) string { return name })
	return append(found, t.rules.conflicts("rules", func(place string) string { return t.concludes[place] })...)
}

func (p *pairs) conflicts(kind string, categoryOf func(string) string) []wire.Conflict {
	found := []wire.Conflict{}
	for at, n := range p.both {
		c := wire.Conflict{Kind: kind, A: at[0], B: at[1], Categories: [2]string{categoryOf(at[0]), categoryOf(at[1])}, Items: n, Of: min(p.alone[at[0]], p.alone[at[1]])}
		if c.Categories[0] != c.Categories[1] && n >= conflictItems && float64(n) >= conflictShare*float64(c.Of) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b wire.Conflict) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return found[:min(len(found), maxConflicts)]
}
