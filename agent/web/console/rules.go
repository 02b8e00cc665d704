package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
)

const rulesPath = "/rules"

// rulePath returns the path of a rule set's page.
func rulePath(name string) string { return rulesPath + "/" + url.PathEscape(name) }

func (c rulePages) routes(mux *http.ServeMux) {
	mux.HandleFunc(rulesPath, c.rules)
	mux.HandleFunc(rulesPath+"/{name}", c.ruleSet)
	mux.HandleFunc(rulesPath+"/{name}/diff", c.ruleDiff)
	mux.HandleFunc(rulesPath+"/{name}/tests/{id}", c.ruleTest)
	mux.HandleFunc("POST "+rulesPath, c.decideJob)
	mux.HandleFunc("POST "+rulesPath+"/{name}", c.submitRules)
	mux.HandleFunc("POST "+rulesPath+"/{name}/restore", c.restoreRules)
	mux.HandleFunc("POST "+rulesPath+"/{name}/apply", c.applyRules)
	mux.HandleFunc("POST "+rulesPath+"/{name}/train", c.trainRules)
}

// A rulesPage lists the rule sets and their jobs.
type rulesPage struct {
	Sets   []ruleSetRow
	Jobs   []jobRow
	NoJobs locale.Text // message if the jobs cannot be listed
}

type ruleSetRow struct {
	URL, Name string
	Does      locale.Text
	Version   locale.Text
	Note      locale.Text // may be nil
	Changed   *locale.Timestamp
	Agents    locale.Text // how many of all agents use the newest version
}

// A jobRow is a job on stored items.
type jobRow struct {
	ID          string
	Note, State locale.Text
	Progress    locale.Text
	Error       locale.Text // may be nil
	Started     *locale.Timestamp
	Do          string      // available action; empty if none
	Confirm     locale.Text // its confirmation question; may be nil
}

func (c rulePages) rules(w http.ResponseWriter, r *http.Request) {
	sets, err := c.Rules.List(r.Context(), wire.None{})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	now := c.Now()
	var main rulesPage
	for _, set := range sets.Sets {
		main.Sets = append(main.Sets, ruleSetRow{
			URL: rulePath(set.Name), Name: set.Name, Does: locale.Composed(set.Does), Version: versionName(set.Version), Note: locale.Composed(set.Note),
			Changed: locale.NewTimestamp(set.Changed, now), Agents: agentsUsing(set),
		})
	}
	jobs, err := c.Jobs.List(r.Context(), wire.None{})
	if err != nil {
		main.NoJobs = locale.T("The jobs cannot be listed at the moment.")
	}
	running := false
	for _, j := range jobs.Jobs[:min(len(jobs.Jobs), pageSize)] {
		main.Jobs = append(main.Jobs, jobRowOf(j, now))
		running = running || j.State == workbench.Running
	}
	if running { // safe: the page has no input fields
		w.Header().Set("Refresh", "3")
	}
	c.render(w, r, http.StatusOK, "rules", page{Title: locale.T("Rules"), Here: rulesPath, Main: main})
}

// versionName formats a version; 0 is the built-in rules.
func versionName(version int64) locale.Text {
	if version == 0 {
		return locale.T("built-in")
	}
	return locale.T("version %s", strconv.FormatInt(version, 10))
}

// agentsUsing formats how many agents use the newest version.
func agentsUsing(set wire.RuleSet) locale.Text {
	all, n := int64(len(set.Agents)), int64(0)
	for _, a := range set.Agents {
		if a.Version == set.Version {
			n++
		}
	}
	switch {
	case all == 0:
		return locale.T("no agents")
	case n == all:
		return locale.N(all, "all %d agent", "all %d agents")
	}
	return locale.N(all, "%[2]d of %[1]d agent", "%[2]d of %[1]d agents", n)
}

