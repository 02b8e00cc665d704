package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// A ruleFake is the part of [fake] for rules.
type ruleFake struct {
	ruleErr  error
	sets     []wire.RuleSet
	rules    map[string]wire.RuleSetDetail
	versions []wire.RuleVersion
	tests    map[string]wire.Backtest
	jobs     []wire.Job
	worked   []string // operations on rules
}

func (f *ruleFake) did(format string, args ...any) error {
	f.worked = append(f.worked, fmt.Sprintf(format, args...))
	return f.ruleErr
}

func (f *ruleFake) RuleSets(context.Context) ([]wire.RuleSet, error) { return f.sets, f.ruleErr }

func (f *ruleFake) RuleSetDetail(_ context.Context, name string, version int64) (wire.RuleSetDetail, error) {
	detail, is := f.rules[name]
	if !is {
		return detail, fmt.Errorf("rules %s: %w", name, storage.ErrNotFound)
	}
	if version != 0 {
		detail.Version = version
	}
	return detail, f.ruleErr
}

func (f *ruleFake) RuleVersions(context.Context, string) ([]wire.RuleVersion, error) {
	return f.versions, f.ruleErr
}

func (f *ruleFake) CheckRules(_ context.Context, _, text string) (wire.RuleCheck, error) {
	if strings.Contains(text, "wrong") {
		return wire.RuleCheck{Problems: []string{"rules:1:5: " + evil}}, f.ruleErr
	}
	return wire.RuleCheck{Valid: true, Warnings: []string{evil}}, f.ruleErr
}

func (f *ruleFake) PutRules(_ context.Context, name string, from int64, note, text string) (wire.SavedRules, error) {
	if from != f.rules[name].Newest {
		return wire.SavedRules{}, fmt.Errorf("yours were made from version %d: %w", from, storage.ErrConflict)
	}
	return wire.SavedRules{}, f.did("put %s from %d %q %q", name, from, note, text)
}

func (f *ruleFake) RestoreRules(_ context.Context, name string, version int64) error {
	return f.did("restore %s %d", name, version)
}

func (f *ruleFake) DiffRules(_ context.Context, name string, from, to int64) (string, error) {
	if from == 9 {
		return "", fmt.Errorf("version 9: %w", storage.ErrNotFound)
	}
	return "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-" + evil + "\n+theirs\n same\n", f.ruleErr
}

func (f *ruleFake) ApplyRules(_ context.Context, name string, version int64) (wire.Job, error) {
	return wire.Job{}, f.did("apply %s %d", name, version)
}

func (f *ruleFake) TrainRules(_ context.Context, name string) (wire.Job, error) {
	return wire.Job{}, f.did("train %s", name)
}

func (f *ruleFake) StartBacktest(of wire.Backtest) (string, error) {
	return "t1", f.did("test %s from %d on %d %q %q", of.Set, of.From, of.Items, of.Note, of.Text)
}

func (f *ruleFake) Backtest(id string) (wire.Backtest, error) {
	test, is := f.tests[id]
	if !is {
		return test, fmt.Errorf("back-test %s: %w", id, storage.ErrNotFound)
	}
	return test, f.ruleErr
}

func (f *ruleFake) Jobs(context.Context) ([]wire.Job, error) { return f.jobs, f.ruleErr }

func (f *ruleFake) CancelJob(_ context.Context, id string) error { return f.did("cancel %s", id) }

func (f *ruleFake) UndoJob(_ context.Context, id string) error { return f.did("undo %s", id) }

