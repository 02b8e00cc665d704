// Package reconcile compares an index with its store and queues differing items for indexing. It reads only
// item stamps, day by day and page by page, so memory does not grow with the number of items. [Days] compares
// counts, [Queue] compares items.
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

// A State classifies an item by its presence in store and index.
type State string

// The states.
const (
	Same    State = "same"
	Missing State = "missing" // in the store only
	Stale   State = "stale"   // different revisions in store and index
	Surplus State = "surplus" // in the index only
)

// An Item is the result of comparing one item.
type Item struct {
	ID      string
	State   State
	Changed time.Time // the later time if both have the item
}

// A Day contains the item counts of a day on both sides.
type Day struct {
	Start           time.Time
	Stored, Indexed int64
}

// Begin divides an index that has parts by the days of the stored items, and returns the days on which store or index have items,
// newest first.
func Begin(ctx context.Context, store, index storage.StampReader, now time.Time) ([]Day, error) {
	stored, err := store.Days(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the index with the store: %w", err)
	}
	if divided, is := index.(storage.DividedIndex); is {
		if err := divided.Divide(ctx, stored, now); err != nil {
			return nil, fmt.Errorf("compare the index with the store: %w", err)
		}
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

// MaxIDs bounds the items of a task. During a rebuild new items wait behind the tasks already queued, so
// tasks are small.
const MaxIDs = 100

// Queue compares the days in their order and publishes index tasks for the items for which wanted returns
// true. why names the tasks and must be unique for each call. Items may change during the comparison: a task
// may then be superfluous, which is harmless, or an item that differs only now is missed.
func Queue(ctx context.Context, store, index storage.StampReader, days []Day, why string,
	wanted func(Item) (bool, error), publish func(context.Context, subjects.Index) error) error {
	var ids []string
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		task := subjects.Index{Reason: why, IDs: ids}
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

// compare yields the items of a day, by ID. It yields the first error and stops.
func compare(ctx context.Context, store, index storage.StampReader, day time.Time) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		stored, indexed := &cursor{reader: store, day: day}, &cursor{reader: index, day: day}
		for {
			if err := errors.Join(stored.fill(ctx), indexed.fill(ctx)); err != nil {
				yield(Item{}, err)
				return
			}
			if len(stored.page) == 0 && len(indexed.page) == 0 {
				return
			}
			if !yield(merge(stored, indexed), nil) {
				return
			}
		}
	}
}

// merge pops the item with the lowest ID from both cursors, at least one of which has a page.
func merge(stored, indexed *cursor) Item {
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
		s := stored.pop()
		return Item{s.ID, Missing, s.Changed}
	case order > 0:
		s := indexed.pop()
		return Item{s.ID, Surplus, s.Changed}
	}
	a, b := stored.pop(), indexed.pop()
	switch a.Changed.Compare(b.Changed) {
	case 0:
		return Item{a.ID, Same, a.Changed}
	case -1:
		return Item{a.ID, Stale, b.Changed}
	}
	return Item{a.ID, Stale, a.Changed}
}

// A cursor reads the stamps of a day page by page.
type cursor struct {
	reader storage.StampReader
	day    time.Time
	page   []storage.Stamp // rest of the current page
	after  string          // last ID popped
	ended  bool
}

// fill reads the next page if the current one is empty.
func (w *cursor) fill(ctx context.Context) (err error) {
	const size = 1000
	if len(w.page) > 0 || w.ended {
		return nil
	}
	w.page, err = w.reader.Stamps(ctx, w.day, w.after, size)
	w.ended = len(w.page) < size
	return err
}

func (w *cursor) pop() storage.Stamp {
	s := w.page[0]
	w.page, w.after = w.page[1:], s.ID
	return s
}
