package service

import (
	"context"
	"sync"
	"time"

	"feedmesh/storage"
)

const (
	// TodayAge is the maximum age of cached counts of the current day.
	TodayAge = time.Minute

	// PastAge is the maximum age of cached counts of a past day. Only corrections and relabels change them.
	PastAge = 10 * time.Minute

	// maxCachedDays is the capacity of the cache, some kilobytes a day: enough for the days of a few time
	// zones.
	maxCachedDays = 400
)

// activityCache caches the item counts of days, since counting scans all items. The zero value is empty. One
// goroutine counts at a time; concurrent requests wait for the lock and then use its result.
type activityCache struct {
	once    sync.Once
	token   chan struct{} // buffered; its token is the lock, which can be awaited with a context
	entries map[dayKey]day
}

type dayKey struct {
	zone  string
	begin int64 // in Unix seconds
}

// A day is the item counts of one day.
type day struct {
	storage.Activity
	begin   time.Time
	counted time.Time
}

// lock waits for the lock and returns the function that releases it.
func (c *activityCache) lock(ctx context.Context) (done func(), err error) {
	c.once.Do(func() {
		c.token = make(chan struct{}, 1)
		c.token <- struct{}{}
	})
	select {
	case <-c.token:
		return func() { c.token <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// days returns the counts of the last n days in a time zone, oldest first.
func (c *activityCache) days(ctx context.Context, store storage.Activities, n int, now time.Time, zone *time.Location) ([]day, error) {
	done, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if c.entries == nil || len(c.entries)+n > maxCachedDays {
		c.entries = map[dayKey]day{}
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

// day returns the counts of one day from the cache, or counts them.
func (c *activityCache) day(ctx context.Context, store storage.Activities, begin, end, now time.Time, zone *time.Location) (day, error) {
	key := dayKey{zone.String(), begin.Unix()}
	cached, is := c.entries[key]
	fresh := PastAge
	if cached.counted.Before(end.Add(PastAge)) { // counted before all items of the day were stored
		fresh = TodayAge
	}
	if is && now.Sub(cached.counted) < fresh {
		return cached, nil
	}
	found, err := store.Activity(ctx, begin, end, zone)
	if err != nil {
		return day{}, err
	}
	c.entries[key] = day{found, begin, now}
	return c.entries[key], nil
}
