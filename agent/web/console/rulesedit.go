package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

const (
	maxRulesForm  = 4 << 20   // bytes of a form; URL encoding takes up to three times the text
	maxEditedText = 1 << 20   // bytes of text in the page's field
	maxStandard   = 256 << 10 // bytes of built-in rules in the field
)

// An editPage is the rule workbench: edit, test, back-test and save a rule set.
type editPage struct {
	wire.RuleSetDetail
	Does     locale.Text // purpose of the set
	Path     string
	Text     string // content of the field
	From     int64  // version on which the text is based
	Note     string
	Editable bool
	Whole    string      // URL of a text that is too long for the field
	Shown    locale.Text // name of the version in the field
	Outcome  locale.Text // result of the last submit
	Check    *checkResult
	Conflict *conflict
	Items    int
	Counts   []int // selectable numbers of items for a back-test
	Versions []versionRow
}

// A checkResult is the result of checking the text.
type checkResult struct {
	Heading            locale.Text // number of problems; nil if there are none
	Problems, Warnings []locale.Text
}

func checkResultOf(c wire.RuleCheck) *checkResult {
	found := checkResult{Problems: composed(c.Problems), Warnings: composed(c.Warnings)}
	if n := int64(len(c.Problems)); n > 0 {
		found.Heading = locale.N(n, "%d error:", "%d errors:")
	}
	return &found
}

// A conflict is a concurrent save by another person.
type conflict struct {
	Reason        locale.Text
	Theirs, Yours []diffLine // their changes, and the difference from their text to yours
}

type versionRow struct {
	Version int64
	Name    locale.Text
	Note    locale.Text // may be nil
	Changed *locale.Timestamp
	URL     string // URL of the version
	Diff    string // URL of its changes
	Newest  bool
}

var backtestCounts = []int{500, 2000, 10000, 50000}

// ruleSet shows a rule set for reading and editing.
func (c rulePages) ruleSet(w http.ResponseWriter, r *http.Request) {
	version, err := strconv.ParseInt(r.URL.Query().Get("version"), 10, 64)
	if err != nil || version < 0 {
		version = 0
	}
	detail, err := c.Rules.Detail(r.Context(), wire.RuleVersionRequest{Name: r.PathValue("name"), Version: version})
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	c.edit(w, r, http.StatusOK, editPage{RuleSetDetail: detail, Text: detail.Text, From: detail.Newest})
}

// edit shows the editor with its text, the check's result and the list of versions.
func (c rulePages) edit(w http.ResponseWriter, r *http.Request, status int, main editPage) {
	name := main.Name
	main.Does = locale.Sentence(locale.Composed(main.RuleSetDetail.Does))
	main.Path, main.Shown, main.Counts, main.Editable = rulePath(name), versionName(main.Version), backtestCounts, main.Readable
	if main.Items == 0 {
		main.Items = backtestCounts[1]
	}
	if limit := map[bool]int{true: maxStandard, false: maxEditedText}[main.Version == 0 && main.Check == nil]; len(main.Text) > limit {
		main.Whole, main.Text = fmt.Sprintf("/api/rules/%s", name), ""
		main.Editable = main.Version == 0
	}
	saved, err := c.Rules.Versions(r.Context(), wire.RuleVersionSearch{Name: name, Limit: storage.MaxRuleVersions})
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	for i, v := range saved.Versions {
		row := versionRow{
			Version: v.Version, Name: versionName(v.Version), Note: locale.Composed(v.Note), Changed: locale.NewTimestamp(v.Changed, c.Now()), Newest: i == 0,
		}
		row.URL = main.Path + "?version=" + strconv.FormatInt(v.Version, 10)
		if main.Readable {
			row.Diff = fmt.Sprintf("%s/diff?from=%d&to=%d", main.Path, v.Version-1, v.Version)
		}
		if i == len(saved.Versions)-1 && v.Version > 1 { // the version before it has been purged
			row.Diff = ""
		}
		main.Versions = append(main.Versions, row)
	}
	c.render(w, r, status, "rule", page{Title: locale.T("Rules %s", name), Here: rulesPath, Scripts: []string{"rules.js"}, Main: main})
}

// submitRules checks, back-tests or saves the submitted text. The response always contains the text, so that
// no edit is lost.
func (c rulePages) submitRules(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRulesForm)
	name := r.PathValue("name")
	if err := r.ParseForm(); err != nil {
		c.showMessage(w, r, http.StatusRequestEntityTooLarge, message{
			Heading: locale.T("This text is too long for the form"),
			Text:    []locale.Text{locale.T("Save it with the command: agent rules set %s FILE.", name)},
			Links:   []choice{toRules},
		})
		return
	}
	detail, err := c.Rules.Detail(r.Context(), wire.RuleVersionRequest{Name: name})
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	from, fromErr := strconv.ParseInt(r.PostFormValue("from"), 10, 64)
	items, _ := strconv.Atoi(r.PostFormValue("items")) // 0, replaced by the default, if it is not a number
	main := editPage{
		RuleSetDetail: detail, From: from, Items: items, Note: strings.TrimSpace(r.PostFormValue("note")),
		Text: strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n"), // browsers send CRLF
	}
	if fromErr != nil || len(main.Note) > 200 || !detail.Readable {
		main.Outcome = locale.T("Not saved: the form is incomplete, or its note is longer than 200 characters.")
		c.edit(w, r, http.StatusBadRequest, main)
		return
	}
	check, err := c.Rules.Check(r.Context(), wire.RuleTextRequest{Name: name, RawBody: []byte(main.Text)})
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	main.Check = checkResultOf(check)
	switch do := r.PostFormValue("do"); {
	case do == "check" || do == "edit":
		c.edit(w, r, http.StatusOK, main)
	case !check.Valid:
		main.Outcome = locale.T("Not saved: the text has errors.")
		c.edit(w, r, http.StatusUnprocessableEntity, main)
	case do == "test":
		c.startBacktest(w, r, main)
	case do == "save":
		c.saveRules(w, r, main)
	default:
		c.notFound(w, r)
	}
}

