package api

import (
	"context"
	"sync"
	"time"

	"feedmesh/storage"
)

const (
	// countedAge is how old what was counted of today may be.
	countedAge = time.Minute

	// pastAge is how old what was counted of a day that is over may be. Only what
	// people correct and rules label anew changes it.
	pastAge = 10 * time.Minute

	// maxCounted is how many days are remembered, some kilobytes each: those of a
	// few time zones.
	maxCounted = 400
)

// counted remembers what was counted, as counting reads all there is. The zero
// value remembers nothing. One counts at a time; others wait, and find it done.
type counted struct {
	once  sync.Once
	turn  chan struct{} // holds a token while nobody counts
	known map[dayKey]day
}

type dayKey struct {
	zone  string
	begin int64 // in Unix seconds
}

// A day is what came on it.
type day struct {
	storage.Activity
	begin time.Time
	taken time.Time
}

// take waits for its turn, and returns what gives it up.
func (c *counted) take(ctx context.Context) (done func(), err error) {
	c.once.Do(func() {
		c.turn = make(chan struct{}, 1)
		c.turn <- struct{}{}
	})
	select {
	case <-c.turn:
		return func() { c.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// days returns what came on the last days in a zone, oldest first.
func (c *counted) days(ctx context.Context, store storage.Activities, n int, now time.Time, zone *time.Location) ([]day, error) {
	done, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if c.known == nil || len(c.known)+n > maxCounted {
		c.known = map[dayKey]day{}
	}
	year, month, today := now.In(zone).Date()
	list := make([]day, n)
	for i := range list {
		begin := time.Date(year, month, today-n+1+i, 0, 0, 0, 0, zone)
		end := time.Date(year, month, today-n+2+i, 0, 0, 0, 0, zone)
		if list[i], err = c.day(ctx, store, begin, end, now, zone); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// day returns what came on one day, as it was counted of late, or now.
func (c *counted) day(ctx context.Context, store storage.Activities, begin, end, now time.Time, zone *time.Location) (day, error) {
	key := dayKey{zone.String(), begin.Unix()}
	known, is := c.known[key]
	fresh := pastAge
	if known.taken.Before(end.Add(pastAge)) { // it was counted before all of it was stored
		fresh = countedAge
	}
	if is && now.Sub(known.taken) < fresh {
		return known, nil
	}
	found, err := store.Activity(ctx, begin, end, zone)
	if err != nil {
		return day{}, err
	}
	c.known[key] = day{found, begin, now}
	return c.known[key], nil
}
