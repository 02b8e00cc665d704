package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

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
	Label   string
	Count   int64
	Samples []sampleRow
}

type sampleRow struct {
	URL, Title    string
	Before, After string
	Reasons       []string
}

// A shiftRow shows the number of items with a label before and after.
type shiftRow struct {
	Name          string
	Before, After int64
	Change        string
}

const shiftsShown = 30

// ruleTest shows a back-test.
func (c *console) ruleTest(w http.ResponseWriter, r *http.Request) {
	test, err := c.source.Backtest(r.PathValue("id"))
	if err == nil && test.Set != r.PathValue("name") {
		err = storage.ErrNotFound
	}
	if err != nil {
		c.showError(w, r, err, "The store", toRules)
		return
	}
	main := backtestPage{Backtest: test, Path: rulePath(test.Set), Percent: 100 * test.Done / max(test.Items, 1), Ended: test.Ended}
	if !test.Ended {
		w.Header().Set("Refresh", "2")
	} else if test.Err == "" {
		main.show(test.Report)
	}
	c.render(w, r, http.StatusOK, "ruletest", page{Title: "Back-test of rules " + test.Set, Here: rulesPath, Main: main})
}

// show adds a report to the page.
func (p *backtestPage) show(report workbench.Report) {
	e, s := report.Effects, report.Samples
	p.Effects = []figure{
		{"looked", "Items tested", count(int64(report.Items))}, {"stay", "Unchanged", count(int64(e.Same))},
		{"time", "Time per item", strconv.FormatFloat(report.MicrosPerItem, 'f', 0, 64) + " µs"},
	}
	p.Kinds = []sampleKind{
		kindOf("Become spam", e.Spam, s.Spam), kindOf("No longer spam", e.Clean, s.Clean),
		kindOf("Gain a category or topic", e.Gained, s.Gained), kindOf("Lose a category or topic", e.Lost, s.Lost),
	}
	for _, shift := range report.Categories {
		if shift.Before != shift.After && len(p.Shifts) < shiftsShown {
			p.Shifts = append(p.Shifts, shiftRow{shift.Name, int64(shift.Before), int64(shift.After), fmt.Sprintf("%+d", shift.After-shift.Before)})
		}
	}
}

func kindOf(label string, n int, samples []workbench.Sample) sampleKind {
	kind := sampleKind{Label: label, Count: int64(n)}
	for _, s := range samples {
		kind.Samples = append(kind.Samples, sampleRow{URL: itemURL(s.ID), Title: titleOrDefault(s.Title), Before: labelsText(s.Before), After: labelsText(s.After), Reasons: s.Why})
	}
	return kind
}

// labelsText formats the labels of an item.
func labelsText(l workbench.Labelled) string {
	list := append(append([]string{}, l.Categories...), l.Topics...)
	if l.Spam {
		list = append([]string{"spam"}, list...)
	}
	if len(list) == 0 {
		return "no labels"
	}
	return strings.Join(list, ", ")
}