// startBacktest starts a back-test and redirects to its page.
func (c rulePages) startBacktest(w http.ResponseWriter, r *http.Request, main editPage) {
	id, err := c.Trials.Start(wire.Backtest{Set: main.Name, From: main.From, Text: main.Text, Note: main.Note, Items: main.Items})
	if err != nil {
		status := statusOf(err)
		if status == 0 {
			c.showUnavailable(w, r, err, locale.T("The store"))
			return
		}
		main.Outcome = explanation(err)
		c.edit(w, r, status, main)
		return
	}
	http.Redirect(w, r, main.testPath(id), http.StatusSeeOther)
}

func (p editPage) testPath(id string) string { return rulePath(p.Name) + "/tests/" + id }

// saveRules saves the text as the next version. On a conflict it shows both texts.
func (c rulePages) saveRules(w http.ResponseWriter, r *http.Request, main editPage) {
	_, err := c.Rules.Put(r.Context(), wire.PutRulesRequest{
		Name: main.Name, Version: strconv.FormatInt(main.From, 10), Note: main.Note, RawBody: []byte(main.Text),
	})
	switch {
	case errors.Is(err, storage.ErrConflict):
		diff, diffErr := c.Rules.Diff(r.Context(), wire.DiffRequest{Name: main.Name, From: main.From, To: main.Newest})
		if diffErr != nil { // the base version has been purged
			diff.Data = nil
		}
		main.Conflict = &conflict{
			Reason: explanation(err), Theirs: diffLines(string(diff.Data)), Yours: diffLines(workbench.Diff("theirs", main.RuleSetDetail.Text, "yours", main.Text)),
		}
		main.From = main.Newest // the next save is based on their version
		c.edit(w, r, http.StatusConflict, main)
	case err != nil:
		c.showError(w, r, err, locale.T("The store"), toRules)
	default:
		http.Redirect(w, r, rulePath(main.Name), http.StatusSeeOther)
	}
}

// A backtestPage shows the progress or the report of a back-test.
type backtestPage struct {
	wire.Backtest
	Path    string
	Percent int
	Effects []figure
	Kinds   []sampleKind
	Shifts  []shiftRow
	Ended   bool
}

// A sampleKind is a kind of change with sample items.
type sampleKind struct {
	Label   locale.Text
	Count   int64
	Samples []sampleRow
}

type sampleRow struct {
	URL           string
	Title         locale.Text
	Before, After locale.Text
	Reasons       []locale.Text
}

// A shiftRow shows the number of items with a label before and after.
type shiftRow struct {
	Name          string
	Before, After int64
	Change        string
}

const shiftsShown = 30

// ruleTest shows a back-test.
func (c rulePages) ruleTest(w http.ResponseWriter, r *http.Request) {
	test, err := c.Trials.Progress(r.PathValue("id"))
	if err == nil && test.Set != r.PathValue("name") {
		err = storage.ErrNotFound
	}
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	main := backtestPage{Backtest: test, Path: rulePath(test.Set), Percent: 100 * test.Done / max(test.Items, 1), Ended: test.Ended}
	if !test.Ended {
		w.Header().Set("Refresh", "2")
	} else if test.Err == "" {
		main.show(test.Report)
	}
	c.render(w, r, http.StatusOK, "ruletest", page{Title: locale.T("Back-test of rules %s", test.Set), Here: rulesPath, Main: main})
}

// show adds a report to the page.
func (p *backtestPage) show(report wire.Report) {
	e, s := report.Effects, report.Samples
	p.Effects = []figure{
		{"looked", locale.T("Items tested"), locale.Count(int64(report.Items))}, {"stay", locale.T("Unchanged"), locale.Count(int64(e.Same))},
		{"time", locale.T("Time per item"), locale.T("%s µs", strconv.FormatFloat(report.MicrosPerItem, 'f', 0, 64))},
	}
	p.Kinds = []sampleKind{
		kindOf(locale.T("Become spam"), e.Spam, s.Spam), kindOf(locale.T("No longer spam"), e.Clean, s.Clean),
		kindOf(locale.T("Gain a category or topic"), e.Gained, s.Gained), kindOf(locale.T("Lose a category or topic"), e.Lost, s.Lost),
	}
	for _, shift := range report.Categories {
		if shift.Before != shift.After && len(p.Shifts) < shiftsShown {
			p.Shifts = append(p.Shifts, shiftRow{shift.Name, int64(shift.Before), int64(shift.After), fmt.Sprintf("%+d", shift.After-shift.Before)})
		}
	}
}

func kindOf(label locale.Text, n int, samples []wire.Sample) sampleKind {
	kind := sampleKind{Label: label, Count: int64(n)}
	for _, s := range samples {
		kind.Samples = append(kind.Samples, sampleRow{
			URL: itemURL(s.ID), Title: TitleOrDefault(s.Title), Before: labelsText(s.Before), After: labelsText(s.After), Reasons: composed(s.Why),
		})
	}
	return kind
}

// labelsText formats the labels of an item.
func labelsText(l wire.Labelled) locale.Text {
	var list []locale.Text
	if l.Spam {
		list = append(list, locale.T("spam"))
	}
	for _, name := range append(slices.Clone(l.Categories), l.Topics...) {
		list = append(list, locale.Data(name))
	}
	if list == nil {
		return locale.T("no labels")
	}
	return locale.Join(", ", list...)
}
