// Classify measures the classification of labelled items and trains the model of package model:
//
//	go run ./tools/classify eval items.jsonl.gz --part test
//	go run ./tools/classify train items.jsonl.gz --part train -o model.gz --figures model.md
package main

import (
	"fmt"
	"os"

	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/tools/classify/eval"
	"feedmesh/tools/command"
)

func main() {
	command.Main("classify", "Measure rules and model on labelled items, and train a model.", new(classifyCommand))
}

// A classifyCommand groups the commands that measure and train classification.
type classifyCommand struct {
	Eval    classifyEvalCommand    `cmd:"" help:"Measure the classification of labelled items."`
	Train   classifyTrainCommand   `cmd:"" help:"Train a model on labelled items."`
	Readers classifyReadersCommand `cmd:"" help:"Measure suggestions for simulated readers."`
}

// A rulesFlag selects rules that replace the built-in rules.
type rulesFlag struct {
	Rules string `placeholder:"FILE" type:"existingfile" help:"Rules that override the built-in rules, as a txtar archive: each file replaces the built-in file of its name."`
}

// rules returns the selected rules, or all syntax errors of the rule set.
func (f rulesFlag) rules() (*classify.Rules, error) {
	if f.Rules == "" {
		return classify.ShippedRules(), nil
	}
	text, err := os.ReadFile(f.Rules)
	if err != nil {
		return nil, command.Usage("read rules: %w", err)
	}
	set, err := classify.Overlay(text)
	if err != nil {
		return nil, command.Usage("invalid rules in %s:\n%w", f.Rules, err)
	}
	rules, err := classify.Compile(set)
	if err != nil {
		return nil, command.Usage("invalid rules in %s:\n%w", f.Rules, err)
	}
	return rules, nil
}

// readModel reads a model from a file.
func readModel(name string) (*model.Model, error) {
	packed, err := os.ReadFile(name)
	if err != nil {
		return nil, command.Usage("read model: %w", err)
	}
	m, err := model.Decode(packed)
	if err != nil {
		return nil, command.Usage("%s: %w", name, err)
	}
	return m, nil
}

// withRecords calls do with the records of one part of a file. Errors get the file's name.
func withRecords(name string, part eval.Part, do func(records) error) error {
	file, err := os.Open(name)
	if err != nil {
		return command.Usage("read items: %w", err)
	}
	defer file.Close()
	if err := do(part.Filter(eval.Records(file))); err != nil {
		return command.Usage("%s: %w", name, err)
	}
	return nil
}

// trainModel trains a model on one part of each file.
func trainModel(names []string, part eval.Part, rules *classify.Rules, from string) (*model.Model, error) {
	t := model.NewTrainer()
	for _, name := range names {
		if err := withRecords(name, part, func(r records) error { return eval.AddExamples(t, rules, r) }); err != nil {
			return nil, err
		}
	}
	m, err := t.Train(from)
	if err != nil {
		return nil, command.Usage("train model: %w", err)
	}
	return m, nil
}

// partName names a part of a file in a message.
func partName(part eval.Part, name string) string {
	if part == eval.All {
		return name
	}
	return fmt.Sprintf("the %s part of %s", part, name)
}
