package wire

import (
	"time"

	"feedmesh/agent/access"
)

// A StatisticsRequest selects the days that are counted.
type StatisticsRequest struct {
	Days int    `query:"days" minimum:"1" maximum:"90" default:"30" doc:"Number of days, including the current one."`
	Zone string `query:"zone" maxLength:"64" default:"UTC" doc:"IANA name of a time zone, such as Europe/Berlin."`
}

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

// GetStatistics returns statistics.
var GetStatistics = Operation[StatisticsRequest, Statistics]{ID: "get-statistics", Method: "GET", Path: "/api/statistics", Tag: "mesh", Scope: access.Read,
	Summary: "Statistics of recent items and of polls", Errors: []int{422, 503}}
