package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"feedmesh/agent/api"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// A backtestPage shows how a back-test gets on, or what came of it.
type backtestPage struct {
	api.Backtest
	Path    string
	Percent int
	Effects []figure
	Kinds   []sampleKind
	Shifts  []shiftRow
	Ended   bool
}

// A sampleKind is a kind of change, with items for which it holds.
type sampleKind struct {
	Label   string
	Count   int64
	Samples []sampleRow
}

type sampleRow struct {
	URL, Title    string
	Before, After string
	Why           []string
}

// A shiftRow says how many items have a label before and after.
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
		c.refused(w, r, err, "The store", toRules)
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

// show has the page show a report.
func (p *backtestPage) show(report workbench.Report) {
	e, s := report.Effects, report.Samples
	p.Effects = []figure{
		{"looked", "Items looked at", count(int64(report.Items))}, {"stay", "Stay as they are", count(int64(e.Same))},
		{"time", "Time for each", strconv.FormatFloat(report.MicrosPerItem, 'f', 0, 64) + " µs"},
	}
	p.Kinds = []sampleKind{
		kindOf("Become spam", e.Spam, s.Spam), kindOf("Are spam no more", e.Clean, s.Clean),
		kindOf("Gain a category or topic", e.Gained, s.Gained), kindOf("Lose one", e.Lost, s.Lost),
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
		kind.Samples = append(kind.Samples, sampleRow{URL: itemURL(s.ID), Title: titled(s.Title), Before: labelWords(s.Before), After: labelWords(s.After), Why: s.Why})
	}
	return kind
}

// labelWords says what an item is labelled as.
func labelWords(l workbench.Labelled) string {
	list := append(append([]string{}, l.Categories...), l.Topics...)
	if l.Spam {
		list = append([]string{"spam"}, list...)
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}
