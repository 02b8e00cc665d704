package main

import (
	"errors"
	"fmt"
	"os"

	"feedmesh/classify"
	"feedmesh/classify/eval"
	"feedmesh/classify/model"
)

// A classifyCommand is the commands about how items are classified.
type classifyCommand struct {
	Eval  classifyEvalCommand  `cmd:"" help:"Say how well items are classified whose categories are known."`
	Train classifyTrainCommand `cmd:"" help:"Train a model on items whose categories are known."`
}

// A rulesFlag is rules to go by in place of the program's own.
type rulesFlag struct {
	Rules string `env:"-" placeholder:"FILE" type:"existingfile" help:"Rules that change the program's own, as a txtar archive: a file stands in place of that of its name."`
}

// rules returns the rules to go by, and the set's faults if they are wrong.
func (f rulesFlag) rules() (*classify.Rules, error) {
	if f.Rules == "" {
		return classify.ShippedRules(), nil
	}
	text, err := os.ReadFile(f.Rules)
	if err != nil {
		return nil, wrong("can't read the rules: %w", err)
	}
	set, err := classify.Overlay(text)
	if err != nil {
		return nil, wrong("%s is wrong:\n%w", f.Rules, err)
	}
	rules, err := classify.Compile(set)
	if err != nil {
		return nil, wrong("%s is wrong:\n%w", f.Rules, err)
	}
	return rules, nil
}

// readModel reads a model from a file.
func readModel(name string) (*model.Model, error) {
	packed, err := os.ReadFile(name)
	if err != nil {
		return nil, wrong("can't read the model: %w", err)
	}
	m, err := model.Decode(packed)
	if err != nil {
		return nil, wrong("%s: %w", name, err)
	}
	return m, nil
}

// withRecords lets do have the records of a part of a file.
func withRecords(name string, part eval.Part, do func(records) error) error {
	file, err := os.Open(name)
	if err != nil {
		return wrong("can't read the items: %w", err)
	}
	defer file.Close()
	if err := do(part.Only(eval.Records(file))); err != nil {
		var known fault
		if errors.As(err, &known) {
			return err
		}
		return wrong("%s: %w", name, err)
	}
	return nil
}

// teach trains a model on parts of files.
func teach(names []string, part eval.Part, rules *classify.Rules, from string) (*model.Model, error) {
	t := model.NewTrainer()
	for _, name := range names {
		if err := withRecords(name, part, func(r records) error { return eval.Teach(t, rules, r) }); err != nil {
			return nil, err
		}
	}
	m, err := t.Train(from)
	if err != nil {
		return nil, wrong("can't train: %w", err)
	}
	return m, nil
}

// partOf names a part of a file in a sentence.
func partOf(part eval.Part, name string) string {
	if part == eval.All {
		return name
	}
	return fmt.Sprintf("the %s part of %s", part, name)
}
