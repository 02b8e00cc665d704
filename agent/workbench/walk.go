package workbench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// A place is the progress of a scan: after the item with this ID of a day. The zero place is the start.
type place struct {
	day   time.Time
	after string
}

// String returns the place as [placeOf] reads it.
func (p place) String() string {
	if p.day.IsZero() {
		return ""
	}
	return p.day.Format(time.DateOnly) + "/" + p.after
}

// placeOf reads a place that was written by String.
func placeOf(s string) (place, error) {
	if s == "" {
		return place{}, nil
	}
	day, after, _ := strings.Cut(s, "/")
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return place{}, fmt.Errorf("%q is no place in a walk: %w", s, err)
	}
	return place{at, after}, nil
}

// scan calls each with the items after a place in batches of at most size: the newest day first, by ID within
// a day. to is the place after the batch. A batch may be shorter if items were removed; items that arrive
// during the scan may be missing.
func scan(ctx context.Context, store storage.Items, from place, size int, each func(items []storage.Item, to place) error) error {
	days, err := store.Days(ctx)
	if err != nil {
		return fmt.Errorf("list the days of the store: %w", err)
	}
	newestFirst := slices.SortedFunc(maps.Keys(days), func(a, b time.Time) int { return b.Compare(a) })
	for _, day := range newestFirst {
		at := place{day: day}
		switch {
		case from.day.IsZero() || day.Before(from.day):
		case day.Equal(from.day):
			at = from
		default:
			continue
		}
		if err := scanDay(ctx, store, at, size, each); err != nil {
			return err
		}
	}
	return nil
}

// scanDay scans the items of a day after a place.
func scanDay(ctx context.Context, store storage.Items, at place, size int, each func([]storage.Item, place) error) error {
	for {
		stamps, err := store.Stamps(ctx, at.day, at.after, size)
		if err != nil {
			return fmt.Errorf("list the items of %s: %w", at.day.Format(time.DateOnly), err)
		}
		if len(stamps) == 0 {
			return nil
		}
		ids := make([]string, len(stamps))
		for i, s := range stamps {
			ids[i] = s.ID
		}
		items, err := store.Items(ctx, ids...)
		if err != nil {
			return fmt.Errorf("read %d items: %w", len(ids), err)
		}
		at.after = ids[len(ids)-1]
		if err := each(items, at); err != nil {
			return err
		}
	}
}
