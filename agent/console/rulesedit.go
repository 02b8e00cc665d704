package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"feedmesh/agent/api"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

const (
	maxRulesForm  = 4 << 20   // bytes of a form with rules, which takes up to three times the text
	maxEditedText = 1 << 20   // that a page has in its field
	maxStandard   = 256 << 10 // of the program's own, which a person rather writes anew
)

// An editPage is where a rule set is written.
type editPage struct {
	api.RuleDesk
	Path     string
	Text     string // in the field
	From     int64  // version that it was made from
	Note     string
	Editable bool
	Whole    string // address of a text that is too long for the field
	Shown    string // name of the version in the field
	Outcome  string // of the last form, in words
	Check    *api.RuleCheck
	Conflict *conflict
	Items    int
	Counts   []int // how many items may be looked at
	Versions []versionRow
}

// A conflict is that somebody else put a version meanwhile.
type conflict struct {
	Why           string
	Theirs, Yours []diffLine // what they changed, and what yours would change of theirs
}

type versionRow struct {
	Version int64
	Name    string
	Note    string
	Changed *stamp
	URL     string // to read it
	Diff    string // what it changed
	Newest  bool
}

var backtestCounts = []int{500, 2000, 10000, 50000}

// ruleSet shows a rule set, to be read and written.
func (c *console) ruleSet(w http.ResponseWriter, r *http.Request) {
	version, err := strconv.ParseInt(r.URL.Query().Get("version"), 10, 64)
	if err != nil || version < 0 {
		version = 0
	}
	desk, err := c.source.RuleDesk(r.Context(), r.PathValue("name"), version)
	if err != nil {
		c.refused(w, r, err, "The store", toRules)
		return
	}
	c.edit(w, r, http.StatusOK, editPage{RuleDesk: desk, Text: desk.Text, From: desk.Newest})
}

// edit shows the field with what stands in it, what is said of that, and the
// versions there are.
func (c *console) edit(w http.ResponseWriter, r *http.Request, status int, main editPage) {
	name := main.Name
	main.Does = sentence(main.Does)
	main.Path, main.Shown, main.Counts, main.Editable = rulePath(name), versionName(main.Version), backtestCounts, main.Readable
	if main.Items == 0 {
		main.Items = backtestCounts[1]
	}
	if most := map[bool]int{true: maxStandard, false: maxEditedText}[main.Version == 0 && main.Check == nil]; len(main.Text) > most {
		main.Whole, main.Text = fmt.Sprintf("/api/rules/%s", name), ""
		main.Editable = main.Version == 0
	}
	versions, err := c.source.RuleVersions(r.Context(), name)
	if err != nil {
		c.refused(w, r, err, "The store", toRules)
		return
	}
	for i, v := range versions {
		row := versionRow{Version: v.Version, Name: versionName(v.Version), Note: v.Note, Changed: stamped(v.Changed, c.now()), Newest: i == 0}
		row.URL = main.Path + "?version=" + strconv.FormatInt(v.Version, 10)
		if main.Readable {
			row.Diff = fmt.Sprintf("%s/diff?from=%d&to=%d", main.Path, v.Version-1, v.Version)
		}
		if i == len(versions)-1 && v.Version > 1 { // what was before is forgotten
			row.Diff = ""
		}
		main.Versions = append(main.Versions, row)
	}
	c.render(w, r, status, "rule", page{Title: "Rules " + name, Here: rulesPath, Scripts: []string{"rules.js"}, Main: main})
}

// workOnRules does what the form says with a text: checks it, tries it on what is
// stored, or puts it as the next version. What was written is never lost.
func (c *console) workOnRules(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRulesForm)
	name := r.PathValue("name")
	if err := r.ParseForm(); err != nil {
		c.say(w, r, http.StatusRequestEntityTooLarge, message{
			Heading: "This text is too long for a page", Text: []string{"Put it with the agent: agent rules set " + name + " FILE."}, Links: []choice{toRules},
		})
		return
	}
	desk, err := c.source.RuleDesk(r.Context(), name, 0)
	if err != nil {
		c.refused(w, r, err, "The store", toRules)
		return
	}
	from, wrong := strconv.ParseInt(r.PostFormValue("from"), 10, 64)
	items, _ := strconv.Atoi(r.PostFormValue("items")) // 0, which is the default, if it is no number
	main := editPage{
		RuleDesk: desk, From: from, Items: items, Note: strings.TrimSpace(r.PostFormValue("note")),
		Text: strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n"), // as browsers send it
	}
	if wrong != nil || len(main.Note) > 200 || !desk.Readable {
		main.Outcome = "Nothing was done: the form is not whole, or its note is longer than 200 letters."
		c.edit(w, r, http.StatusBadRequest, main)
		return
	}
	check, err := c.source.CheckRules(r.Context(), name, main.Text)
	if err != nil {
		c.refused(w, r, err, "The store", toRules)
		return
	}
	main.Check = &check
	switch do := r.PostFormValue("do"); {
	case do == "check" || do == "edit":
		c.edit(w, r, http.StatusOK, main)
	case !check.Sound:
		main.Outcome = "Nothing was changed: the text is wrong."
		c.edit(w, r, http.StatusUnprocessableEntity, main)
	case do == "test":
		c.beginTest(w, r, main)
	case do == "save":
		c.saveRules(w, r, main)
	default:
		c.nothing(w, r)
	}
}

// beginTest begins a back-test, and shows how it gets on.
func (c *console) beginTest(w http.ResponseWriter, r *http.Request, main editPage) {
	id, err := c.source.BeginBacktest(api.Backtest{Set: main.Name, From: main.From, Text: main.Text, Note: main.Note, Items: main.Items})
	if err != nil {
		status := statusOf(err)
		if status == 0 {
			c.sorry(w, r, err, "The store")
			return
		}
		main.Outcome = sentence(err.Error())
		c.edit(w, r, status, main)
		return
	}
	http.Redirect(w, r, main.pathOfTest(id), http.StatusSeeOther)
}

func (p editPage) pathOfTest(id string) string { return rulePath(p.Name) + "/tests/" + id }

// saveRules puts the text as the next version. If somebody else was faster it shows
// both.
func (c *console) saveRules(w http.ResponseWriter, r *http.Request, main editPage) {
	_, err := c.source.PutRules(r.Context(), main.Name, main.From, main.Note, main.Text)
	switch {
	case errors.Is(err, storage.ErrConflict):
		diff, wrong := c.source.DiffRules(r.Context(), main.Name, main.From, main.Newest)
		if wrong != nil { // the version it was made from is forgotten
			diff = ""
		}
		main.Conflict = &conflict{
			Why: sentence(err.Error()), Theirs: diffLines(diff), Yours: diffLines(workbench.Diff("theirs", main.RuleDesk.Text, "yours", main.Text)),
		}
		main.From = main.Newest // who saves now has seen theirs
		c.edit(w, r, http.StatusConflict, main)
	case err != nil:
		c.refused(w, r, err, "The store", toRules)
	default:
		http.Redirect(w, r, rulePath(main.Name), http.StatusSeeOther)
	}
}
