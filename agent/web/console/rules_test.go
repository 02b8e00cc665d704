package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// A titleDecider decides by words in titles: "spam" makes an item spam, "gain" and "had" give it a category.
type titleDecider struct{ words []string }

func (d titleDecider) Decide(doc classify.Document) (out classify.Decision) {
	for _, word := range d.words {
		switch {
		case !strings.Contains(doc.Title, word):
		case word == "spam":
			out.Spam = true
		default:
			out.Categories = []string{evil}
		}
	}
	out.Reasons = []string{evil}
	return out
}

// A blockedDecider decides five items and blocks until the test ends.
type blockedDecider struct {
	left *atomic.Int64
	end  <-chan struct{}
}

func (d blockedDecider) Decide(classify.Document) classify.Decision {
	if d.left.Add(-1) < 0 {
		<-d.end
	}
	return classify.Decision{}
}

// blocking is a text of rules by which a back-test tests five items and then blocks until its test ends.
const blocking = "block"

// hostileRuleSets replaces the rule sets by classify, which rejects texts with "wrong"; model, which has no readable
// text; texts that are too long for the page; and the spam filter.
func hostileRuleSets(t *testing.T) func(*service.Deps) {
	check := func(text []byte) error {
		if bytes.Contains(text, []byte("wrong")) {
			return errors.New("rules:1:5: " + evil)
		}
		return nil
	}
	learn := func(_ context.Context, newest []byte, _ workbench.Examples) ([]byte, string, json.RawMessage, error) {
		return newest, "", nil, nil
	}
	decider := func(text []byte) (workbench.Decider, []rule.Rule, error) {
		if string(text) == blocking {
			left := new(atomic.Int64)
			left.Store(5)
			return blockedDecider{left, t.Context().Done()}, nil, check(text)
		}
		return titleDecider{[]string{"spam", "gain", "had"}}, nil, check(text)
	}
	valid := func([]byte) error { return nil }
	return func(d *service.Deps) {
		d.Decider = func() workbench.Decider { return titleDecider{[]string{"had"}} }
		d.RuleSetSpecs = []service.RuleSetSpec{
			{Name: "classify", Does: evil, Check: check, Decider: decider, Learn: learn, Warn: func([]byte) []string { return []string{evil} }},
			{Name: "model", Does: "learned", Check: valid, Learn: learn},
			{Name: "long", Check: valid, Default: bytes.Repeat([]byte("x"), maxStandard+1)}, {Name: "huge", Check: valid},
			{Name: "spam", Check: valid, Decider: decider, Learn: learn},
		}
	}
}

// hostileRules stores versions of the rule sets, and jobs.
func (s *site) hostileRules(t *testing.T) {
	t.Helper()
	for _, set := range []storage.RuleSet{
		{Name: "classify", Version: 0, Text: []byte("first\n")}, {Name: "classify", Version: 1, Text: []byte("second\n")},
		{Name: "classify", Version: 2, Text: []byte("\n</textarea>" + evil), Note: evil}, {Name: "model", Text: []byte{0xff}},
		{Name: "huge", Text: bytes.Repeat([]byte("x"), maxEditedText+1)},
		{Name: "spam", Version: 0}, {Name: "spam", Version: 1}, {Name: "spam", Version: 2, Note: evil, Text: []byte("-- weights.txt --\nthreshold 0.8\n")},
	} {
		set.Changed = noon
		_, err := storage.RuleSets(s.Store).Put(t.Context(), set)
		must(t, err)
	}
	for _, job := range []storage.Job{
		{ID: `"><script>`, Kind: workbench.Relabel, Note: evil, State: workbench.Running, Started: noon.Add(-time.Hour), Total: 10, Done: 3},
		{ID: "done", Kind: workbench.Relabel, State: workbench.Done, Changed: 4, Started: noon, Finished: noon},
		{ID: "failed", Kind: workbench.Train, State: workbench.Failed, Err: evil, Started: noon, Finished: noon},
	} {
		must(t, storage.Jobs(s.Store).Put(t.Context(), job))
	}
}

