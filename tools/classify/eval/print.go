package eval

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"
)

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// print writes the metrics as a table: a line for each category, totals and confusions.
func (t Metrics) print(w io.Writer) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tabs, "CATEGORY\tITEMS\tLABELLED\tPREDICTED\tCORRECT\tPRECISION\tRECALL\tF1\t")
	for _, c := range t.Categories {
		fmt.Fprintf(tabs, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t\n", plain(c.Name), c.Gold, c.Labelled, c.Predicted, c.Correct, percent(c.Precision), percent(c.Recall), percent(c.F1))
	}
	for _, sum := range []struct {
		name string
		Score
	}{{"all labels (micro)", t.Micro}, {"mean (macro)", t.Macro}} {
		fmt.Fprintf(tabs, "%s\t\t\t\t\t%s\t%s\t%s\t\n", sum.name, percent(sum.Precision), percent(sum.Recall), percent(sum.F1))
	}
	tabs.Flush()
	fmt.Fprintf(w, "coverage %s; best category correct for %s of these, %s of all\n", percent(t.Coverage), percent(t.Precision), percent(t.Accuracy))
	fmt.Fprintf(w, "top-1 accuracy, including uncertain items: %s; %v per item\n", percent(t.Top1), t.PerItem.Round(100*time.Nanosecond))
	if len(t.Confusions) > 0 {
		fmt.Fprint(w, "most often confused:")
		for i, p := range t.Confusions {
			fmt.Fprintf(w, "%s %s for %s %d", map[bool]string{true: ","}[i > 0], plain(p.Predicted), plain(p.Gold), p.Items)
		}
		fmt.Fprintln(w)
	}
}

// plain returns a name that is safe to print to a terminal, at most 40 characters.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return utf8.RuneError
	}, name)
	if utf8.RuneCountInString(name) > 40 {
		return string([]rune(name)[:39]) + "…"
	}
	return name
}
