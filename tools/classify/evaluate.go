package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
	"feedmesh/tools/classify/eval"
	"feedmesh/tools/command"
)

// records are the items of a file.
type records = iter.Seq2[eval.Record, error]

// A classifyEvalCommand measures the classification of labelled items.
type classifyEvalCommand struct {
	rulesFlag
	Model string    `placeholder:"FILE" help:"Model to use, or none; by default the built-in model."`
	Train bool      `help:"Train a model on the train part of the file and measure on the test part."`
	Part  eval.Part `default:"all" enum:"train,test,all" help:"Measure on the train part, the test part or all items; a hash of an item's ID selects its part (${default})."`
	JSON  bool      `name:"json" help:"Print JSON."`
	File  string    `arg:"" type:"existingfile" help:"Items, one JSON object per line; may be gzip."`
}

// Help implements kong's HelpProvider.
func (classifyEvalCommand) Help() string {
	return `The items of FILE have an id, a title, and optionally body, lang, url, host,
author, feed, category (a name or a list) and label ("spam" or "ham"):

    {"id": "1", "title": "Helm 4 is out", "lang": "en", "category": ["devops"]}

A category is correct if the item has it; items without categories are skipped. Of
general news (category economy, entertainment, health, not_news, politics, society
or sports), the share that gets a category is printed. The built-in model was
trained on some items: if FILE contains them, measure on the test part.

    go run ./tools/classify eval items.jsonl.gz --part test

The effect of custom rules:

    go run ./tools/classify eval items.jsonl.gz --rules mine.txtar --model none`
}

// Validate is called by kong.
func (c *classifyEvalCommand) Validate() error {
	switch {
	case c.Train && c.Part != eval.All:
		return fmt.Errorf("--train measures on the test part: omit --part")
	case c.Train && c.Model != "":
		return fmt.Errorf("--train and --model cannot be used together")
	}
	return nil
}

// A classifyReport is the result as JSON.
type classifyReport struct {
	Rules eval.Report    `json:"rules"`           // of rules alone
	Model *eval.Report   `json:"model,omitempty"` // with the model
	From  *model.Metrics `json:"trained,omitempty"`
}

// Run implements the command.
func (c *classifyEvalCommand) Run(_ context.Context, o *command.Output) error {
	classifier, part, err := c.classifier()
	if err != nil {
		return err
	}
	predictor := classifier.Model
	classifier.Model = nil
	var result classifyReport
	if result.Rules, err = evaluate(c.File, part, classifier); err != nil {
		return err
	}
	if result.Rules.Items+result.Rules.General.Items+result.Rules.Spam.Items == 0 {
		return command.Usage("%s has no item with a category or a label", partName(part, c.File))
	}
	if predictor != nil && result.Rules.Items+result.Rules.General.Items > 0 {
		classifier.Model = predictor
		report, err := evaluate(c.File, part, classifier)
		if err != nil {
			return err
		}
		figures := predictor.Metrics()
		result.Model, result.From = &report, &figures
	}
	if c.JSON {
		return o.JSON(result)
	}
	result.Rules.Print(o.Out, "rules only")
	if result.Model != nil {
		result.Model.Spam = eval.SpamMetrics{} // the model does not classify spam
		fmt.Fprintln(o.Out)
		result.Model.Print(o.Out, "with the model of "+result.From.Source)
	}
	return nil
}

// classifier returns the classifier to measure and the part of the file to measure it on.
func (c *classifyEvalCommand) classifier() (*classify.Classifier, eval.Part, error) {
	rules, err := c.rules()
	if err != nil {
		return nil, "", err
	}
	filter, err := spam.Parse(spam.Shipped())
	if err != nil {
		return nil, "", fmt.Errorf("read built-in spam lists: %w", err)
	}
	classifier, part := &classify.Classifier{Rules: rules, Spam: filter}, c.Part
	switch {
	case c.Train:
		part = eval.Test
		classifier.Model, err = trainModel([]string{c.File}, eval.Train, rules, partName(eval.Train, c.File))
	case c.Model == "":
		classifier.Model = model.Default()
	case !strings.EqualFold(c.Model, "none"):
		classifier.Model, err = readModel(c.Model)
	}
	return classifier, part, err
}

func evaluate(name string, part eval.Part, classifier *classify.Classifier) (eval.Report, error) {
	var report eval.Report
	err := withRecords(name, part, func(r records) (err error) {
		report, err = eval.Evaluate(classifier, r)
		return err
	})
	return report, err
}