// hostileRules contain hostile text only.
func hostileRules() ruleFake {
	sample := wire.Sample{ID: `"><script>`, Title: evil, URL: "javascript:alert(1)", Before: wire.Labelled{}, After: wire.Labelled{Spam: true, Categories: []string{evil}}, Why: []string{evil}}
	run := wire.Backtest{ID: "run", Set: "classify", From: 2, Text: evil, Note: evil, Items: 2000, Done: 500}
	ended, failed, other := run, run, run
	ended.Ended, ended.Report = true, wire.Report{
		Items: 1900, Effects: wire.Effects{Same: 1800, Spam: 60, Gained: 40}, Categories: []wire.Shift{{Name: evil, Before: 3, After: 9}, {Name: "same", Before: 1, After: 1}},
		Samples: wire.Samples{Spam: []wire.Sample{sample}, Gained: []wire.Sample{sample}},
	}
	failed.Ended, failed.Err = true, "dial tcp 127.0.0.1:5432: refused"
	other.Set = "spam"
	return ruleFake{
		sets: []wire.RuleSet{
			{Name: "classify", Does: evil, Version: 3, Note: evil, Changed: noon, Agents: []wire.RuleAgent{{Version: 3}, {Version: 2}}}, {Name: "model", Does: "learned"},
		},
		rules: map[string]wire.RuleSetDetail{
			"classify": {Name: "classify", Does: evil, Version: 3, Newest: 3, Text: "\n</textarea>" + evil, Readable: true, Decides: true},
			"model":    {Name: "model", Version: 1, Newest: 1, Learns: true},
			"long":     {Name: "long", Text: strings.Repeat("x", maxStandard+1), Readable: true},
			"huge":     {Name: "huge", Version: 1, Newest: 1, Text: strings.Repeat("x", maxEditedText+1), Readable: true},
		},
		versions: []wire.RuleVersion{{Version: 3, Note: evil, Changed: noon}, {Version: 2, Changed: noon}},
		tests:    map[string]wire.Backtest{"run": run, "ended": ended, "failed": failed, "other": other},
		jobs: []wire.Job{
			{ID: `"><script>`, Kind: workbench.Relabel, Note: evil, State: workbench.Running, Total: 10, Done: 3},
			{ID: "done", Kind: workbench.Relabel, State: workbench.Done, Changed: 4}, {ID: "failed", Kind: workbench.Train, State: workbench.Failed, Error: evil},
		},
	}
}

func pagesOfRules() map[string]shown {
	down := hostile()
	down.err, down.ruleErr = errAway, errAway
	return map[string]shown{
		"rules":             {"/rules", 200, hostile()},
		"no rules":          {"/rules", 200, &fake{}},
		"rules down":        {"/rules", 503, down},
		"rule set":          {"/rules/classify", 200, hostile()},
		"old rules":         {"/rules/classify?version=2", 200, hostile()},
		"learned rules":     {"/rules/model", 200, hostile()},
		"long rules":        {"/rules/long", 200, hostile()},
		"huge rules":        {"/rules/huge", 200, hostile()},
		"no such rules":     {"/rules/none", 404, hostile()},
		"rule set down":     {"/rules/classify", 503, down},
		"diff of rules":     {"/rules/classify/diff?from=2&to=3", 200, hostile()},
		"odd diff":          {"/rules/classify/diff?from=x", 404, hostile()},
		"diff of none":      {"/rules/classify/diff?from=9&to=10", 404, hostile()},
		"running back-test": {"/rules/classify/tests/run", 200, hostile()},
		"back-test":         {"/rules/classify/tests/ended", 200, hostile()},
		"failed back-test":  {"/rules/classify/tests/failed", 200, hostile()},
		"no back-test":      {"/rules/classify/tests/none", 404, hostile()},
		"other's back-test": {"/rules/classify/tests/other", 404, hostile()},
	}
}

// ruleForm returns the fields of a rule set's form.
func ruleForm(do, text, from string) url.Values {
	return url.Values{"do": {do}, "text": {text}, "from": {from}, "note": {" a note "}, "items": {"500"}}
}

func TestRulePage_CheckTestSave(t *testing.T) {
	for name, c := range map[string]struct {
		form   url.Values
		status int
		to     string
		done   string
		says   string
	}{
		"check":                 {ruleForm("check", "a\r\nb", "3"), 200, "", "[]", "No errors"},
		"check of what's wrong": {ruleForm("check", "wrong", "3"), 200, "", "[]", "rules:1:5: <script>"},
		"back-test":             {ruleForm("test", "a", "3"), 303, "/rules/classify/tests/t1", `[test classify from 3 on 500 "a note" "a"]`, ""},
		"test of what's wrong":  {ruleForm("test", "wrong", "3"), 422, "", "[]", "the text has errors"},
		"save":                  {ruleForm("save", "a\r\nb\r\n", "3"), 303, "/rules/classify", `[put classify from 3 "a note" "a\nb\n"]`, ""},
		"save of what's wrong":  {ruleForm("save", "wrong", "3"), 422, "", "[]", "Not saved"},
		"somebody was faster":   {ruleForm("save", "mine", "2"), 409, "", "[]", "Edit conflict"},
		"from what's forgotten": {ruleForm("save", "mine", "9"), 409, "", "[]", "Difference from their version to yours"},
		"go on writing":         {ruleForm("edit", "mine", "2"), 200, "", "[]", "mine"},
		"no version":            {ruleForm("save", "a", "x"), 400, "", "[]", "the form is incomplete"},
		"nothing to do":         {ruleForm("dance", "a", "3"), 404, "", "[]", ""},
	} {
		source := hostile()
		r := post(source, "/rules/classify", c.form)
		said := body(t, r)
		if r.StatusCode != c.status || r.Header.Get("Location") != c.to || fmt.Sprint(source.worked) != c.done {
			t.Errorf("%s: got %d to %q, %v done; want %d to %q, %s", name, r.StatusCode, r.Header.Get("Location"), source.worked, c.status, c.to, c.done)
		}
		if page := parse(t, said); !strings.Contains(words(page), c.says) {
			t.Errorf("%s: the page does not say %q: %s", name, c.says, words(page))
		}
	}
}

