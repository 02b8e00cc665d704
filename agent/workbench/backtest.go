package workbench

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// Bounds of a back-test.
const (
	MaxItems     = 100_000 // that one looks at
	DefaultItems = 2_000
	pageSize     = 200 // items in hand at once
)

// A Trial is a back-test to be made.
type Trial struct {
	Before, After Decider
	Rules         []rule.Rule // those of After; nil if it has none
	Items         int         // how many of the newest to look at: 1 to MaxItems
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// Backtest has both deciders decide the newest items of the store, and reports
// what would become of them. It changes nothing, and has at most pageSize items
// in memory. It ends with ctx's error if ctx does.
func Backtest(ctx context.Context, store Store, t Trial) (Report, error) {
	r := newReporter(t.Rules)
	lookup := &feeds{store: store}
	left := min(max(t.Items, 1), MaxItems)
	err := walk(ctx, store, place{}, pageSize, func(items []storage.Item, _ place) error {
		items = items[:min(len(items), left)]
		decisions, err := judge(ctx, lookup, items, t.Before, t.After)
		if err != nil {
			return err
		}
		for i, item := range items {
			r.add(item, decisions[i].Decision, decisions[len(items)+i])
		}
		if left -= len(items); left == 0 {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return Report{}, fmt.Errorf("back-test: %w", err)
	}
	if err := r.contradictions(ctx, store, lookup, t.After); err != nil {
		return Report{}, fmt.Errorf("back-test on what people corrected: %w", err)
	}
	return r.report(), nil
}
