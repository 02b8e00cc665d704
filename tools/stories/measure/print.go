package measure

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Print writes reports for people: a line for each method and order, shares in percent. Events have a
// separate line.
func Print(w io.Writer, reports []Report) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tabs, "METHOD\tORDER\tCLUSTERS\tB3 P\tR\tF1\tPAIRS P\tR\tF1\tARI\tSOURCE 3 P\tR\tMISSED\tFOREIGN\tFIRST P\tR\tP50\tP99\tBYTES\t")
	for _, r := range reports {
		cost := fmt.Sprintf("%s\t%s\t%d", micros(r.P50), micros(r.P99), r.Bytes)
		fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\t\n", r.Method, r.Order, r.Figures.columns(), cost)
		if r.Events != nil {
			fmt.Fprintf(tabs, "%s\t%s\t%s\t\t\t\t\n", r.Method+", events", r.Order, r.Events.columns())
		}
	}
	tabs.Flush()
	printPeriods(w, reports)
}

// printPeriods writes the B-cubed figures within each length of periods.
func printPeriods(w io.Writer, reports []Report) {
	if len(reports) == 0 || len(reports[0].Periods) == 0 {
		return
	}
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tabs, "\nB3 WITHIN\tORDER\t")
	for _, p := range reports[0].Periods {
		switch p.Days {
		case 0:
			fmt.Fprint(tabs, "ALL DAYS P\tR\tF1\t")
		case 1:
			fmt.Fprint(tabs, "A DAY P\tR\tF1\t")
		default:
			fmt.Fprintf(tabs, "%d DAYS P\tR\tF1\t", p.Days)
		}
	}
	for _, r := range reports {
		fmt.Fprintf(tabs, "\n%s\t%s\t", r.Method, r.Order)
		for _, p := range r.Periods {
			fmt.Fprintf(tabs, "%s\t", p.BCubed)
		}
	}
	fmt.Fprintln(tabs)
	tabs.Flush()
}

func (f Figures) columns() string {
	return fmt.Sprintf("%d\t%s\t%s\t%.3f\t%s\t%s\t%d\t%d\t%s\t%s", f.Clusters, f.BCubed, f.Pairs, f.ARI,
		percent(f.Messages.Precision), percent(f.Messages.Recall), f.Missed, f.Foreign,
		percent(f.First.Precision), percent(f.First.Recall))
}

// String returns three columns.
func (s Score) String() string {
	return percent(s.Precision) + "\t" + percent(s.Recall) + "\t" + percent(s.F1)
}

func percent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }

func micros(d time.Duration) string { return fmt.Sprintf("%.0f us", float64(d)/1e3) }

// PrintPairs writes reports on pairs for people.
func PrintPairs(w io.Writer, reports []PairReport) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tabs, "LANGUAGE\tPAIRS\tOF ONE STORY\tP\tR\tF1\t")
	for _, r := range reports {
		fmt.Fprintf(tabs, "%s\t%d\t%d\t%s\t\n", r.Language, r.Pairs, r.Same, r.Score)
	}
	tabs.Flush()
}
