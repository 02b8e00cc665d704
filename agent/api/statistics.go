package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	_ "time/tzdata" // where a system has no time zones, as in a container

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/storage"
)

// Statistics say what came of late, and how feeds are read.
type Statistics struct {
	Zone  string    `json:"zone" doc:"Time zone that days, weekdays and hours are of."`
	Since time.Time `json:"since" doc:"First moment of the first day."`
	Until time.Time `json:"until" doc:"When it was counted: what came in the last minute may not be in it."`

	Items int64           `json:"items" doc:"First seen in these days."`
	Spam  int64           `json:"spam" doc:"Of these."`
	Days  []DayStatistics `json:"days" doc:"Oldest first; the last is today, as far as it has come."`

	Seen      [][]int64 `json:"seen" doc:"Items by weekday and hour in which they were first seen: seven lists of 24, Sunday first."`
	Published [][]int64 `json:"published" doc:"The same of when they were published, of those that say so."`

	Categories []Named `json:"categories" doc:"Items with each category, most first, without spam; an item may count in several."`
	Languages  []Named `json:"languages" doc:"Items in each language, most first; an empty name is not known."`

	Feeds    FeedCounts  `json:"feeds"`
	Tiers    []FeedCount `json:"tiers" doc:"Feeds by how often, most often first."`
	Outcomes []Named     `json:"outcomes" doc:"Feeds by what came of their last poll, most first."`
	Failures []FeedCount `json:"failures" doc:"Feeds whose last poll failed, by class of error, most first."`
	Answers  int64       `json:"answers" doc:"Feeds whose last poll was answered with an HTTP status."`
	Same     int64       `json:"same" doc:"Of these, how many with 304: nothing was sent again."`
	Agents   int64       `json:"agents" doc:"Processes in the mesh."`
}

// DayStatistics say what was first seen on a day.
type DayStatistics struct {
	Day        string           `json:"day" doc:"As 2026-01-31."`
	Items      int64            `json:"items"`
	Spam       int64            `json:"spam"`
	Timely     int64            `json:"timely" doc:"Items that the lag is of: those that say when they were published, after their feed was added."`
	P50        float64          `json:"lag_p50" doc:"Seconds from publication to when it was first seen: half of them took no longer. 0 if there are none."`
	P95        float64          `json:"lag_p95"`
	P99        float64          `json:"lag_p99"`
	Categories map[string]int64 `json:"categories"`
	Toned      int64            `json:"toned" doc:"Items with a sentiment."`
	Tone       float64          `json:"tone" doc:"Their mean sentiment, -1 to 1; 0 if there are none."`
}

// A Named is a count of what has a name.
type Named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

func (s *Server) statisticsRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/statistics", "get-statistics", "What came of late, and how feeds are read", 422, 503),
		func(ctx context.Context, in *struct {
			Days int    `query:"days" minimum:"1" maximum:"90" default:"30"`
			Zone string `query:"zone" maxLength:"64" default:"UTC" doc:"Name of a time zone, as Europe/Berlin."`
		}) (*body[Statistics], error) {
			zone, err := ZoneOf(in.Zone)
			if err != nil {
				return nil, huma.Error422UnprocessableEntity("the time zone is wrong", fault("query.zone", "%v", err))
			}
			statistics, err := s.Statistics(ctx, in.Days, zone)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Statistics]{Body: statistics}, nil
		})
}

// ZoneOf returns the time zone with a name of the IANA's list; UTC for "".
func ZoneOf(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // whose zone that is, nobody could tell
		return nil, fmt.Errorf("there is no time zone %q: write it as Europe/Berlin or UTC", name)
	}
	return zone, nil
}

// Statistics returns what came in the last days, 1 to 90, today with them, and how
// feeds are read.
func (s *Server) Statistics(ctx context.Context, days int, zone *time.Location) (Statistics, error) {
	now := s.Now()
	found, err := s.counted.days(ctx, s.Store, days, now, zone)
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
	standings, err := s.states.get(ctx, s.Mesh, now)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics of feeds: %w", err)
	}
	out := Statistics{
		Zone: zone.String(), Since: found[0].begin.UTC(), Until: found[len(found)-1].taken.UTC(), Feeds: feedCounts(standings.counts),
		Agents: int64(len(agents)),
	}
	var outcomes map[string]int64
	outcomes, out.Answers, out.Same = standings.polls()
	out.Outcomes = most(outcomes)
	var sum storage.Activity
	for _, day := range found {
		out.Days = append(out.Days, day.statistics())
		sum = sum.Add(day.Activity)
	}
	out.Feeds.Known = counts.Feeds
	_, out.Failures, out.Tiers = standings.tally()
	out.Items, out.Spam, out.Seen, out.Published = sum.Items, sum.Spam, lists(sum.Seen), lists(sum.Published)
	out.Categories, out.Languages = most(sum.Categories), most(sum.Languages)
	return out, nil
}

func (d day) statistics() DayStatistics {
	out := DayStatistics{
		Day: d.begin.Format(time.DateOnly), Items: d.Items, Spam: d.Spam, Timely: d.Timely,
		P50: d.Lag.P50.Seconds(), P95: d.Lag.P95.Seconds(), P99: d.Lag.P99.Seconds(),
		Categories: maps.Clone(d.Categories), Toned: d.Toned,
	}
	if d.Toned > 0 {
		out.Tone = d.Tone / float64(d.Toned)
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
func most(counts map[string]int64) []Named {
	list := []Named{}
	for name, n := range counts {
		list = append(list, Named{name, n})
	}
	slices.SortFunc(list, func(a, b Named) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return list
}
