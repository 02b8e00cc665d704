package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"feedmesh/agent/api"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/classify/rule"
)

// ruled decides by rules alone; the zero one decides nothing.
type ruled struct{ rules *classify.Rules }

func (r ruled) Decide(d classify.Document) classify.Decision {
	var decision classify.Decision
	if r.rules == nil {
		return decision
	}
	out := r.rules.Fire(d)
	decision.Fired, decision.Spam = out.Fired, out.Quarantine
	for _, l := range out.Labels {
		if l.Points >= classify.Threshold {
			decision.Categories = append(decision.Categories, l.Name)
			decision.Why = append(decision.Why, l.Name+" by "+l.Why[0].Rule)
		}
	}
	return decision
}

// classifyBook is a set that decides what items are.
func classifyBook() api.Rulebook {
	compiled := func(text []byte) (ruled, []rule.Rule, error) {
		set, err := rule.Parse(text)
		if err != nil {
			return ruled{}, nil, err
		}
		rules, err := classify.Compile(set)
		return ruled{rules}, set.Rules, err
	}
	return api.Rulebook{
		Name: "classify", Does: "labels", Standard: []byte("category os when kernel\n"),
		Check:   func(text []byte) error { _, _, err := compiled(text); return err },
		Warn:    func([]byte) []string { return []string{"rules:1: it is \x1b[0modd"} },
		Decider: func(text []byte) (workbench.Decider, []rule.Rule, error) { return compiled(text) },
		Learn: func(context.Context, []byte, workbench.Examples) ([]byte, string, json.RawMessage, error) {
			return []byte("category os when linux\n"), "learned", json.RawMessage(`{"examples":0}`), nil
		},
	}
}

func TestWorkbenchCommandsAnswer(t *testing.T) {
	w := newWorld(t)
	one, bad := write(t, "one", "category os when kernel\ncategory languages when compiler\ncategory x when never\n"), write(t, "bad", "# what follows is no rule\ncategory\n")
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"rules check classify " + one, 0, "nothing is wrong", "it is \uFFFD[0modd"},
		{"rules check classify " + bad, 2, "", bad + ": rules:"},
		{"rules test classify --item " + w.item, 0, "fired       rules:1, 3 points: kernel in title", ""},
		{"rules test classify --title kernel --json", 0, `"categories":["os"]`, ""},
		{"rules test classify --title compiler " + one, 0, "why         languages by rules:2", ""},
		{"rules test classify --title compiler --feed " + feedURL + " --tag a --language en " + one, 0, "categories  languages", ""},
		{"rules test classify", 2, "", "say what to try them on"},
		{"rules test classify --item x --title y", 2, "", "can't both be"},
		{"rules test classify --item none", 1, "", "item none: not found"},
		{"rules test prepare --title x", 2, "", "rules prepare do not decide what items are"},
		{"rules test classify --title x " + bad, 2, "", "rules classify are wrong"},
		{"rules backtest classify " + one, 0, "0 become spam, 0 are spam no more, 2 gain a label, 0 lose one", ""},
		{"rules backtest classify " + one, 0, "1 rules never fire: rules:3", ""},
		{"rules backtest classify " + one, 0, "languages, before: nothing", ""},
		{"rules backtest classify " + one + " --items 1 --json", 0, `{"items":1,`, ""},
		{"rules backtest classify " + one + " --items 0", 2, "", "items"},
		{"rules backtest prepare " + one, 2, "", "rules prepare do not decide"},
		{"rules set classify " + one, 0, "version 1", ""},
		{"rules diff classify 0", 0, "+category languages when compiler", ""},
		{"rules diff classify 1 --json", 0, `{"diff":""}`, ""},
		{"rules diff classify 9", 1, "", "not found"},
		{"rules jobs", 0, "", "there were no jobs"},
		{"rules apply classify", 0, "is done: 2 of 2 items, 2 changed\ntake it back with: agent rules undo ", ""},
		{"rules apply classify --no-wait", 0, "begun: job ", ""},
		{"rules apply classify 9", 1, "", "not found"},
		{"rules apply prepare", 2, "", "rules prepare do not decide"},
		{"rules train classify", 0, "what it learned is in force", ""},
		{"rules jobs", 0, "relabel  done", ""},
		{"rules undo none", 1, "", "job none: not found"},
		{"rules cancel none", 1, "", "job none: not found"},
	} {
		t.Run(c.line, func(t *testing.T) { w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err) })
	}
}

func TestAnApplyIsUndone(t *testing.T) {
	w := newWorld(t)
	var job api.Job
	if err := json.Unmarshal([]byte(w.do(t, "rules", "apply", "classify", "--json").out), &job); err != nil {
		t.Fatal(err)
	}
	if item, err := w.store.Item(t.Context(), w.item); err != nil || fmt.Sprint(item.Categories) != "[os]" {
		t.Errorf("got %v, %v; want it labelled", item.Categories, err)
	}
	w.do(t, "rules", "undo", job.ID).check(t, 0, "is done: 1 of 1 items, 1 changed", "")
	if item, err := w.store.Item(t.Context(), w.item); err != nil || len(item.Categories) != 0 {
		t.Errorf("got %v, %v; want it as it was", item.Categories, err)
	}
	w.do(t, "rules", "cancel", job.ID).check(t, 1, "", "this job has ended")
}

func TestPeopleSayWhatItemsAre(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"spam list", 0, "", "there is no spam"},
		{"spam report " + w.item + " none", 3, w.item + ": spam from now on", "item none: not found"},
		{"spam list", 0, "  a person said so: spam\n  agent spam release " + w.item, ""},
		{"spam list --feed " + feedURL + " --json", 0, `"total":1`, ""},
		{"spam list --feed mailto:x", 2, "", "is no web address"},
		{"spam list --limit 0", 2, "", "limit"},
		{"spam release " + w.item + " --json", 0, `{"done":["` + w.item + `"],"failed":[]}`, ""},
		{"spam release none", 1, "", "item none: not found"},
		{"spam list", 0, "", "there is no spam"},
		{"items label " + w.item + " --category hardware --category os --topic linux --no-spam", 0, "categories  hardware, os", ""},
		{"items label " + w.item + " --no-topics --json", 0, `"categories":["hardware","os"],"why":`, ""},
		{"items show " + w.item, 0, "It has a new scheduler.", ""},
		{"items label " + w.item, 0, "why         a person said so: not spam; categories hardware, os; topics none", ""},
		{"items label " + w.item + " --forget", 0, "categories  hardware, os", ""},
		{"items label " + w.item + " --forget --spam", 2, "", "--forget can't be with anything else"},
		{"items label " + w.item + " --category a --no-categories", 2, "", "--category and --no-categories can't both be"},
		{"items label " + w.item + " --topic a --no-topics", 2, "", "--topic and --no-topics can't both be"},
		{"items label " + w.item + " --category Ä", 2, "", `"Ä" among categories is no name: small letters`},
		{"feeds set " + feedURL + " --spam-threshold 0.8", 0, "spam from    score 0.8", ""},
		{"feeds set " + feedURL + " --spam-threshold 2", 2, "", "spam_threshold"},
		{"items label none", 1, "", "item none: not found"},
	} {
		t.Run(c.line, func(t *testing.T) { w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err) })
	}
}
