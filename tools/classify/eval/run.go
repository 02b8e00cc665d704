package eval

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/model"
)

// A Report is the result of classifying records.
type Report struct {
	Metrics
	TitleTopics TitleTopics    `json:"named"`
	General     GeneralMetrics `json:"general"` // of records of general news, which the other metrics omit
	Spam        SpamMetrics    `json:"spam"`    // of records with a spam label
}

// GeneralMetrics count records that should get no category.
type GeneralMetrics struct {
	Items    int `json:"items"`
	Labelled int `json:"labelled"` // with a category
}

func (m *GeneralMetrics) add(labelled bool) {
	m.Items++
	if labelled {
		m.Labelled++
	}
}

// Share returns the share of records with a category.
func (m GeneralMetrics) Share() float64 { return share(m.Labelled, m.Items) }

// Evaluate classifies records and returns the metrics. The classifier does not receive the records' labels,
// because in sets with categories these were derived from the labels.
func Evaluate(c *classify.Classifier, records iter.Seq2[Record, error]) (Report, error) {
	var report Report
	var counter Counter
	for r, err := range records {
		if err != nil {
			return report, err
		}
		d := r.Document()
		began := time.Now()
		decision := c.Decide(d)
		elapsed := time.Since(began)
		if r.IsGeneral() {
			report.General.add(len(decision.Categories) > 0)
		} else {
			counter.Add(Case{Gold: r.Categories, Predicted: decision.Categories, MostLikely: decision.MostLikely, Duration: elapsed})
		}
		report.TitleTopics.Add(r.Title, r.Labels, decision.Reasons)
		if r.Spam != nil {
			report.Spam.Add(*r.Spam, decision.Spam)
		}
	}
	report.Metrics = counter.Metrics()
	return report, nil
}

// AddExamples adds records to a trainer: general news as [model.General], and records without a category, or with
// one that mixes IT and general news, with the categories that rules assign.
func AddExamples(t *model.Trainer, rules *classify.Rules, records iter.Seq2[Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if !t.Add(example(rules, r)) {
			return fmt.Errorf("a model is trained on at most %d records", t.Len())
		}
	}
	return nil
}

// example returns the training example of a record; without categories if rules assign none either.
func example(rules *classify.Rules, r Record) model.Example {
	d := r.Document()
	if r.IsGeneral() {
		return rules.Example(r.ID, d, []string{model.General}, false)
	}
	categories := slices.DeleteFunc(slices.Clone(r.Categories), func(c string) bool { return slices.Contains(mixedCategories, c) })
	if len(categories) > 0 {
		return rules.Example(r.ID, d, categories, false)
	}
	for _, l := range rules.Evaluate(d).Labels {
		if !l.Topic && l.Points >= classify.Threshold && len(categories) < maxRuleCategories {
			categories = append(categories, l.Name)
		}
	}
	return classify.RuleLabelledExample(r.ID, d, categories)
}

const maxRuleCategories = 2 // of an example without categories

// Document returns the fields of a record that the classifier receives.
func (r Record) Document() classify.Document {
	return classify.Document{
		Title: r.Title, Text: r.Body, Language: r.Language, URL: r.URL, Author: r.Author, FeedTitle: r.FeedTitle,
	}
}

// Filter yields the records of a part, and all errors.
func (h Part) Filter(records iter.Seq2[Record, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r, err := range records {
			if (err != nil || h.Contains(r.ID)) && !yield(r, err) {
				return
			}
		}
	}
}

// Print writes a report as a table. what names the classifier or set.
func (r Report) Print(w io.Writer, what string) {
	if r.Items > 0 {
		fmt.Fprintf(w, "%s: %d items\n", what, r.Items)
		r.Metrics.print(w)
	}
	if r.General.Items > 0 {
		fmt.Fprintf(w, "%s: general news: %s of %d items with a category\n", what, percent(r.General.Share()), r.General.Items)
	}
	if r.TitleTopics.Items > 0 {
		fmt.Fprintf(w, "labels named in the title and found as a topic: %s of %d\n", percent(r.TitleTopics.Share()), r.TitleTopics.Items)
	}
	if r.Spam.Items > 0 {
		s := r.Spam.Score()
		fmt.Fprintf(w, "%s: spam: %d of %d items; precision %s, recall %s, F1 %s, false positives %s\n",
			what, r.Spam.Gold, r.Spam.Items, percent(s.Precision), percent(s.Recall), percent(s.F1), percent(r.Spam.FalsePositiveRate()))
	}
}
