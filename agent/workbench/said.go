package workbench

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"feedmesh/classify"
	"feedmesh/storage"
)

// maxSaid is how many corrections a back-test looks at.
const maxSaid = 10_000

// Said is how rules do on the items that people corrected.
type Said struct {
	Items int             `json:"items" doc:"How many were looked at, those corrected first; at most 10,000."`
	Right int             `json:"right" doc:"Of these, how many are labelled as the person said: spam or not, the first category, the topics; what nobody spoke of counts for nothing."`
	Wrong []Contradiction `json:"wrong" doc:"The 50 rules that most often say confidently what a person said is not so."`
}

// A Contradiction is a rule that concludes a category which people took away.
type Contradiction struct {
	Rule  string `json:"rule"`
	Says  string `json:"says" doc:"The category."`
	Items int    `json:"items" doc:"Corrected items where it is wrong."`
	Of    int    `json:"of" doc:"Those where it fires."`
}

// contradictions compares what after decides with what people said.
func (r *reporter) contradictions(ctx context.Context, store Store, lookup *feeds, after Decider) error {
	wrong := map[string]*Contradiction{}
	for from := (storage.Correction{}); r.out.Said.Items < maxSaid; {
		page, err := store.Corrections(ctx, from, pageSize)
		if err != nil || len(page) == 0 {
			r.out.Said.Wrong = worst(wrong)
			return err
		}
		from = page[len(page)-1]
		ids := make([]string, len(page))
		said := make(map[string]storage.Correction, len(page))
		for i, c := range page {
			ids[i], said[c.ItemID] = c.ItemID, c
		}
		items, err := store.Items(ctx, ids...)
		if err != nil {
			return err
		}
		decisions, err := judge(ctx, lookup, items, after)
		if err != nil {
			return err
		}
		for i, item := range items {
			r.hear(said[item.ID], decisions[i].Decision, wrong)
		}
	}
	r.out.Said.Wrong = worst(wrong)
	return nil
}

// hear compares a decision with what a person said of its item.
func (r *reporter) hear(said storage.Correction, d classify.Decision, wrong map[string]*Contradiction) {
	r.out.Said.Items++
	if agrees(said, d) {
		r.out.Said.Right++
	}
	if said.Categories == nil {
		return
	}
	for _, place := range r.together.confident(d) {
		c := wrong[place]
		if c == nil {
			c = &Contradiction{Rule: place, Says: r.together.concludes[place]}
			wrong[place] = c
		}
		if c.Of++; !slices.Contains(said.Categories, c.Says) {
			c.Items++
		}
	}
}

// agrees reports whether a decision is what a person said.
func agrees(said storage.Correction, d classify.Decision) bool {
	first := func(names []string) string {
		if len(names) == 0 {
			return ""
		}
		return names[0]
	}
	switch {
	case said.Spam != nil && *said.Spam != d.Spam,
		said.Categories != nil && first(said.Categories) != first(d.Categories),
		said.Topics != nil && (lacks(said.Topics, d.Topics) || lacks(d.Topics, said.Topics)):
		return false
	}
	return true
}

// worst returns the rules that are wrong most often.
func worst(wrong map[string]*Contradiction) []Contradiction {
	list := []Contradiction{}
	for c := range maps.Values(wrong) {
		if c.Items > 0 {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b Contradiction) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Rule, b.Rule))
	})
	return list[:min(len(list), maxBusiest)]
}
