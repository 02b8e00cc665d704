package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// PrintCopies prints a table of results on copies.
func PrintCopies(w io.Writer, all []Copies) error {
	names := RelationNames(all)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "METHOD\tAT\tRECALL\tPRECISION\tF1\tFALSE IN ONE FEED\tUS PER ITEM\tUS PER PAIR\t%s\n", strings.ToUpper(strings.Join(names, "\t")))
	for _, c := range all {
		fmt.Fprintf(out, "%s\t%.2f\t%.4f\t%.4f\t%.4f\t%.2f %% of %d\t%.1f\t%.1f%s\n", c.Method, c.Threshold, c.Recall, c.Precision, c.F1,
			100*c.FalseRate, c.Pairs, micros(c.Item), micros(c.Pair), shares(c.Relations, names))
	}
	return out.Flush()
}

// PrintTitles prints a table of results on edited titles.
func PrintTitles(w io.Writer, all []Titles) error {
	seen := make(map[string]bool)
	for _, t := range all {
		for name := range t.Edits {
			seen[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "METHOD\tAT\tRECALL\tPRECISION\tF1\tFALSE IN ONE STORY\tOTHER NUMBERS APART\t%s\n", strings.ToUpper(strings.Join(names, "\t")))
	for _, t := range all {
		fmt.Fprintf(out, "%s\t%.2f\t%.4f\t%.4f\t%.4f\t%.2f %% of %d\t%.1f %% of %d%s\n", t.Method, t.Threshold, t.Recall, t.Precision, t.F1,
			100*t.FalseRate, t.Pairs, 100*t.Apart, t.Numbers, shares(t.Edits, names))
	}
	return out.Flush()
}

func shares(by map[string]float64, names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "\t%.3f", by[name])
	}
	return b.String()
}

// Print prints time and memory of the placement.
func (c Cost) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d items placed in turn: %.1f us p50, %.1f us p99 per item, and %.1f us, %.1f us to sketch it; %d bytes per stored item; %d duplicates\n",
		c.Items, micros(c.Place50), micros(c.Place99), micros(c.Sketch50), micros(c.Sketch99), c.Bytes, c.Duplicates)
	return err
}
