package eval

import (
	"fmt"
	"io"
	"iter"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/model"
)

// A Report is what came of classifying records.
type Report struct {
	Table
	Named Named `json:"named"`
	Spam  Spam  `json:"spam"` // of those of which it is known
}

// Run classifies records and says how well. Their labels are not shown to the
// classifier: in sets with categories, these were made from them.
func Run(c *classify.Classifier, records iter.Seq2[Record, error]) (Report, error) {
	var report Report
	var counter Counter
	for r, err := range records {
		if err != nil {
			return report, err
		}
		d := r.Document()
		began := time.Now()
		decision := c.Decide(d)
		took := time.Since(began)
		counter.Add(Case{Gold: r.Categories, Said: decision.Categories, First: decision.Likeliest, Took: took})
		report.Named.Add(r.Title, r.Labels, decision.Why)
		if r.Spam != nil {
			report.Spam.Add(*r.Spam, decision.Spam)
		}
	}
	report.Table = counter.Table()
	return report, nil
}

// Teach adds the records that have categories to what a model is trained on.
func Teach(t *model.Trainer, rules *classify.Rules, records iter.Seq2[Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if len(r.Categories) > 0 && !t.Add(rules.Example(r.ID, r.Document(), r.Categories, false)) {
			return fmt.Errorf("a model is trained on %d records at most", t.Len())
		}
	}
	return nil
}

// Document returns what is shown of a record to a classifier.
func (r Record) Document() classify.Document {
	return classify.Document{
		Title: r.Title, Text: r.Body, Language: r.Language, URL: r.URL, Author: r.Author, FeedTitle: r.FeedTitle,
	}
}

// Only yields those records that are in a part, and what errors there are.
func (h Part) Only(records iter.Seq2[Record, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r, err := range records {
			if (err != nil || h.Has(r.ID)) && !yield(r, err) {
				return
			}
		}
	}
}

// Print writes a report as a table for people. what says of what it is.
func (r Report) Print(w io.Writer, what string) {
	if r.Items > 0 {
		fmt.Fprintf(w, "%s: %d items\n", what, r.Items)
		r.Table.print(w)
	}
	if r.Named.Items > 0 {
		fmt.Fprintf(w, "a label that the title names is found as a topic: %s of %d\n", percent(r.Named.Share()), r.Named.Items)
	}
	if r.Spam.Items > 0 {
		s := r.Spam.Score()
		fmt.Fprintf(w, "%s: spam: %d of %d items; precision %s, recall %s, F1 %s, false positives %s\n",
			what, r.Spam.Gold, r.Spam.Items, percent(s.Precision), percent(s.Recall), percent(s.F1), percent(r.Spam.FalsePositives()))
	}
}
