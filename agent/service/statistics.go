package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	_ "time/tzdata" // for systems without time zone data, such as containers

	"golang.org/x/sync/semaphore"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// ParseZone returns the time zone of an IANA name; UTC for "".
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // Local would be the server's zone
		return nil, fmt.Errorf("there is no time zone %q: write it as Europe/Berlin or UTC", name)
	}
	return zone, nil
}

// Statistics counts recent items and polls.
type Statistics struct {
	*core
	activity *activityCache
}

// Get returns the counts of the last 1 to 90 days, including today.
func (s *Statistics) Get(ctx context.Context, in wire.StatisticsRequest) (wire.Statistics, error) {
	zone, err := ParseZone(in.Zone)
	if err != nil {
		return wire.Statistics{}, &Error{Kind: KindInvalid, Message: "the time zone is wrong", Fields: []FieldError{fieldf("query.zone", "%v", err)}}
	}
	now := s.Now()
	found, err := s.activity.days(ctx, s.Store, in.Days, now, zone)
	if err != nil {
		return wire.Statistics{}, fmt.Errorf("statistics: %w", err)
	}
	agents, err := s.Mesh.Agents(ctx)
	if err != nil {
		return wire.Statistics{}, fmt.Errorf("statistics of agents: %w", err)
	}
	counts, err := s.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return wire.Statistics{}, fmt.Errorf("statistics: %w", err)
	}
	states, err := s.states(ctx)
	if err != nil {
		return wire.Statistics{}, fmt.Errorf("statistics of feeds: %w", err)
	}
	out := wire.Statistics{
		Zone: zone.String(), Since: found[0].begin.UTC(), Until: found[len(found)-1].counted.UTC(), Feeds: feedCounts(states.counts),
		Agents: int64(len(agents)),
	}
	var outcomes map[string]int64
	outcomes, out.Answers, out.NotModified = states.polls()
	out.Outcomes = most(outcomes)
	var sum storage.Activity
	for _, day := range found {
		out.Days = append(out.Days, day.statistics())
		sum = sum.Add(day.Activity)
	}
	out.Feeds.Stored = counts.Feeds
	_, out.Failures, out.Tiers = states.tally()
	out.Items, out.Spam, out.Seen, out.Published = sum.Items, sum.Spam, lists(sum.Seen), lists(sum.Published)
	out.Categories, out.Languages = most(sum.Categories), most(sum.Languages)
	return out, nil
}

func (d day) statistics() wire.DayStatistics {
	out := wire.DayStatistics{
		Day: d.begin.Format(time.DateOnly), Items: d.Items, Spam: d.Spam, Timely: d.LagItems,
		P50: d.Lag.P50.Seconds(), P95: d.Lag.P95.Seconds(), P99: d.Lag.P99.Seconds(),
		Categories: maps.Clone(d.Categories), WithSentiment: d.SentimentItems,
	}
	if d.SentimentItems > 0 {
		out.MeanSentiment = d.SentimentSum / float64(d.SentimentItems)
	}
	return out
}

// lists returns a week as lists.
func lists(week storage.Week) [][]int64 {
	return convert(week[:], func(hours [24]int64) []int64 { return slices.Clone(hours[:]) })
}

