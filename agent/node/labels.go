package node

import (
	"context"
	"encoding/json"

	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/rule"
	"feedmesh/classify/spam"
)

// labelSets returns the rule sets that label items, and gives the roles a classifier built from the active
// versions.
func labelSets(env *role.Env) []*ruleSet {
	rules, activeRules := ruleSetOf(service.RuleSetSpec{
		Name: "classify", Does: "Topics and actions for items. A file replaces the built-in file of the same name.",
		Default: classify.ShippedArchive(), Warn: warn,
	}, compile)
	lists, activeLists := ruleSetOf(service.RuleSetSpec{
		Name: "spam", Does: "Signals of spam and their weights. A file replaces the built-in file of the same name.",
		Default: spam.Shipped(), Learn: workbench.LearnSpam,
	}, spam.Parse)
	learned, activeModel := ruleSetOf(service.RuleSetSpec{
		Name: "model", Does: "Model for items that no rule matches. Training writes it; it is not readable text.",
		Default: model.Shipped(),
	}, model.Decode)

	active := func() *classify.Classifier {
		return &classify.Classifier{
			Rules: activeRules(), Spam: activeLists(), Model: activeModel(), Sentiment: env.Config.Classify.Sentiment,
		}
	}
	env.Classifier = active
	rules.Decider = func(text []byte) (workbench.Decider, []rule.Rule, error) {
		set, err := classify.Overlay(text)
		if err != nil {
			return nil, nil, err
		}
		c := active()
		c.Rules, err = classify.Compile(set)
		return c, set.Rules, err
	}
	lists.Decider = func(text []byte) (_ workbench.Decider, _ []rule.Rule, err error) {
		c := active()
		c.Spam, err = spam.Parse(text)
		return c, nil, err
	}
	learned.Decider = func(text []byte) (_ workbench.Decider, _ []rule.Rule, err error) {
		c := active()
		c.Model, err = model.Decode(text)
		return c, nil, err
	}
	learned.Learn = func(ctx context.Context, _ []byte, examples workbench.Examples) ([]byte, string, json.RawMessage, error) {
		return workbench.LearnModel(ctx, activeRules(), examples)
	}
	return []*ruleSet{rules, lists, learned}
}

func compile(text []byte) (*classify.Rules, error) {
	set, err := classify.Overlay(text)
	if err != nil {
		return nil, err
	}
	return classify.Compile(set)
}

// warn returns the lint warnings of rules, except those of unchanged built-in files.
func warn(text []byte) []string {
	set, err := classify.Overlay(text)
	if err != nil {
		return nil
	}
	shipped := map[rule.Warning]bool{}
	for _, w := range rule.Lint(classify.Shipped()) {
		shipped[w] = true
	}
	var words []string
	for _, w := range rule.Lint(set) {
		if !shipped[w] {
			words = append(words, w.String())
		}
	}
	return words
}
