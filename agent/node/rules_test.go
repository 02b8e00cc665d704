package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/config"
)

// goBy waits until so many agents go by a version of the rules by which entries
// are prepared.
func (r *running) goBy(agents int, version int64) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d agents go by version %d", agents, version), func() bool {
		all, err := r.RuleSets(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		i := slices.IndexFunc(all.Sets, func(s api.RuleSet) bool { return s.Name == "prepare" })
		if i < 0 {
			r.t.Fatalf("got %+v, want the set prepare among them", all)
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

// standard returns the program's own rules as a text.
func (r *running) standard() []byte {
	r.t.Helper()
	rules, err := r.Rules(r.t.Context(), "prepare", 0)
	if err != nil || rules.Version != 0 {
		r.t.Fatalf("got %+v, %v; want the program's own rules", rules, err)
	}
	return []byte(rules.Text)
}

func TestAllAgentsGoByNewRulesWithinASecond(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds with two nodes")
	}
	t.Parallel()
	url := natsServer(t, true)
	edge, rest := settings(filepath.Join(t.TempDir(), "never")), settings(filepath.Join(t.TempDir(), "data"))
	edge.Roles, edge.NATS = []string{"prepare", "classify"}, []config.Address{url}
	rest.Roles, rest.NATS = role.Names(role.All), []config.Address{url}
	center := start(t, rest)
	start(t, edge)
	center.goBy(2, 0)
	text := center.standard()
	if _, err := center.PutRules(t.Context(), "prepare", 0, text, ""); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	center.goBy(2, 1)
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v, want less than a second", took)
	}
	var p *api.Problem
	if _, err := center.PutRules(t.Context(), "prepare", 1, []byte("no rules at all"), ""); !errors.As(err, &p) || p.Status != 422 {
		t.Errorf("got %v, want that they are wrong", err)
	}
	if _, err := center.PutRules(t.Context(), "prepare", 0, text, ""); !errors.As(err, &p) || p.Status != 409 {
		t.Errorf("got %v, want that somebody else was faster", err)
	}
	center.goBy(2, 1)
}

func TestANodeGoesByTheRulesOfItsStoreFromTheStart(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	r := start(t, c)
	if _, err := r.PutRules(t.Context(), "prepare", 0, r.standard(), ""); err != nil {
		t.Fatal(err)
	}
	r.goBy(1, 1)
	r.stop()
	if err := os.RemoveAll(filepath.Join(c.Data, "nats")); err != nil { // the store is the truth
		t.Fatal(err)
	}
	r = start(t, c)
	inForce, runs := strings.Index(r.log.String(), "rules are in force"), strings.Index(r.log.String(), "agent runs")
	if inForce < 0 || inForce > runs {
		t.Errorf("got log %s, want the rules in force before the roles run", r.log)
	}
	r.goBy(1, 1)
}

func TestRulesThatAreUnreadableHereLeaveThoseInForce(t *testing.T) {
	t.Parallel()
	said := &log{}
	n := &node{options: Options{Log: slog.New(slog.NewTextHandler(said, nil))}, roles: []role.Role{role.Prepare}, news: make(chan struct{}, 1)}
	set, rules := ruleSetOf(api.Rulebook{Name: "prepare", Standard: []byte("own")}, role.Prepare, func(text []byte) (*string, error) {
		s := string(text)
		if strings.Contains(s, "newer") {
			return nil, errors.New("there is no rule like that")
		}
		return &s, nil
	})
	n.rules = []*ruleSet{set}
	for _, step := range []struct {
		version int64
		text    string
		want    string
		inForce int64
	}{
		{0, "", "own", 0},
		{3, "newer", "own", 0},
		{4, "four", "four", 4},
		{5, "newer", "four", 4},
		{2, "two", "two", 2}, // the store went back
	} {
		n.hearRules(set, step.version, []byte(step.text))
		if got := *rules(); got != step.want || n.rulesInForce()["prepare"] != step.inForce {
			t.Errorf("after version %d: got %q of version %v, want %q of %d", step.version, got, n.rulesInForce(), step.want, step.inForce)
		}
	}
	if got := strings.Count(said.String(), "there is no rule like that"); got != 2 {
		t.Errorf("got it said %d times, want once for each unreadable version: %s", got, said)
	}
	if err := set.Check([]byte("newer")); err == nil {
		t.Error("a wrong text is found to be sound")
	}
	n.roles = []role.Role{role.Crawl}
	if got := n.rulesInForce(); len(got) != 0 {
		t.Errorf("a node that goes by no rules tells of %v", got)
	}
}

// paragraphs reports whether the newest item has any.
func (r *running) paragraphs() bool {
	r.t.Helper()
	found, err := r.Search(r.t.Context(), api.Search{Sort: "newest", Limit: 1})
	if err != nil || len(found.Items) != 1 {
		r.t.Fatalf("got %+v, %v; want an item", found, err)
	}
	item, err := r.Item(r.t.Context(), found.Items[0].ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Contains(item.HTML, "<p>")
}

func TestNewItemsAreMadeByNewRules(t *testing.T) {
	t.Parallel()
	f, c := farm(t)
	r := start(t, c)
	if !r.paragraphs() {
		t.Fatal("there are no paragraphs by the program's own rules")
	}
	if _, err := r.PutRules(t.Context(), "prepare", 0, []byte(`{"elements":["a"]}`), ""); err != nil {
		t.Fatal(err)
	}
	r.goBy(1, 1)
	f.Publish()
	page, err := r.Feeds(t.Context(), "", farmFeeds)
	if err != nil {
		t.Fatal(err)
	}
	for _, feed := range page.Feeds {
		if err := r.RefreshFeed(t.Context(), feed.ID); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the new items are stored", func() bool {
		s, err := r.Status(t.Context())
		return err == nil && s.Items == farmItems+farmFeeds && s.Indexed == s.Items
	})
	if r.paragraphs() {
		t.Error("a new item has paragraphs, which the rules do not keep")
	}
}
