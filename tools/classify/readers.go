package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"feedmesh/classify"
	"feedmesh/classify/interest"
	"feedmesh/tools/classify/eval"
	"feedmesh/tools/classify/readers"
	"feedmesh/tools/command"
)

// A classifyReadersCommand measures suggestions for simulated readers.
type classifyReadersCommand struct {
	Readers int      `default:"60" help:"Number of simulated readers of each file (${default})."`
	Half    string   `default:"all" enum:"even,odd,all" help:"Only readers with even or odd numbers (${default})."`
	Items   int      `default:"15000" help:"Maximum number of items of each file (${default})."`
	Files   []string `arg:"" type:"existingfile" help:"Items in order of time, as for eval; may be gzip."`
}

// Help implements kong's HelpProvider.
func (classifyReadersCommand) Help() string {
	return `A reader prefers three categories, opens 60 of 100 listed items of them and 5 of 100
others. The model gets the words of titles, the labels that the built-in rules find,
and the host as the publisher; not the categories of the file. Lists of items that
no reader saw are measured: nDCG@20, where an item that the reader opens has a gain.

Settings were chosen with the even readers; compare the odd ones.`
}

// Run is called by kong.
func (c *classifyReadersCommand) Run(_ context.Context, o *command.Output) error {
	rules, _, err := (&classifyEvalCommand{Model: "none", Part: eval.All}).classifier()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "set\treaders\tnewest\t")
	for _, n := range readers.Reads {
		fmt.Fprintf(w, "%d reads\t", n)
	}
	fmt.Fprint(w, "after 50 / newest\t\n")
	for _, name := range c.Files {
		var items []readers.Item
		if err := withRecords(name, eval.All, func(r records) (err error) {
			items, err = c.read(r, rules)
			return err
		}); err != nil {
			return err
		}
		curve := readers.Measure(items, c.Readers, func(n int) bool { return c.Half == "all" || n%2 == 0 == (c.Half == "even") })
		fmt.Fprintf(w, "%s\t%d\t%.3f\t", strings.TrimSuffix(filepath.Base(name), ".jsonl.gz"), curve.Readers, curve.Newest)
		for _, v := range curve.Model {
			fmt.Fprintf(w, "%.3f\t", v)
		}
		fmt.Fprintf(w, "%.2f\t\n", curve.Model[3]/curve.Newest)
	}
	return w.Flush()
}

// read returns the items of a file with the labels that rules find.
func (c *classifyReadersCommand) read(all records, rules *classify.Classifier) ([]readers.Item, error) {
	var items []readers.Item
	for r, err := range all {
		if err != nil || len(items) >= c.Items {
			return items, err
		}
		d := r.Document()
		decision := rules.Decide(d)
		host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL, "https://"), "http://"), "/")
		items = append(items, readers.Item{ID: r.ID, Categories: r.Categories, Document: interest.Document{
			Title: r.Title, Language: r.Language, Categories: decision.Categories, Topics: decision.Topics, Feed: host, FeedTitle: host,
		}})
	}
	return items, nil
}
