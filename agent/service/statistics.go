package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	_ "time/tzdata"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// for systems without time zone data, such as containers

func (s *Server) statisticsRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/statistics", "get-statistics", "Statistics of recent items and of polls", 422, 503),
		func(ctx context.Context, in *struct {
			Days int    `query:"days" minimum:"1" maximum:"90" default:"30"`
			Zone string `query:"zone" maxLength:"64" default:"UTC" doc:"IANA name of a time zone, such as Europe/Berlin."`
		}) (*body[wire.Statistics], error) {
			zone, err := ParseZone(in.Zone)
			if err != nil {
				return nil, huma.Error422UnprocessableEntity("the time zone is wrong", fieldError("query.zone", "%v", err))
			}
			statistics, err := s.Statistics(ctx, in.Days, zone)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.Statistics]{Body: statistics}, nil
		})
}

// ParseZone returns the time zone of an IANA name; UTC for "".
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // Local would be the server's zone
		return nil, fmt.Errorf("there is no time zone %q: write it as Europe/Berlin or UTC", name)
	}
	return zone, nil
}

// Statistics returns the counts of the last 1 to 90 days, including today.
func (s *Server) Statistics(ctx context.Context, days int, zone *time.Location) (wire.Statistics, error) {
	now := s.Now()
	found, err := s.activity.days(ctx, s.Store, days, now, zone)
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