// most returns counts in order, the highest first, then by name.
func most(counts map[string]int64) []wire.NamedCount {
	list := []wire.NamedCount{}
	for name, n := range counts {
		list = append(list, wire.NamedCount{Name: name, Count: n})
	}
	slices.SortFunc(list, func(a, b wire.NamedCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// statusPartTimeout is the timeout of each part of a status.
const statusPartTimeout = 3 * time.Second

// Status is the state of the mesh and of this process.
type Status struct{ *core }

// Get returns the state of the mesh. A part that does not answer is listed in Problems, and the others are
// returned nevertheless.
func (s *Status) Get(ctx context.Context, _ wire.None) (wire.Status, error) {
	st := wire.Status{Version: s.Version}
	collect := func(what string, part func(ctx context.Context) error) {
		partCtx, cancel := context.WithTimeout(ctx, statusPartTimeout)
		defer cancel()
		if err := part(partCtx); err != nil {
			st.Problems = append(st.Problems, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var counts storage.Counts
	collect("store", func(ctx context.Context) (err error) {
		counts, err = s.Store.CountFeeds(ctx, storage.FeedQuery{})
		return err
	})
	collect("index", func(ctx context.Context) (err error) { st.Indexed, err = s.Index.Count(ctx); return err })
	collect("queues", func(ctx context.Context) (err error) { st.Queues, err = s.Mesh.Depths(ctx); return err })
	collect("agents", func(ctx context.Context) (err error) { st.Agents, err = s.Mesh.Agents(ctx); return err })
	collect("leases", func(ctx context.Context) (err error) { st.Active, err = s.Mesh.Leases(ctx); return err })
	collect("cordons", func(ctx context.Context) (err error) { st.Cordons, err = s.Mesh.Cordons(ctx); return err })
	collect("schedule", func(ctx context.Context) (err error) {
		st.Feeds, err = feedCountsFrom(st.Active, func() (*stateSnapshot, error) { return s.states(ctx) })
		return err
	})
	st.Feeds.Stored, st.Items, st.Purged = counts.Feeds, counts.Items, counts.Purged
	if s.Stalled != nil {
		st.Stalled = s.Stalled()
	}
	if s.BackupState != nil {
		st.Backup = s.BackupState()
	}
	st.Notices = subjects.AllNotices(st.Active)
	for _, name := range slices.Sorted(maps.Keys(st.Active)) {
		if limit := st.Active[name].Limit; limit != "" {
			st.Limited = append(st.Limited, limit)
		}
	}
	return st, ctx.Err()
}

// CountFeeds counts the feeds in the schedule by state. The caller adds the number of stored feeds.
func CountFeeds(ctx context.Context, m Mesh) (wire.FeedCounts, error) {
	leases, err := m.Leases(ctx)
	if err != nil {
		return wire.FeedCounts{}, err
	}
	return feedCountsFrom(leases, func() (*stateSnapshot, error) { return readStates(ctx, m, time.Time{}) })
}

// feedCountsFrom returns the counts that the active schedule publishes in its lease. Without them, as after a
// start or with an older schedule, it counts the state of each feed.
func feedCountsFrom(leases map[string]subjects.Lease, read func() (*stateSnapshot, error)) (wire.FeedCounts, error) {
	if published := subjects.SumCounts(leases); published != nil {
		return feedCounts(*published), nil
	}
	all, err := read()
	if err != nil {
		return wire.FeedCounts{}, err
	}
	return feedCounts(all.counts), nil
}

// feedCounts converts the schedule's counts.
func feedCounts(c subjects.ScheduleCounts) wire.FeedCounts {
	return wire.FeedCounts{Polled: c.Polled, Failing: c.Failing, Gone: c.Gone, InFlight: c.InFlight}
}

// Readiness returns the health of each dependency of this process.
func (s *Status) Readiness(ctx context.Context) []wire.Check {
	checks := append([]wire.Check{}, s.Checks(ctx)...) // an empty list, not null
	if check, is := s.writer.Check(); is {
		checks = append(checks, check)
	}
	return checks
}

const (
	// TodayAge is the maximum age of cached counts of the current day.
	TodayAge = time.Minute

	// PastAge is the maximum age of cached counts of a past day. Only corrections and relabels change them.
	PastAge = 10 * time.Minute

	// maxCachedDays is the capacity of the cache, some kilobytes a day: enough for the days of a few time
	// zones.
	maxCachedDays = 400
)

// activityCache caches the item counts of days, since counting scans all items. A lock lets one worker count at a time;
// concurrent requests wait for the lock and then use its result.
type activityCache struct {
	lock    *semaphore.Weighted // a mutex that can be awaited with a context
	entries map[dayKey]day
}

func newActivityCache() *activityCache {
	return &activityCache{lock: semaphore.NewWeighted(1)}
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

// days returns the counts of the last n days in a time zone, oldest first.
func (c *activityCache) days(ctx context.Context, store storage.Activities, n int, now time.Time, zone *time.Location) ([]day, error) {
	if err := c.lock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer c.lock.Release(1)
	if c.entries == nil || len(c.entries)+n > maxCachedDays {
		c.entries = map[dayKey]day{}
	}
	year, month, today := now.In(zone).Date()
	list := make([]day, n)
	for i := range list {
		begin := time.Date(year, month, today-n+1+i, 0, 0, 0, 0, zone)
		end := time.Date(year, month, today-n+2+i, 0, 0, 0, 0, zone)
		var err error
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
