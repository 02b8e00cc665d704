package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"feedmesh/classify/eval"
	"feedmesh/classify/model"
)

// A classifyTrainCommand trains a model.
type classifyTrainCommand struct {
	rulesFlag
	Part    eval.Part `env:"-" default:"all" enum:"train,test,all" help:"Train on the train part, the test part or all items (${default})."`
	Output  string    `env:"-" short:"o" required:"" placeholder:"FILE" help:"File to write the model to."`
	Figures string    `env:"-" placeholder:"FILE" help:"File to write its figures to, in Markdown."`
	From    string    `env:"-" placeholder:"TEXT" help:"What the items are, for the figures; by default the names of the files."`
	Files   []string  `arg:"" type:"existingfile" help:"Items, one JSON object a line, as agent classify eval reads them."`
}

// Help implements kong's HelpProvider.
func (classifyTrainCommand) Help() string {
	return `The model learns what rules leave open, and how far to trust them: train it again
when rules have changed much. It holds words and their weights, and no item.

    agent classify train items.jsonl.gz --part train -o model.gz --figures model.md`
}

// Run implements the command.
func (c *classifyTrainCommand) Run(_ context.Context, p *program) error {
	rules, err := c.rules()
	if err != nil {
		return err
	}
	from := c.From
	if from == "" {
		var names []string
		for _, name := range c.Files {
			names = append(names, partOf(c.Part, filepath.Base(name)))
		}
		from = strings.Join(names, ", ")
	}
	m, err := teach(c.Files, c.Part, rules, from)
	if err != nil {
		return err
	}
	packed, err := m.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, packed, 0o666); err != nil {
		return fmt.Errorf("write the model: %w", err)
	}
	figures := m.Figures()
	if c.Figures != "" {
		if err := os.WriteFile(c.Figures, c.document(figures), 0o666); err != nil {
			return fmt.Errorf("write the figures: %w", err)
		}
	}
	p.page().printf("%s: %d bytes\n", c.Output, len(packed))
	p.page().printf("%s: %d items, %d features; %s right of %d held out\n", figures.From, figures.Examples, figures.Features, percent(figures.Top1, 1), figures.Held)
	return nil
}

// document returns what there is to know of the model, in Markdown.
func (c *classifyTrainCommand) document(figures model.Figures) []byte {
	var names []string
	for _, name := range c.Files {
		names = append(names, filepath.Base(name))
	}
	return fmt.Appendf(nil, "# What %s has learned\n\n%s\nMade by `agent classify train --part %s -o %s %s`. It holds words and their weights, and no item.\n",
		filepath.Base(c.Output), figures, c.Part, filepath.Base(c.Output), strings.Join(names, " "))
}
