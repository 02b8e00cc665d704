package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"feedmesh/classify/model"
	"feedmesh/tools/classify/eval"
	"feedmesh/tools/command"
)

// A classifyTrainCommand trains a model.
type classifyTrainCommand struct {
	rulesFlag
	Part    eval.Part `default:"all" enum:"train,test,all" help:"Part of the items to train on: train, test or all (${default})."`
	Output  string    `short:"o" required:"" placeholder:"FILE" help:"File to write the model to."`
	Figures string    `placeholder:"FILE" help:"File to write the model's figures to, in Markdown."`
	From    string    `placeholder:"TEXT" help:"Description of the items, for the figures; by default the file names."`
	Files   []string  `arg:"" type:"existingfile" help:"Items, one JSON object per line, in the format of eval."`
}

// Help implements kong's HelpProvider.
func (classifyTrainCommand) Help() string {
	return `The model decides where no rule matches, and weights the rules: train it again
after large changes of rules. It contains words and their weights, no items.

    go run ./tools/classify train items.jsonl.gz --part train -o model.gz --figures model.md

General news, as in eval, is learned as the outcome "no category". Items without a
category get those of the built-in rules.`
}

// Run implements the command.
func (c *classifyTrainCommand) Run(_ context.Context, o *command.Output) error {
	rules, err := c.rules()
	if err != nil {
		return err
	}
	from := c.From
	if from == "" {
		var names []string
		for _, name := range c.Files {
			names = append(names, partName(c.Part, filepath.Base(name)))
		}
		from = strings.Join(names, ", ")
	}
	m, err := trainModel(c.Files, c.Part, rules, from)
	if err != nil {
		return err
	}
	packed, err := m.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, packed, 0o666); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	figures := m.Metrics()
	if c.Figures != "" {
		if err := os.WriteFile(c.Figures, c.document(figures), 0o666); err != nil {
			return fmt.Errorf("write figures: %w", err)
		}
	}
	fmt.Fprintf(o.Out, "%s: %d bytes\n", c.Output, len(packed))
	fmt.Fprintf(o.Out, "%s: %d items, %d features; %.1f %% correct of %d held out\n", figures.Source, figures.Examples, figures.Features, 100*figures.Top1, figures.HeldOut)
	return nil
}

// document returns the model's figures as Markdown.
func (c *classifyTrainCommand) document(figures model.Metrics) []byte {
	var names []string
	for _, name := range c.Files {
		names = append(names, filepath.Base(name))
	}
	return fmt.Appendf(nil, "# Model %s\n\n%s\nCreated by `go run ./tools/classify train --part %s -o %s %s`. It contains words and their weights, no items.\n",
		filepath.Base(c.Output), figures, c.Part, filepath.Base(c.Output), strings.Join(names, " "))
}
