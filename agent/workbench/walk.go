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

// A place is how far a walk has come: behind the item with this ID of that day.
// The zero place is before all.
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

// walk calls each with the items behind a place in pages of at most size, those
// first seen on the newest day first; within a day they come by ID, which is in
// no order that means anything. to is the place behind the page, which may have
// become empty since it was listed. What comes in meanwhile is met or not.
func walk(ctx context.Context, store storage.Items, from place, size int, each func(items []storage.Item, to place) error) error {
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
		if err := walkDay(ctx, store, at, size, each); err != nil {
			return err
		}
	}
	return nil
}

// walkDay walks over the items of a day that are behind a place.
func walkDay(ctx context.Context, store storage.Items, at place, size int, each func([]storage.Item, place) error) error {
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
