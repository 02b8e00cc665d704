package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	_ "time/tzdata" // for systems without time zone data, such as containers

	"feedmesh/agent/wire"
	"feedmesh/storage"
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
	activity activityCache
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
	all := make([][]int64, len(week))
	for i, hours := range week {
		all[i] = slices.Clone(hours[:])
	}
	return all
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