func TestRulePage_KeepsTextOnErrors(t *testing.T) {
	const text = "\n</textarea><script>\n a & b"
	page := parse(t, body(t, post(hostile(), "/rules/classify", ruleForm("save", text, "2"))))
	field := elements(page, "textarea")[0]
	if got := field.FirstChild.Data; got != text {
		t.Errorf("the field has %q, want %q", got, text)
	}
	for _, in := range elements(page, "input") {
		if attr(in, "name") == "from" && attr(in, "value") != "3" {
			t.Errorf("it is made from version %s, want 3: who saves again has seen it", attr(in, "value"))
		}
		if attr(in, "name") == "note" && attr(in, "value") != "a note" {
			t.Errorf("the note is %q", attr(in, "value"))
		}
	}
	for _, c := range []url.Values{{"text": {strings.Repeat("x", maxRulesForm)}}} {
		if r := post(hostile(), "/rules/classify", c); r.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d for a text of %d bytes, want 413", r.StatusCode, maxRulesForm)
		}
	}
}

func TestBacktestPage_ProgressAndReport(t *testing.T) {
	running := serve(hostile(), "GET", "/rules/classify/tests/run")
	if said := body(t, running); running.Header.Get("Refresh") != "2" || !strings.Contains(said, `value="25"`) || !strings.Contains(said, "500 of at most 2000 items") {
		t.Errorf("got Refresh %q, %s; want its progress, shown anew by itself", running.Header.Get("Refresh"), said)
	}
	ended := serve(hostile(), "GET", "/rules/classify/tests/ended")
	page := parse(t, body(t, ended))
	said := words(page)
	for _, want := range []string{"Items tested1,900", "Become spam60", "Gain a category or topic40", "39+6", "before: no labels"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if ended.Header.Get("Refresh") != "" || strings.Contains(said, "same11") {
		t.Errorf("got Refresh %q, and %s; want no more of that, and only what changes", ended.Header.Get("Refresh"), said)
	}
}

func TestRulesPage_VersionsAndJobs(t *testing.T) {
	source := hostile()
	for _, c := range []struct {
		target, version string
		status          int
		to              string
	}{
		{"/rules/classify/restore", "2", 303, "/rules/classify"}, {"/rules/classify/restore", "0", 303, "/rules/classify"}, {"/rules/classify/restore", "x", 404, ""},
		{"/rules/classify/apply", "", 303, "/rules#jobs"}, {"/rules/spam/train", "", 303, "/rules#jobs"},
	} {
		if r := post(source, c.target, url.Values{"version": {c.version}}); r.StatusCode != c.status || r.Header.Get("Location") != c.to {
			t.Errorf("%s: got %d to %q, want %d to %q", c.target, r.StatusCode, r.Header.Get("Location"), c.status, c.to)
		}
	}
	for _, do := range []string{"cancel", "undo", "dance"} {
		if r := post(source, "/rules", url.Values{"job": {"j1"}, "do": {do}}); (r.StatusCode == 303 && r.Header.Get("Location") == "/rules#jobs") != (do != "dance") {
			t.Errorf("%s: got %d to %q", do, r.StatusCode, r.Header.Get("Location"))
		}
	}
	want := []string{"restore classify 2", "restore classify 0", "apply classify 0", "train spam", "cancel j1", "undo j1"}
	if !slices.Equal(source.worked, want) {
		t.Errorf("got %q done, want %q", source.worked, want)
	}
	source.ruleErr = fmt.Errorf("job j1: %w", workbench.ErrNoUndo)
	if r := post(source, "/rules", url.Values{"job": {"j1"}, "do": {"undo"}}); r.StatusCode != http.StatusConflict {
		t.Errorf("got %d for what can't be undone, want 409", r.StatusCode)
	}
}
