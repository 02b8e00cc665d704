package workbench

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/storage"
)

// maxCorrections is the maximum number of corrections that a back-test reads.
const maxCorrections = 10_000

// contradictions compares the decisions of after with the corrections.
func (r *reporter) contradictions(ctx context.Context, store Store, lookup *feedCache, after Decider) error {
	wrong := map[string]*wire.Contradiction{}
	for from := (storage.Correction{}); r.out.Corrections.Items < maxCorrections; {
		page, err := store.Corrections(ctx, from, batchSize)
		if err != nil || len(page) == 0 {
			r.out.Corrections.Wrong = worst(wrong)
			return err
		}
		from = page[len(page)-1]
		ids := make([]string, len(page))
		correction := make(map[string]storage.Correction, len(page))
		for i, c := range page {
			ids[i], correction[c.ItemID] = c.ItemID, c
		}
		items, err := store.Items(ctx, ids...)
		if err != nil {
			return err
		}
		decisions, err := decideAll(ctx, lookup, items, after)
		if err != nil {
			return err
		}
		for i, item := range items {
			r.compareCorrection(correction[item.ID], decisions[i].Decision, wrong)
		}
	}
	r.out.Corrections.Wrong = worst(wrong)
	return nil
}

// compareCorrection compares a decision with the correction of its item.
func (r *reporter) compareCorrection(correction storage.Correction, d classify.Decision, wrong map[string]*wire.Contradiction) {
	r.out.Corrections.Items++
	if agrees(correction, d) {
		r.out.Corrections.Right++
	}
	if correction.Categories == nil {
		return
	}
	for _, place := range r.conflicts.confident(d) {
		c := wrong[place]
		if c == nil {
			c = &wire.Contradiction{Rule: place, Category: r.conflicts.concludes[place]}
			wrong[place] = c
		}
		if c.Of++; !slices.Contains(correction.Categories, c.Category) {
			c.Items++
		}
	}
}

// agrees reports whether a decision agrees with a correction.
func agrees(correction storage.Correction, d classify.Decision) bool {
	first := func(names []string) string {
		if len(names) == 0 {
			return ""
		}
		return names[0]
	}
	switch {
	case correction.Spam != nil && *correction.Spam != d.Spam,
		correction.Categories != nil && first(correction.Categories) != first(d.Categories),
		correction.Topics != nil && (lacks(correction.Topics, d.Topics) || lacks(d.Topics, correction.Topics)):
		return false
	}
	return true
}

// worst returns the rules that are wrong most often.
func worst(wrong map[string]*wire.Contradiction) []wire.Contradiction {
	list := []wire.Contradiction{}
	for c := range maps.Values(wrong) {
		if c.Items > 0 {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b wire.Contradiction) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Rule, b.Rule))
	})
	return list[:min(len(list), maxBusiest)]
}
