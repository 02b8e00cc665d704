package node

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// waitForVersion waits until the number of agents that apply a version of the rule
// set "prepare" is agents.
func (r *running) waitForVersion(agents int, version int64) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d agents apply version %d", agents, version), func() bool {
		all, err := client.Call(r.t.Context(), r.Client, wire.ListRules, wire.None{})
		if err != nil {
			r.t.Fatal(err)
		}
		i := slices.IndexFunc(all.Sets, func(s wire.RuleSet) bool { return s.Name == "prepare" })
		if i < 0 {
			r.t.Fatalf("got %+v, want the rule set prepare", all)
		}
		n := 0
		for _, a := range all.Sets[i].Agents {
			if a.Version == version {
				n++
			}
		}
		return n == agents && len(all.Sets[i].Agents) == agents
	})
}

// builtInRules returns the text of the built-in rules.
func (r *running) builtInRules() []byte {
	r.t.Helper()
	rules, err := client.ReadRules(r.t.Context(), r.Client, "prepare", 0)
	if err != nil || rules.Version != 0 {
		r.t.Fatalf("got %+v, %v; want the built-in rules", rules, err)
	}
	return []byte(rules.Text)
}

func TestRules_ReachAllAgentsWithinASecond(t *testing.T) {
	t.Parallel()
	url := natsServer(t, true)
	edge, others := settings(filepath.Join(t.TempDir(), "never")), settings(filepath.Join(t.TempDir(), "data"))
	edge.Roles, edge.NATS = []string{"prepare", "classify"}, []config.Address{url}
	others.Roles, others.NATS = role.Names(role.All), []config.Address{url}
	center := start(t, others)
	start(t, edge)
	center.waitForVersion(2, 0)
	text := center.builtInRules()
	version, fastest := int64(0), time.Hour
	for ; version < 20 && fastest > time.Second; version++ { // a busy machine delays most of them
		text := append(text, bytes.Repeat([]byte("\n"), int(version))...)
		if _, err := client.Call(t.Context(), center.Client, wire.PutRules, wire.PutRulesRequest{Name: "prepare", Version: fmt.Sprint(version), RawBody: text, Note: ""}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		center.waitForVersion(2, version+1)
		fastest = min(fastest, time.Since(began))
	}
	if fastest > time.Second {
		t.Errorf("the fastest of %d versions took %v, want less than a second", version, fastest)
	}
	var p *client.Problem
	if _, err := client.Call(t.Context(), center.Client, wire.PutRules, wire.PutRulesRequest{Name: "prepare", Version: fmt.Sprint(version), RawBody: []byte("no rules at all"), Note: ""}); !errors.As(err, &p) || p.Status != 422 {
		t.Errorf("got %v for invalid rules, want status 422", err)
	}
	if _, err := client.Call(t.Context(), center.Client, wire.PutRules, wire.PutRulesRequest{Name: "prepare", Version: fmt.Sprint(0), RawBody: text, Note: ""}); !errors.As(err, &p) || p.Status != 409 {
		t.Errorf("got %v for an outdated version, want status 409", err)
	}
	center.waitForVersion(2, version)
}

func TestRules_ActiveBeforeRolesRun(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	r := start(t, c)
	if _, err := client.Call(t.Context(), r.Client, wire.PutRules, wire.PutRulesRequest{Name: "prepare", Version: fmt.Sprint(0), RawBody: r.builtInRules(), Note: ""}); err != nil {
		t.Fatal(err)
	}
	r.waitForVersion(1, 1)
	r.stop()
	if err := os.RemoveAll(filepath.Join(c.Data, "nats")); err != nil { // the store has the rules too
		t.Fatal(err)
	}
	r = start(t, c)
	inForce, runs := strings.Index(r.log.String(), "rules activated"), strings.Index(r.log.String(), "agent started")
	if inForce < 0 || inForce > runs {
		t.Errorf("got log %s, want the rules activated before the roles run", r.log)
	}
	r.waitForVersion(1, 1)
}

func TestActivateRules_InvalidKeepsPrevious(t *testing.T) {
	t.Parallel()
	logs := &log{}
	p := &process{options: Options{Log: slog.New(slog.NewTextHandler(logs, nil))}, roles: []role.Role{{Rules: []string{"prepare"}}}}
	set, rules := ruleSetOf(service.RuleSetSpec{Name: "prepare", Default: []byte("built in")}, func(text []byte) (*string, error) {
		s := string(text)
		if strings.Contains(s, "newer") {
			return nil, errors.New("unknown rule type")
		}
		return &s, nil
	})
	n := &ruleSets{process: p, sets: []*ruleSet{set}, changed: make(chan struct{}, 1)}
	for _, step := range []struct {
		version int64
		text    string
		want    string
		inForce int64
	}{
		{0, "", "built in", 0},
		{3, "newer", "built in", 0},
		{4, "four", "four", 4},
		{5, "newer", "four", 4},
		{2, "two", "two", 2}, // the store was restored from a backup
	} {
		n.activate(set, step.version, []byte(step.text))
		if got := *rules(); got != step.want || n.activeVersions()["prepare"] != step.inForce {
			t.Errorf("after version %d: got %q of version %v, want %q of %d", step.version, got, n.activeVersions(), step.want, step.inForce)
		}
	}
	if got := strings.Count(logs.String(), "unknown rule type"); got != 2 {
		t.Errorf("got %d logged errors, want one for each invalid version: %s", got, logs)
	}
	if err := set.Check([]byte("newer")); err == nil {
		t.Error("Check: got no error for an invalid text")
	}
	n.roles = []role.Role{{Name: "crawl"}}
	if got := n.activeVersions(); len(got) != 0 {
		t.Errorf("got versions %v of a node that applies no rules, want none", got)
	}
}

// newestHasParagraphs reports whether the HTML of the newest item has paragraphs.
func (r *running) newestHasParagraphs() bool {
	r.t.Helper()
	found, err := client.Call(r.t.Context(), r.Client, wire.SearchItems, wire.Search{Sort: "newest", Limit: 1})
	if err != nil || len(found.Items) != 1 {
		r.t.Fatalf("got %+v, %v; want an item", found, err)
	}
	item, err := client.Call(r.t.Context(), r.Client, wire.GetItem, wire.ByID{ID: found.Items[0].ID})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Contains(item.HTML, "<p>")
}

func TestRules_ApplyToNewItems(t *testing.T) {
	t.Parallel()
	f, _, r := runningFixture(t)
	if !r.newestHasParagraphs() {
		t.Fatal("got no paragraphs with the built-in rules")
	}
	if _, err := client.Call(t.Context(), r.Client, wire.PutRules, wire.PutRulesRequest{Name: "prepare", Version: fmt.Sprint(0), RawBody: []byte(`{"elements":["a"]}`), Note: ""}); err != nil {
		t.Fatal(err)
	}
	r.waitForVersion(1, 1)
	f.Publish()
	page, err := client.Call(t.Context(), r.Client, wire.ListFeeds, wire.FeedSearch{Limit: testFeeds})
	if err != nil {
		t.Fatal(err)
	}
	for _, feed := range page.Feeds {
		if _, err := client.Call(t.Context(), r.Client, wire.RefreshFeed, wire.ByID{ID: feed.ID}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the new items are stored", func() bool {
		s, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		return err == nil && s.Items == testItems+testFeeds && s.Indexed == s.Items
	})
	if r.newestHasParagraphs() {
		t.Error("got paragraphs in a new item, want them removed by the new rules")
	}
}
