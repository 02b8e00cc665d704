// Package reconcile finds out where an index differs from the store it is made
// from, and queues those items to be indexed as they are in the store. It reads
// their stamps, day by day, and never an item.
package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// A State says what the index has of an item.
type State string

// The states.
const (
	Same    State = "same"
	Missing State = "missing" // it is in the store only
	Stale   State = "stale"   // the index has it in another form
	Surplus State = "surplus" // it is in the index only
)

// An Item is one that the store has, or the index, or both.
type Item struct {
	ID      string
	State   State
	Changed time.Time // the later one, if both have it
}

// A Day says how many items of a day there are on both sides.
type Day struct {
	Start           time.Time
	Stored, Indexed int64
}

// Days returns the days that either has items of, newest first.
func Days(ctx context.Context, store, index storage.Stamped) ([]Day, error) {
	stored, err := store.Days(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the index with the store: %w", err)
	}
	indexed, err := index.Days(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the index with the store: %w", err)
	}
	all := map[time.Time]Day{}
	for start, n := range stored {
		all[start] = Day{Start: start, Stored: n}
	}
	for start, n := range indexed {
		all[start] = Day{Start: start, Stored: stored[start], Indexed: n}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Day) int { return b.Start.Compare(a.Start) }), nil
}

// MaxIDs is the most items that a task has. What is new waits behind those tasks of
// an index that is made anew which are queued already: so they are small.
const MaxIDs = 100

// Queue compares the days and publishes tasks that index those of their items
// which are wanted, in the order of the days. why names the tasks; it must be
// another each time. What it reads may change meanwhile: then it may want an item
// for nothing, which is harmless, or miss one that only now differs.
func Queue(ctx context.Context, store, index storage.Stamped, days []Day, why string,
	wanted func(Item) (bool, error), publish func(context.Context, subjects.Index) error) error {
	var ids []string
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		task := subjects.Index{Why: why, IDs: ids}
		ids = nil
		return publish(ctx, task)
	}
	for _, day := range days {
		for item, err := range compare(ctx, store, index, day.Start) {
			if err != nil {
				return fmt.Errorf("compare the index with the store: %w", err)
			}
			if is, err := wanted(item); err != nil {
				return err
			} else if !is {
				continue
			}
			if ids = append(ids, item.ID); len(ids) == MaxIDs {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// compare yields the items of a day, by ID. It stops at the first error and
// yields it.
func compare(ctx context.Context, store, index storage.Stamped, day time.Time) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		stored, indexed := &walk{of: store, day: day}, &walk{of: index, day: day}
		for {
			if err := errors.Join(stored.fill(ctx), indexed.fill(ctx)); err != nil {
				yield(Item{}, err)
				return
			}
			if len(stored.page) == 0 && len(indexed.page) == 0 {
				return
			}
			if !yield(next(stored, indexed), nil) {
				return
			}
		}
	}
}

// next takes the item with the lowest ID from both walks, one of which is not at
// its end.
func next(stored, indexed *walk) Item {
	order := 0
	switch {
	case len(indexed.page) == 0:
		order = -1
	case len(stored.page) == 0:
		order = 1
	default:
		order = cmp.Compare(stored.page[0].ID, indexed.page[0].ID)
	}
	switch {
	case order < 0:
		s := stored.take()
		return Item{s.ID, Missing, s.Changed}
	case order > 0:
		s := indexed.take()
		return Item{s.ID, Surplus, s.Changed}
	}
	a, b := stored.take(), indexed.take()
	switch a.Changed.Compare(b.Changed) {
	case 0:
		return Item{a.ID, Same, a.Changed}
	case -1:
		return Item{a.ID, Stale, b.Changed}
	}
	return Item{a.ID, Stale, a.Changed}
}

// A walk goes over the stamps of a day, page by page.
type walk struct {
	of    storage.Stamped
	day   time.Time
	page  []storage.Stamp // what is left of it
	after string          // last ID taken
	ended bool
}

// fill reads the next page if there is nothing left of this one.
func (w *walk) fill(ctx context.Context) (err error) {
	const size = 1000
	if len(w.page) > 0 || w.ended {
		return nil
	}
	w.page, err = w.of.Stamps(ctx, w.day, w.after, size)
	w.ended = len(w.page) < size
	return err
}

func (w *walk) take() storage.Stamp {
	s := w.page[0]
	w.page, w.after = w.page[1:], s.ID
	return s
}
