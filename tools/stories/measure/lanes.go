package measure

import (
	"fmt"
	"io"
	"text/tabwriter"

	"feedmesh/classify/story"
)

// A Lane is the quality of a grouping of the items of few feeds.
type Lane struct {
	Hosts string `json:"hosts"` // which share of the publishers it has
	Items int    `json:"items"`
	Pairs Score  `json:"pairs"` // of all pairs of items

	// Alone is set if all items are about different things; then Joined counts those in the event or story of another.
	Alone  bool `json:"alone,omitempty"`
	Joined int  `json:"joined,omitempty"`
}

// Lanes groups the records of one publisher in 4, 16, 64 and 256.
func Lanes(w story.Weights, records []Record) (list []Lane) {
	for _, n := range []int{4, 16, 64, 256} {
		if fewer := FewerHosts(records, n); len(fewer) > 0 {
			r := Ours(w, fewer)
			list = append(list, Lane{Hosts: fmt.Sprint("1 in ", n), Items: len(fewer), Pairs: r.Figures.Pairs})
		}
	}
	return list
}

// AloneLanes groups records that are about different things, by titles alone and with texts.
func AloneLanes(w story.Weights, alone []Record) (list []Lane) {
	for _, l := range []struct {
		hosts   string
		records []Record
	}{{"all, titles", Titles(alone)}, {"all, texts", alone}} {
		if len(l.records) > 0 {
			r := Ours(w, l.records)
			list = append(list, Lane{Hosts: l.hosts, Items: len(l.records), Alone: true, Joined: len(l.records) - r.Clusters})
		}
	}
	return list
}

// PrintLanes writes lanes for people.
func PrintLanes(w io.Writer, lanes []Lane) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tabs, "\nHOSTS\tITEMS\tPAIRS P\tR\tF1\tJOINED THOUGH ALONE\t")
	for _, l := range lanes {
		if l.Alone {
			fmt.Fprintf(tabs, "%s\t%d\t\t\t\t%d\t\n", l.Hosts, l.Items, l.Joined)
		} else {
			fmt.Fprintf(tabs, "%s\t%d\t%s\t\t\n", l.Hosts, l.Items, l.Pairs)
		}
	}
	tabs.Flush()
}
