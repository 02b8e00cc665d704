package workbench

import (
	"cmp"
	"fmt"
	"slices"

	"feedmesh/classify"
	"feedmesh/classify/rule"
)

// What counts as a conflict: two that fire for so many items, and for so large a
// part of the items of the rarer one.
const (
	conflictItems = 5
	conflictPart  = 0.5

	maxConflicts = 50      // of each kind
	maxTogether  = 20      // rules of one item that are paired
	maxPairs     = 100_000 // that are counted
)

// A Conflict is two categories, or two rules for different ones, that often meet
// in one item, each confident. They may be right all the same: a rule of one may
// lack an exception, or one category is a part of the other.
type Conflict struct {
	Kind  string    `json:"kind" enum:"categories,rules"`
	A     string    `json:"a" doc:"Name of a category, or place of a rule."`
	B     string    `json:"b"`
	Says  [2]string `json:"says" doc:"The categories."`
	Items int       `json:"items" doc:"How many have both."`
	Of    int       `json:"of" doc:"How many have the rarer one."`
}

// PlaceOf returns the place of a rule as [classify.Fired] names it.
func PlaceOf(r rule.Rule) string { return fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line) }

// together counts what is concluded of one item.
type together struct {
	concludes  map[string]string // category by the place of the rule
	rules      pairs
	categories pairs
}

// pairs counts names by items, and pairs of them, the first one lower.
type pairs struct {
	alone map[string]int
	both  map[[2]string]int
}

func newTogether(rules []rule.Rule) *together {
	t := &together{
		concludes:  map[string]string{},
		rules:      pairs{map[string]int{}, map[[2]string]int{}},
		categories: pairs{map[string]int{}, map[[2]string]int{}},
	}
	for _, r := range rules {
		if r.Then.Do == rule.Conclude && r.Then.Name != "" {
			t.concludes[PlaceOf(r)] = r.Then.Name
		}
	}
	return t
}

// confident returns the places of rules that would each have made its category
// the document's alone.
func (t *together) confident(d classify.Decision) []string {
	var places []string
	for _, f := range d.Fired {
		if t.concludes[f.Rule] != "" && f.Points >= classify.Threshold {
			places = append(places, f.Rule)
		}
	}
	return places
}

// add counts what was decided of an item.
func (t *together) add(d classify.Decision) {
	if d.Guessed {
		return // the rules had no say
	}
	t.categories.add(d.Categories)
	t.rules.add(t.confident(d))
}

func (p *pairs) add(names []string) {
	names = slices.Sorted(slices.Values(names[:min(len(names), maxTogether)]))
	for i, a := range names {
		p.alone[a]++
		for _, b := range names[i+1:] {
			if at := [2]string{a, b}; len(p.both) < maxPairs || p.both[at] > 0 {
				p.both[at]++
			}
		}
	}
}

// conflicts returns the conflicts, those of most items first.
func (t *together) conflicts() []Conflict {
	found := t.categories.conflicts("categories", func(name string) string { return name })
	return append(found, t.rules.conflicts("rules", func(place string) string { return t.concludes[place] })...)
}

func (p *pairs) conflicts(kind string, says func(string) string) []Conflict {
	found := []Conflict{}
	for at, n := range p.both {
		c := Conflict{kind, at[0], at[1], [2]string{says(at[0]), says(at[1])}, n, min(p.alone[at[0]], p.alone[at[1]])}
		if c.Says[0] != c.Says[1] && n >= conflictItems && float64(n) >= conflictPart*float64(c.Of) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return found[:min(len(found), maxConflicts)]
}
