package workbench

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/agent/wire"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// Bounds of a back-test.
const (
	MaxItems  = 100_000 // maximum items of a back-test
	batchSize = 200     // items of a batch
)

// A Trial is the input of a back-test.
type Trial struct {
	Before, After Decider
	Rules         []rule.Rule // those of After; nil if it has none
	Items         int         // newest items to check: 1 to MaxItems
}

// errStop ends a scan early.
var errStop = errors.New("enough")

// Backtest decides the newest items of the store with both deciders, and reports the differences. It changes
// nothing, and holds one batch of items in memory. It returns ctx's error when ctx ends.
func Backtest(ctx context.Context, store Store, t Trial) (wire.Report, error) {
	r := newReporter(t.Rules)
	lookup := &feedCache{store: store}
	left := min(max(t.Items, 1), MaxItems)
	err := scan(ctx, store, place{}, batchSize, func(items []storage.Item, _ place) error {
		items = items[:min(len(items), left)]
		decisions, err := decideAll(ctx, lookup, items, t.Before, t.After)
		if err != nil {
			return err
		}
		for i, item := range items {
			r.add(item, decisions[i].Decision, decisions[len(items)+i])
		}
		if left -= len(items); left == 0 {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return wire.Report{}, fmt.Errorf("back-test: %w", err)
	}
	if err := r.contradictions(ctx, store, lookup, t.After); err != nil {
		return wire.Report{}, fmt.Errorf("back-test on corrections: %w", err)
	}
	return r.report(), nil
}