func jobRowOf(j wire.Job, now time.Time) jobRow {
	row := jobRow{
		ID: j.ID, Note: locale.Composed(j.Note), State: locale.Composed(j.State), Error: locale.Composed(j.Error), Started: locale.NewTimestamp(j.Started, now),
		Progress: locale.T("%s of %s, %s changed", locale.Count(int64(j.Done)), locale.Count(int64(j.Total)), locale.Count(int64(j.Changed))),
	}
	switch {
	case j.State == workbench.Running && j.Cancel:
		row.State = locale.T("ending")
	case j.State == workbench.Running:
		row.Do = "cancel"
	case j.Kind == workbench.Relabel && j.State != workbench.Undone && j.Changed > 0:
		row.Do, row.Confirm = "undo", locale.T("Restore the labels that these items had before?")
	}
	return row
}

var toRules = choice{Label: locale.T("All rules"), URL: rulesPath}

// decideJob cancels or undoes a job.
func (c rulePages) decideJob(w http.ResponseWriter, r *http.Request) {
	id := formValue(w, r, "job")
	do, is := map[string]func(context.Context, wire.ByID) (wire.Job, error){"cancel": c.Jobs.Cancel, "undo": c.Jobs.Undo}[formValue(w, r, "do")]
	if !is {
		c.notFound(w, r)
		return
	}
	_, err := do(r.Context(), wire.ByID{ID: id})
	c.redirectToJobs(w, r, err)
}

// restoreRules saves the text of an old version as the next version.
func (c rulePages) restoreRules(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	version, err := strconv.ParseInt(formValue(w, r, "version"), 10, 64)
	if err != nil || version < 0 {
		c.notFound(w, r)
		return
	}
	if _, err := c.Rules.Restore(r.Context(), wire.RestoreRulesRequest{Name: name, Version: version}); err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	http.Redirect(w, r, rulePath(name), http.StatusSeeOther)
}

// applyRules starts a job that relabels stored items.
func (c rulePages) applyRules(w http.ResponseWriter, r *http.Request) {
	version, _ := strconv.ParseInt(formValue(w, r, "version"), 10, 64) // 0, the newest, if it is not a number
	_, err := c.Jobs.Apply(r.Context(), wire.ApplyRulesRequest{Name: r.PathValue("name"), Version: version})
	c.redirectToJobs(w, r, err)
}

// trainRules starts a job that trains a rule set.
func (c rulePages) trainRules(w http.ResponseWriter, r *http.Request) {
	_, err := c.Jobs.Train(r.Context(), wire.TrainRequest{Name: r.PathValue("name")})
	c.redirectToJobs(w, r, err)
}

// redirectToJobs redirects to the list of jobs, or shows the error.
func (c rulePages) redirectToJobs(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	http.Redirect(w, r, rulesPath+"#jobs", http.StatusSeeOther)
}

// A diffPage shows the changes between two versions.
type diffPage struct {
	Name     string
	From, To locale.Text
	Lines    []diffLine
	Back     string
}

// A diffLine is one line of a unified diff.
type diffLine struct {
	Class string
	Text  locale.Text
}

const maxDiffLines = 5000

func (c rulePages) ruleDiff(w http.ResponseWriter, r *http.Request) {
	name, query := r.PathValue("name"), r.URL.Query()
	from, fromErr := strconv.ParseInt(query.Get("from"), 10, 64)
	to, toErr := strconv.ParseInt(query.Get("to"), 10, 64)
	if fromErr != nil || toErr != nil || from < 0 || to < 1 {
		c.notFound(w, r)
		return
	}
	diff, err := c.Rules.Diff(r.Context(), wire.DiffRequest{Name: name, From: from, To: to})
	if err != nil {
		c.showError(w, r, err, locale.T("The store"), toRules)
		return
	}
	main := diffPage{Name: name, From: versionName(from), To: versionName(to), Lines: diffLines(string(diff.Data)), Back: rulePath(name)}
	c.render(w, r, http.StatusOK, "rulediff", page{Title: locale.T("Changes of rules %s", name), Here: rulesPath, Main: main})
}

// diffLines returns the lines of a unified diff without its two header lines, at most maxDiffLines.
func diffLines(diff string) (list []diffLine) {
	all := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for _, line := range all[min(2, len(all)):] {
		if len(list) == maxDiffLines {
			return append(list, diffLine{"at", locale.T("(truncated)")})
		}
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		case strings.HasPrefix(line, "@@"):
			class = "at"
		}
		list = append(list, diffLine{class, locale.Data(line)})
	}
	return list
}
