package node

import (
	"context"
	"encoding/json"
	"fmt"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/rule"
	"feedmesh/classify/spam"
)

// labelSets returns the rule sets that items are labelled by, and gives the roles
// what labels by those in force.
func labelSets(env *role.Env) []*ruleSet {
	rules, rulesInForce := ruleSetOf(api.Rulebook{
		Name: "classify", Does: "what items are about, and what is to be done with them; a file stands in place of the program's own of its name",
		Standard: classify.ShippedArchive(), Warn: warn,
	}, role.Classify, compile)
	lists, listsInForce := ruleSetOf(api.Rulebook{
		Name: "spam", Does: "what speaks for spam, and how much; a file stands in place of the program's own of its name",
		Standard: spam.Shipped(), Learn: workbench.LearnSpam,
	}, role.Classify, spam.Parse)
	learned, learnedInForce := ruleSetOf(api.Rulebook{
		Name: "model", Does: "what items are about where the rules are silent; written by training, for nobody to read",
		Standard: model.Shipped(),
	}, role.Classify, model.Decode)

	inForce := func() *classify.Classifier {
		return &classify.Classifier{
			Rules: rulesInForce(), Spam: listsInForce(), Model: learnedInForce(), Sentiment: env.Config.Classify.Sentiment,
		}
	}
	env.Classifier = inForce
	rules.Decider = func(text []byte) (workbench.Decider, []rule.Rule, error) {
		set, err := classify.Overlay(text)
		if err != nil {
			return nil, nil, err
		}
		c := inForce()
		c.Rules, err = classify.Compile(set)
		return c, set.Rules, err
	}
	lists.Decider = func(text []byte) (_ workbench.Decider, _ []rule.Rule, err error) {
		c := inForce()
		c.Spam, err = spam.Parse(text)
		return c, nil, err
	}
	learned.Decider = func(text []byte) (_ workbench.Decider, _ []rule.Rule, err error) {
		c := inForce()
		c.Model, err = model.Decode(text)
		return c, nil, err
	}
	learned.Learn = func(ctx context.Context, _ []byte, examples workbench.Examples) ([]byte, string, json.RawMessage, error) {
		return workbench.LearnModel(ctx, rulesInForce(), examples)
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

// warn says what is odd about rules, but for those of files that nobody changed.
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
			words = append(words, fmt.Sprintf("%s: %s", w.Pos, w.Text))
		}
	}
	return words
}
