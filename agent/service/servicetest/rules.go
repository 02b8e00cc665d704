package servicetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"feedmesh/agent/service"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/classify/rule"
)

// Lines is the rule set prepare. A text is valid if all its lines begin with "keep".
func Lines() service.RuleSetSpec {
	return service.RuleSetSpec{Name: "prepare", Does: "cleans", Default: []byte("keep all\n"), Check: func(text []byte) error {
		var invalid []error
		n := 0
		for line := range bytes.Lines(text) {
			if n++; !bytes.HasPrefix(line, []byte("keep")) {
				invalid = append(invalid, fmt.Errorf("line %d: %q is no rule", n, bytes.TrimSpace(line)))
			}
		}
		return errors.Join(invalid...)
	}}
}

// A decider decides by rules, without a model; the zero value decides nothing.
type decider struct{ rules *classify.Rules }

// Decide implements [workbench.Decider].
func (r decider) Decide(d classify.Document) classify.Decision {
	var decision classify.Decision
	if r.rules == nil {
		return decision
	}
	out := r.rules.Evaluate(d)
	decision.Matched, decision.Spam = out.Matched, out.Quarantine
	for _, l := range out.Labels {
		if l.Points >= classify.Threshold && !l.Topic {
			decision.Categories = append(decision.Categories, l.Name)
			decision.Reasons = append(decision.Reasons, l.Name+" by "+l.Matches[0].Rule)
		}
	}
	return decision
}

func compile(text []byte) (decider, []rule.Rule, error) {
	set, err := rule.Parse(text)
	if err != nil {
		return decider{}, nil, err
	}
	rules, err := classify.Compile(set)
	return decider{rules}, set.Rules, err
}

// Labels is the rule set classify, which decides labels of items. Its training appends a comment with the number of
// examples. "score 0" in a text is worth a warning.
func Labels() service.RuleSetSpec {
	return service.RuleSetSpec{
		Name: "classify", Does: "labels", Default: []byte("category os when kernel\n"),
		Check: func(text []byte) error { _, _, err := compile(text); return err },
		Warn: func(text []byte) []string {
			if strings.Contains(string(text), "score 0") {
				return []string{"it scores nothing"}
			}
			return nil
		},
		Decider: func(text []byte) (workbench.Decider, []rule.Rule, error) { return compile(text) },
		Learn: func(_ context.Context, newest []byte, examples workbench.Examples) ([]byte, string, json.RawMessage, error) {
			n := 0
			for _, err := range examples {
				if err != nil {
					return nil, "", nil, err
				}
				n++
			}
			return fmt.Appendf(newest, "# learned from %d\n", n), fmt.Sprintf("from %d", n), fmt.Appendf(nil, `{"examples":%d}`, n), nil
		},
	}
}
