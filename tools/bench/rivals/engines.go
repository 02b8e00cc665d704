package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/hyperjumptech/grule-rule-engine/ast"
	"github.com/hyperjumptech/grule-rule-engine/builder"
	grule "github.com/hyperjumptech/grule-rule-engine/engine"
	"github.com/hyperjumptech/grule-rule-engine/pkg"
)

// text writes a condition in the syntax that both languages share, except for terms.
func (c Condition) text(term func(field, stems string) string) string {
	join := func(list []Condition, sign string) string {
		parts := make([]string, len(list))
		for i, part := range list {
			parts[i] = part.text(term)
		}
		return "(" + strings.Join(parts, sign) + ")"
	}
	switch {
	case c.Or != nil:
		return join(c.Or, " || ")
	case c.And != nil:
		return join(c.And, " && ")
	case c.Not != nil:
		return "!" + c.Not.text(term)
	}
	return term(c.Field, c.Term)
}

// loadExpr compiles an expression for each rule. They are evaluated one after another by one virtual machine.
func loadExpr(rules []Condition) (func(*document) ([]int, error), error) {
	programs := make([]*vm.Program, len(rules))
	for i, r := range rules {
		text := r.text(func(field, stems string) string { return "(" + strconv.Quote(stems) + " in " + field + ")" })
		p, err := expr.Compile(text, expr.Env(document{}), expr.AsBool())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		programs[i] = p
	}
	var machine vm.VM
	return func(d *document) ([]int, error) {
		var fired []int
		for i, p := range programs {
			holds, err := machine.Run(p, d)
			if err != nil {
				return nil, err
			}
			if holds.(bool) {
				fired = append(fired, i)
			}
		}
		return fired, nil
	}, nil
}

// Has implements terms for Grule.
func (d *document) Has(field, stems string) bool {
	var s set
	switch field {
	case "Any":
		s = d.Any
	case "Title":
		s = d.Title
	case "Tag":
		s = d.Tag
	case "Body":
		s = d.Body
	case "Feed":
		s = d.Feed
	case "Author":
		s = d.Author
	case "URL":
		s = d.URL
	}
	return s[stems]
}

// loadGrule builds a knowledge base. Its rules are only matched, not executed, which would evaluate all of
// them again after each match.
func loadGrule(rules []Condition) (func(*document) ([]int, error), error) {
	var b strings.Builder
	for i, r := range rules {
		text := r.text(func(field, stems string) string {
			return "D.Has(" + strconv.Quote(field) + ", " + strconv.Quote(stems) + ")"
		})
		fmt.Fprintf(&b, "rule R%d { when %s then Retract(\"R%d\"); }\n", i, text, i)
	}
	library := ast.NewKnowledgeLibrary()
	if err := builder.NewRuleBuilder(library).BuildRuleFromResource("rules", "1", pkg.NewBytesResource([]byte(b.String()))); err != nil {
		return nil, err
	}
	base, err := library.NewKnowledgeBaseInstance("rules", "1")
	if err != nil {
		return nil, err
	}
	engine := &grule.GruleEngine{MaxCycle: 1, ReturnErrOnFailedRuleEvaluation: true}
	return func(d *document) ([]int, error) {
		context := ast.NewDataContext()
		if err := context.Add("D", d); err != nil {
			return nil, err
		}
		matching, err := engine.FetchMatchingRules(context, base)
		if err != nil {
			return nil, err
		}
		fired := make([]int, len(matching))
		for i, m := range matching {
			if fired[i], err = strconv.Atoi(strings.TrimPrefix(m.RuleName, "R")); err != nil {
				return nil, err
			}
		}
		return fired, nil
	}, nil
}
