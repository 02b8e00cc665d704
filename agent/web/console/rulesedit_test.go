package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// backtest starts a back-test and returns the path of its page when it has the state.
func (s *site) backtest(t *testing.T, of wire.Backtest, reached func(wire.Backtest) bool) (path string) {
	t.Helper()
	id, err := s.Trials.Start(of)
	must(t, err)
	for {
		run, err := s.Trials.Progress(id)
		must(t, err)
		if reached(run) {
			return rulePath(of.Set) + "/tests/" + id
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func ended(b wire.Backtest) bool { return b.Ended }

// testable returns a site with 19 items and the rule sets of hostile sites.
func testable(t *testing.T) *site {
	t.Helper()
	s := newSite(t, hostileRuleSets(t))
	s.hostileRules(t)
	var items []storage.Item
	for n := range 19 {
		word := []string{"had", "gain", "gain", "spam", "same", "same"}[n%6]
		items = append(items, storage.Item{ID: fmt.Sprint(evil, n), Title: fmt.Sprint(word, evil), URL: "javascript:alert(1)"})
	}
	s.items(t, "f", items...)
	return s
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
		saved  string // text of the fourth version
		tested string // text of the back-test
		says   string
	}{
		"check":                 {ruleForm("check", "a\r\nb", "3"), 200, "", "", "", "No errors"},
		"check of what's wrong": {ruleForm("check", "wrong", "3"), 200, "", "", "", "rules:1:5: <script>"},
		"back-test":             {ruleForm("test", "a", "3"), 303, "/rules/classify/tests/", "", "a", ""},
		"test of what's wrong":  {ruleForm("test", "wrong", "3"), 422, "", "", "", "the text has errors"},
		"save":                  {ruleForm("save", "a\r\nb\r\n", "3"), 303, "/rules/classify", "a\nb\n", "", ""},
		"save of what's wrong":  {ruleForm("save", "wrong", "3"), 422, "", "", "", "Not saved"},
		"somebody was faster":   {ruleForm("save", "mine", "2"), 409, "", "", "", "Edit conflict"},
		"from what's forgotten": {ruleForm("save", "mine", "9"), 409, "", "", "", "Difference from their version to yours"},
		"go on writing":         {ruleForm("edit", "mine", "2"), 200, "", "", "", "mine"},
		"no version":            {ruleForm("save", "a", "x"), 400, "", "", "", "the form is incomplete"},
		"nothing to do":         {ruleForm("dance", "a", "3"), 404, "", "", "", ""},
	} {
		source := testable(t)
		r := post(source, "/rules/classify", c.form)
		said, to := body(t, r), r.Header.Get("Location")
		if c.tested != "" {
			id := strings.TrimPrefix(to, c.to)
			test, err := source.Trials.Progress(id)
			if want := (wire.Backtest{ID: id, Set: "classify", From: 3, Items: 500, Note: "a note", Text: "a"}); err != nil || test.ID != want.ID || test.Set != want.Set || test.From != want.From || test.Items != want.Items || test.Note != want.Note || test.Text != want.Text {
				t.Errorf("%s: got %+v, %v; want %+v", name, test, err, want)
			}
			to = strings.TrimSuffix(to, id)
		}
		if r.StatusCode != c.status || to != c.to {
			t.Errorf("%s: got %d to %q; want %d to %q", name, r.StatusCode, to, c.status, c.to)
		}
		newest, err := storage.RuleSets(source.Store).Read(t.Context(), "classify", 0)
		must(t, err)
		if c.saved == "" && newest.Version != 3 || c.saved != "" && (newest.Version != 4 || string(newest.Text) != c.saved || newest.Note != "a note") {
			t.Errorf("%s: got version %d %q %q, want %q", name, newest.Version, newest.Text, newest.Note, c.saved)
		}
		if page := parse(t, said); !strings.Contains(words(page), c.says) {
			t.Errorf("%s: the page does not say %q: %s", name, c.says, words(page))
		}
	}
}

func TestRulePage_KeepsTextOnErrors(t *testing.T) {
	const text = "\n</textarea><script>\n a & b"
	source := testable(t)
	page := parse(t, body(t, post(source, "/rules/classify", ruleForm("save", text, "2"))))
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
		if r := post(source, "/rules/classify", c); r.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d for a text of %d bytes, want 413", r.StatusCode, maxRulesForm)
		}
	}
}

func TestBacktestPage_ProgressAndReport(t *testing.T) {
	source := testable(t)
	running := serve(source, "GET", source.backtest(t, wire.Backtest{Set: "classify", Text: blocking, Items: 20}, func(b wire.Backtest) bool { return b.Done == 5 }))
	if said := body(t, running); running.Header.Get("Refresh") != "2" || !strings.Contains(said, `value="25"`) || !strings.Contains(said, "5 of at most 20 items") {
		t.Errorf("got Refresh %q, %s; want its progress, shown anew by itself", running.Header.Get("Refresh"), said)
	}
	end := serve(source, "GET", source.backtest(t, wire.Backtest{Set: "classify", Text: evil, Items: 2000}, ended))
	page := parse(t, body(t, end))
	said := words(page)
	for _, want := range []string{"Items tested19", "Become spam3", "Gain a category or topic6", "410+6", "before: no labels"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if end.Header.Get("Refresh") != "" || strings.Contains(said, "same11") {
		t.Errorf("got Refresh %q, and %s; want no more of that, and only what changes", end.Header.Get("Refresh"), said)
	}
}
