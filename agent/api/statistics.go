package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	_ "time/tzdata" // for systems without time zone data, such as containers

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/storage"
)

// Statistics are counts of recent items and of polls.
type Statistics struct {
	Zone  string    `json:"zone" doc:"Time zone of days, weekdays and hours."`
	Since time.Time `json:"since" doc:"Start of the first day."`
	Until time.Time `json:"until" doc:"Time of counting: items of the last minute may be missing."`

	Items int64           `json:"items" doc:"Items first seen in these days."`
	Spam  int64           `json:"spam" doc:"Spam among these items."`
	Days  []DayStatistics `json:"days" doc:"Oldest first; the last is today and incomplete."`

	Seen      [][]int64 `json:"seen" doc:"Items by weekday and hour in which they were first seen: seven lists of 24, Sunday first."`
	Published [][]int64 `json:"published" doc:"Items by weekday and hour of publication, likewise; only items with a publication time."`

	Categories []NamedCount `json:"categories" doc:"Items with each category, most first, without spam; an item may count in several."`
	Languages  []NamedCount `json:"languages" doc:"Items in each language, most first; an empty name means undetected."`

	Feeds       FeedCounts   `json:"feeds"`
	Tiers       []FeedCount  `json:"tiers" doc:"Feeds by polling tier, most frequent first."`
	Outcomes    []NamedCount `json:"outcomes" doc:"Feeds by outcome of their last poll, most first."`
	Failures    []FeedCount  `json:"failures" doc:"Feeds whose last poll failed, by class of error, most first."`
	Answers     int64        `json:"answers" doc:"Feeds whose last poll returned an HTTP status."`
	NotModified int64        `json:"same" doc:"Of these, with 304 Not Modified."`
	Agents      int64        `json:"agents" doc:"Processes in the mesh."`
}

// DayStatistics are counts of the items first seen on a day.
type DayStatistics struct {
	Day           string           `json:"day" doc:"Date, such as 2026-01-31."`
	Items         int64            `json:"items"`
	Spam          int64            `json:"spam"`
	Timely        int64            `json:"timely" doc:"Items counted in the lag: those with a publication time after their feed was added."`
	P50           float64          `json:"lag_p50" doc:"Median seconds from publication to first seen; 0 without such items."`
	P95           float64          `json:"lag_p95"`
	P99           float64          `json:"lag_p99"`
	Categories    map[string]int64 `json:"categories"`
	WithSentiment int64            `json:"toned" doc:"Items with a sentiment."`
	MeanSentiment float64          `json:"tone" doc:"Mean sentiment of these, -1 to 1; 0 without such items."`
}

// A NamedCount is a count with a name.
type NamedCount struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

func (s *Server) statisticsRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/statistics", "get-statistics", "Statistics of recent items and of polls", 422, 503),
		func(ctx context.Context, in *struct {
			Days int    `query:"days" minimum:"1" maximum:"90" default:"30"`
			Zone string `query:"zone" maxLength:"64" default:"UTC" doc:"IANA name of a time zone, such as Europe/Berlin."`
		}) (*body[Statistics], error) {
			zone, err := ParseZone(in.Zone)
			if err != nil {
				return nil, huma.Error422UnprocessableEntity("the time zone is wrong", fieldError("query.zone", "%v", err))
			}
			statistics, err := s.Statistics(ctx, in.Days, zone)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Statistics]{Body: statistics}, nil
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
func (s *Server) Statistics(ctx context.Context, days int, zone *time.Location) (Statistics, error) {
	now := s.Now()
	found, err := s.activity.days(ctx, s.Store, days, now, zone)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics: %w", err)
	}
	agents, err := s.Mesh.Agents(ctx)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics of agents: %w", err)
	}
	counts, err := s.Store.Counts(ctx)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics: %w", err)
	}
	states, err := s.feedStates.get(ctx, s.Mesh, now)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics of feeds: %w", err)
	}
	out := Statistics{
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

func (d day) statistics() DayStatistics {
	out := DayStatistics{
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
func most(counts map[string]int64) []NamedCount {
	list := []NamedCount{}
	for name, n := range counts {
		list = append(list, NamedCount{name, n})
	}
	slices.SortFunc(list, func(a, b NamedCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return list
}
