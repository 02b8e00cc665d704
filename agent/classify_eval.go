package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"feedmesh/classify"
	"feedmesh/classify/eval"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
)

// records are the items of a file.
type records = iter.Seq2[eval.Record, error]

// A classifyEvalCommand says how well items are classified.
type classifyEvalCommand struct {
	rulesFlag
	Model string    `env:"-" placeholder:"FILE" help:"Model to guess with, or none; by default the program's own."`
	Train bool      `env:"-" help:"Train a model on the train part of the file and measure on the other."`
	Part  eval.Part `env:"-" default:"all" enum:"train,test,all" help:"Measure on the train part, the test part or all items; which part an item is of, a hash of its ID tells (${default})."`
	JSON  bool      `env:"-" name:"json" help:"Print JSON."`
	File  string    `arg:"" type:"existingfile" help:"Items, one JSON object a line; may be gzip."`
}

// Help implements kong's HelpProvider.
func (classifyEvalCommand) Help() string {
	return `The items of FILE have an id, a title, and what there is of body, lang, url, host,
author, feed, category (a name or a list) and label ("spam" or "ham"):

    {"id": "1", "title": "Helm 4 is out", "lang": "en", "category": ["devops"]}

A category is right if it is one of the item's; items without are left out. The
program's own model knows the items that it was trained on: where FILE is of
these, measure on the other part.

    agent classify eval items.jsonl.gz --part test

What would one's own rules change?

    agent classify eval items.jsonl.gz --rules mine.txtar --model none`
}

// Validate is called by kong.
func (c *classifyEvalCommand) Validate() error {
	switch {
	case c.Train && c.Part != eval.All:
		return fmt.Errorf("--train measures on the test part: leave --part out")
	case c.Train && c.Model != "":
		return fmt.Errorf("--train and --model can't be used together")
	}
	return nil
}

// An evaluated is what is printed as JSON.
type evaluated struct {
	Rules eval.Report    `json:"rules"`           // by rules alone
	Model *eval.Report   `json:"model,omitempty"` // with the model
	From  *model.Figures `json:"trained,omitempty"`
}

// Run implements the command.
func (c *classifyEvalCommand) Run(_ context.Context, p *program) error {
	classifier, part, err := c.classifier()
	if err != nil {
		return err
	}
	guessing := classifier.Model
	classifier.Model = nil
	var result evaluated
	if result.Rules, err = evaluate(c.File, part, classifier); err != nil {
		return err
	}
	if result.Rules.Items == 0 && result.Rules.Spam.Items == 0 {
		return wrong("%s has no item with a category or a label", partOf(part, c.File))
	}
	if guessing != nil && result.Rules.Items > 0 {
		classifier.Model = guessing
		report, err := evaluate(c.File, part, classifier)
		if err != nil {
			return err
		}
		figures := guessing.Figures()
		result.Model, result.From = &report, &figures
	}
	if c.JSON {
		return p.printJSON(result)
	}
	pg := p.page()
	result.Rules.Print(pg.w, "rules alone")
	if result.Model != nil {
		result.Model.Spam = eval.Spam{} // a model has no say in it
		pg.printf("\n")
		result.Model.Print(pg.w, "with the model of "+clean(result.From.From))
	}
	return nil
}

// classifier returns what to measure, and on which part.
func (c *classifyEvalCommand) classifier() (*classify.Classifier, eval.Part, error) {
	rules, err := c.rules()
	if err != nil {
		return nil, "", err
	}
	filter, err := spam.Parse(spam.Shipped())
	if err != nil {
		return nil, "", fmt.Errorf("read the program's own lists: %w", err)
	}
	classifier, part := &classify.Classifier{Rules: rules, Spam: filter}, c.Part
	switch {
	case c.Train:
		part = eval.Test
		classifier.Model, err = teach([]string{c.File}, eval.Train, rules, partOf(eval.Train, c.File))
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
		report, err = eval.Run(classifier, r)
		return err
	})
	return report, err
}
