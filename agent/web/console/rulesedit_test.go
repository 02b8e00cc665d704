package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A desk is the part of [fake] for the mesh, statistics and spam.
type detail struct {
	deskErr           error
	checks            []wire.Check
	quarantine        wire.QuarantinePage
	proxies           wire.Proxies
	event             []wire.StreamEvent
	statistics        wire.Statistics
	periods           []string // requested periods of statistics
	spam              wire.SpamPage
	spamLists         wire.SpamLists
	redirectOrExplain []string
}

func (d *detail) Readiness(context.Context) []wire.Check { return d.checks }

func (d *detail) Quarantine(_ context.Context, after uint64, _ int) (wire.QuarantinePage, error) {
	if after > 0 {
		return wire.QuarantinePage{}, d.deskErr
	}
	return d.quarantine, d.deskErr
}

func (d *detail) ReplayQuarantined(_ context.Context, seq uint64) error {
	return d.decide("replay", seq)
}

func (d *detail) DropQuarantined(_ context.Context, seq uint64) error { return d.decide("drop", seq) }

func (d *detail) decide(what string, seq uint64) error {
	if seq != 7 {
		return fmt.Errorf("task %d: %w", seq, mesh.ErrNoTask)
	}
	d.redirectOrExplain = append(d.redirectOrExplain, fmt.Sprint(what, " ", seq))
	return d.deskErr
}

func (d *detail) Proxies(context.Context) (wire.Proxies, error) { return d.proxies, d.deskErr }

// Watch returns a stream of the preset events.
func (d *detail) Watch(context.Context, string) (<-chan wire.StreamEvent, error) {
	events := make(chan wire.StreamEvent, len(d.event))
	for _, event := range d.event {
		events <- event
	}
	close(events)
	return events, nil
}

func (d *detail) Statistics(_ context.Context, days int, zone *time.Location) (wire.Statistics, error) {
	d.periods = append(d.periods, fmt.Sprint(days, " ", zone))
	return d.statistics, d.deskErr
}

func (d *detail) Spam(context.Context, string, string, int) (wire.SpamPage, error) {
	return d.spam, d.deskErr
}

func (d *detail) SpamLists(context.Context) (wire.SpamLists, error) { return d.spamLists, d.deskErr }

// hostileMesh returns a desk in which every text is hostile.
func hostileMesh() detail {
	empty := make([]int64, 24)
	seen := [][]int64{empty, {9: 5, 23: 2}, empty, empty, empty, empty, {0: 1}}
	seen[1] = append(seen[1], 0)[:24]
	seen[6] = append(seen[6], make([]int64, 23)...)
	statistics := wire.Statistics{
		Zone: "UTC", Since: noon.AddDate(0, 0, -1), Until: noon, Items: 8, Spam: 1, Seen: seen, Published: seen,
		Languages: []wire.NamedCount{{Name: evil, Count: 5}, {Name: "", Count: 3}}, Feeds: wire.FeedCounts{Stored: 3}, Answers: 4, NotModified: 3, Agents: 1,
		Tiers: []wire.FeedCount{{Name: "hot", Feeds: 1}, {Name: evil, Feeds: 2}}, Outcomes: []wire.NamedCount{{Name: evil, Count: 3}, {Name: "stored", Count: 1}},
		Failures: []wire.FeedCount{{Name: "=cmd|' /C calc'!A0" + evil, Feeds: 1}},
		Days: []wire.DayStatistics{
			{Day: "2026-09-28", Categories: map[string]int64{}},
			{Day: "2026-09-29", Items: 8, Spam: 1, Timely: 5, P50: 60, P95: 4000, P99: 90000.5, WithSentiment: 2, MeanSentiment: -0.25, Categories: map[string]int64{}},
		},
	}
	for i := range 11 {
		name := fmt.Sprint(evil, i)
		if i == 1 {
			name = "=1+1"
		}
		statistics.Categories = append(statistics.Categories, wire.NamedCount{Name: name, Count: int64(20 - i)})
		statistics.Days[1].Categories[name] = int64(20 - i)
	}
	return detail{
		checks: []wire.Check{{Name: "store", OK: true}, {Name: evil, Detail: evil}},
		quarantine: wire.QuarantinePage{Next: 7, Tasks: []subjects.Quarantined{
			{Seq: 7, Queue: evil, Task: evil, Reason: evil, Attempts: 5, At: noon, Message: []byte(`"` + "x" + `"`)},
		}},
		proxies: wire.Proxies{Proxies: []wire.Proxy{
			{ID: evil, URL: "javascript:alert(1)" + evil, Health: &wire.ProxyHealth{State: "rests", Why: evil, Used: noon}}, {ID: "quiet"},
		}},
		statistics: statistics,
		spam: wire.SpamPage{Total: 21, Next: evil, Items: []wire.SpamItem{
			{Item: storage.Item{ID: `"><script>`, FeedID: evil, URL: "javascript:alert(1)", Title: evil, Language: `en"><script>`, SpamScore: 0.934, Reasons: []string{evil}}, FeedTitle: evil, Judged: noon},
			{Item: storage.Item{ID: "plain", URL: "https://www.a.example/", SpamScore: 0.1, Corrected: true}},
		}},
		spamLists: wire.SpamLists{Version: 3, Note: evil, Changed: noon, Threshold: 0.8},
	}
}

// brokenMesh returns a source whose desk fails.
func brokenMesh() *fake {
	source := broken()
	source.deskErr = source.err
	return source
}

var errAway = errors.New("dial tcp 127.0.0.1:5432: refused")