func pagesOfRules(t *testing.T, all sites) map[string]shown {
	tested := testable(t)
	run := tested.backtest(t, wire.Backtest{Set: "classify", From: 2, Text: blocking, Note: evil, Items: 20}, func(b wire.Backtest) bool { return b.Done == 5 })
	end := tested.backtest(t, wire.Backtest{Set: "classify", From: 2, Text: evil, Note: evil, Items: 2000}, ended)
	down := newSite(t, hostileRuleSets(t))
	down.breakAll(t)
	failed := down.backtest(t, wire.Backtest{Set: "classify", Text: evil, Note: evil, Items: 2000}, ended)
	return map[string]shown{
		"rules":             {"/rules", 200, all.hostile},
		"no rules":          {"/rules", 200, newSite(t, func(d *service.Deps) { d.RuleSetSpecs = nil })},
		"rules down":        {"/rules", 503, down},
		"rule set":          {"/rules/classify", 200, all.hostile},
		"old rules":         {"/rules/classify?version=2", 200, all.hostile},
		"learned rules":     {"/rules/model", 200, all.hostile},
		"long rules":        {"/rules/long", 200, all.hostile},
		"huge rules":        {"/rules/huge", 200, all.hostile},
		"no such rules":     {"/rules/none", 404, all.hostile},
		"rule set down":     {"/rules/classify", 503, down},
		"diff of rules":     {"/rules/classify/diff?from=2&to=3", 200, all.hostile},
		"odd diff":          {"/rules/classify/diff?from=x", 404, all.hostile},
		"diff of none":      {"/rules/classify/diff?from=9&to=10", 404, all.hostile},
		"running back-test": {run, 200, tested},
		"back-test":         {end, 200, tested},
		"failed back-test":  {failed, 200, down},
		"no back-test":      {"/rules/classify/tests/none", 404, all.hostile},
		"other's back-test": {strings.Replace(end, "classify", "spam", 1), 404, tested},
	}
}

func TestRulesPage_VersionsAndJobs(t *testing.T) {
	source := testable(t)
	newest := func() string {
		set, err := storage.RuleSets(source.Store).Read(t.Context(), "classify", 0)
		must(t, err)
		return fmt.Sprintf("%d %s %s", set.Version, set.Note, set.Text)
	}
	for _, c := range []struct {
		target, version string
		status          int
		to              string
		newest          string
	}{
		{"/rules/classify/restore", "2", 303, "/rules/classify", "4 version 2 restored second\n"}, {"/rules/classify/restore", "0", 303, "/rules/classify", "5 built-in rules restored "},
		{"/rules/classify/restore", "x", 404, "", "5 built-in rules restored "},
		{"/rules/classify/apply", "", 303, "/rules#jobs", "5 built-in rules restored "}, {"/rules/spam/train", "", 303, "/rules#jobs", "5 built-in rules restored "},
	} {
		if r := post(source, c.target, url.Values{"version": {c.version}}); r.StatusCode != c.status || r.Header.Get("Location") != c.to || newest() != c.newest {
			t.Errorf("%s: got %d to %q, want %d to %q; version %s, want %s", c.target, r.StatusCode, r.Header.Get("Location"), c.status, c.to, newest(), c.newest)
		}
	}
	jobs := func() (list []string) {
		all, err := source.Jobs.List(t.Context(), wire.None{})
		must(t, err)
		for _, j := range all.Jobs {
			list = append(list, fmt.Sprintf("%s %s %v", j.Kind, j.Note, j.Cancel))
		}
		slices.Sort(list)
		return list
	}
	want := []string{"relabel  false", "relabel " + evil + " false", "relabel rules classify, version 5 false", "train  false", "train rules spam, from 20000 items false"}
	if got := jobs(); !slices.Equal(got, want) {
		t.Errorf("got the jobs %q, want %q", got, want)
	}
	source = testable(t)
	for _, c := range [][2]string{{"cancel", `"><script>`}, {"undo", "done"}, {"dance", "done"}} {
		if r := post(source, "/rules", url.Values{"job": {c[1]}, "do": {c[0]}}); (r.StatusCode == 303 && r.Header.Get("Location") == "/rules#jobs") != (c[0] != "dance") {
			t.Errorf("%s: got %d to %q", c[0], r.StatusCode, r.Header.Get("Location"))
		}
	}
	want = []string{"relabel  false", "relabel " + evil + " true", "train  false", "undo undo done:  false"}
	if got := jobs(); !slices.Equal(got, want) {
		t.Errorf("got the jobs %q, want %q", got, want)
	}
	if r := post(source, "/rules", url.Values{"job": {"failed"}, "do": {"undo"}}); r.StatusCode != http.StatusConflict {
		t.Errorf("got %d for what can't be undone, want 409", r.StatusCode)
	}
}
