package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A desk is the part of a fake source that tells of the mesh, of statistics, and
// of spam.
type desk struct {
	deskErr    error
	checks     []api.Check
	quarantine api.QuarantinePage
	proxies    api.Proxies
	told       []api.Told
	statistics api.Statistics
	periods    []string // that statistics were asked for
	spam       api.SpamPage
	spamLists  api.SpamLists
	decided    []string
}

func (d *desk) Readiness(context.Context) []api.Check { return d.checks }

func (d *desk) Quarantine(_ context.Context, after uint64, _ int) (api.QuarantinePage, error) {
	if after > 0 {
		return api.QuarantinePage{}, d.deskErr
	}
	return d.quarantine, d.deskErr
}

func (d *desk) ReplayQuarantined(_ context.Context, seq uint64) error { return d.decide("replay", seq) }

func (d *desk) DropQuarantined(_ context.Context, seq uint64) error { return d.decide("drop", seq) }

func (d *desk) decide(what string, seq uint64) error {
	if seq != 7 {
		return fmt.Errorf("task %d: %w", seq, mesh.ErrNoTask)
	}
	d.decided = append(d.decided, fmt.Sprint(what, " ", seq))
	return d.deskErr
}

func (d *desk) Proxies(context.Context) (api.Proxies, error) { return d.proxies, d.deskErr }

// SendEvents sends what there is to tell, and ends.
func (d *desk) SendEvents(w http.ResponseWriter, _ *http.Request, as func(api.Told) (string, any)) {
	for _, told := range d.told {
		name, data := as(told)
		text, err := json.Marshal(data)
		fmt.Fprintln(w, name, string(text), err)
	}
}

func (d *desk) Statistics(_ context.Context, days int, zone *time.Location) (api.Statistics, error) {
	d.periods = append(d.periods, fmt.Sprint(days, " ", zone))
	return d.statistics, d.deskErr
}

func (d *desk) Spam(context.Context, string, string, int) (api.SpamPage, error) {
	return d.spam, d.deskErr
}

func (d *desk) SpamLists(context.Context) (api.SpamLists, error) { return d.spamLists, d.deskErr }

// hostileDesk is one whose every word is from an attacker.
func hostileDesk() desk {
	empty := make([]int64, 24)
	seen := [][]int64{empty, {9: 5, 23: 2}, empty, empty, empty, empty, {0: 1}}
	seen[1] = append(seen[1], 0)[:24]
	seen[6] = append(seen[6], make([]int64, 23)...)
	statistics := api.Statistics{
		Zone: "UTC", Since: noon.AddDate(0, 0, -1), Until: noon, Items: 8, Spam: 1, Seen: seen, Published: seen,
		Languages: []api.Named{{Name: evil, Count: 5}, {Name: "", Count: 3}}, Feeds: api.FeedCounts{Known: 3}, Answers: 4, Same: 3, Agents: 1,
		Tiers: []api.FeedCount{{Name: "hot", Feeds: 1}, {Name: evil, Feeds: 2}}, Outcomes: []api.Named{{Name: evil, Count: 3}, {Name: "stored", Count: 1}},
		Failures: []api.FeedCount{{Name: "=cmd|' /C calc'!A0" + evil, Feeds: 1}},
		Days: []api.DayStatistics{
			{Day: "2026-09-28", Categories: map[string]int64{}},
			{Day: "2026-09-29", Items: 8, Spam: 1, Timely: 5, P50: 60, P95: 4000, P99: 90000.5, Toned: 2, Tone: -0.25, Categories: map[string]int64{}},
		},
	}
	for i := range 11 {
		name := fmt.Sprint(evil, i)
		if i == 1 {
			name = "=1+1"
		}
		statistics.Categories = append(statistics.Categories, api.Named{Name: name, Count: int64(20 - i)})
		statistics.Days[1].Categories[name] = int64(20 - i)
	}
	return desk{
		checks: []api.Check{{Name: "store", OK: true}, {Name: evil, Detail: evil}},
		quarantine: api.QuarantinePage{Next: 7, Tasks: []subjects.Quarantined{
			{Seq: 7, Queue: evil, Task: evil, Reason: evil, Attempts: 5, At: noon, Message: []byte(`"` + "x" + `"`)},
		}},
		proxies: api.Proxies{Proxies: []api.Proxy{
			{ID: evil, URL: "javascript:alert(1)" + evil, Health: &api.ProxyHealth{State: "rests", Why: evil, Used: noon}}, {ID: "quiet"},
		}},
		statistics: statistics,
		spam: api.SpamPage{Total: 21, Next: evil, Items: []api.SpamItem{
			{Item: storage.Item{ID: `"><script>`, FeedID: evil, URL: "javascript:alert(1)", Title: evil, Language: `en"><script>`, SpamScore: 0.934, Why: []string{evil}}, FeedTitle: evil, Judged: noon},
			{Item: storage.Item{ID: "plain", URL: "https://www.a.example/", SpamScore: 0.1, Corrected: true}},
		}},
		spamLists: api.SpamLists{Version: 3, Note: evil, Changed: noon, Threshold: 0.8},
	}
}

// brokenDesk is a source whose desk does not answer.
func brokenDesk() *fake {
	source := broken()
	source.deskErr = source.err
	return source
}

var errAway = errors.New("dial tcp 127.0.0.1:5432: refused")
