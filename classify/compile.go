package classify

import (
	"fmt"
	"slices"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/classify/rule"
)

const (
	// maxStopOnly bounds the exact terms of stop words alone, such as 'IT'. No stem indexes them: each is
	// searched for in every text.
	maxStopOnly = 100

	// maxWithoutLiteral bounds the regular expressions that require no literal of two or more characters. A
	// literal is searched for first, so that the expression seldom runs.
	maxWithoutLiteral = 100

	maxDiagnostics = 100
)

// Compile prepares a rule set for evaluation. The error is of type [rule.Diagnostics] and lists problems of
// the set as a whole: cycles among facts, and constructs that would slow down every document. Compile(nil)
// returns rules that never match.
func Compile(set *rule.Set) (*Rules, error) {
	c := compiler{
		Rules:    &Rules{scopes: make(map[rule.Scope]int32)},
		factIDs:  make(map[factKey]int32),
		labelIDs: make(map[labelKey]int32),
	}
	c.pool.New = func() any { return newEvaluation(c.Rules) }
	if set == nil {
		return c.Rules, nil
	}
	order, err := set.EvaluationOrder()
	if err != nil {
		return nil, err
	}
	rank := make([]int32, len(set.Rules))
	c.order = make([]int32, len(order))
	for at, i := range order {
		rank[i], c.order[at] = int32(at), int32(i)
	}
	c.rules, c.infos = make([]compiled, len(set.Rules)), make([]ruleInfo, len(set.Rules))
	for i := range set.Rules {
		c.infos[i] = ruleInfo{fmt.Sprintf("%s:%d", set.Rules[i].Pos.File, set.Rules[i].Pos.Line), set.Rules[i].Action.Text}
		c.rule(&set.Rules[i], &c.rules[i], rank[i])
	}
	if len(c.diagnostics) > 0 {
		return nil, c.diagnostics
	}
	c.finish()
	return c.Rules, nil
}

// A compiler builds [Rules] and collects diagnostics.
type compiler struct {
	*Rules
	builders       []*sectionBuilder
	factIDs        map[factKey]int32
	labelIDs       map[labelKey]int32
	stopOnly       int // number of exact terms of stop words alone
	withoutLiteral int // number of regular expressions without a required literal
	diagnostics    rule.Diagnostics
}

type factKey struct {
	of   rule.FactKind
	name string
}

type labelKey struct {
	topic bool
	name  string
}

func (c *compiler) report(pos rule.Pos, text string) {
	if len(c.diagnostics) < maxDiagnostics {
		c.diagnostics = append(c.diagnostics, rule.Diagnostic{Pos: pos, Message: text})
	}
}

// rule compiles one rule; rank is its position in the order of evaluation.
func (c *compiler) rule(from *rule.Rule, to *compiled, rank int32) {
	if wrong := ruleProblem(from); wrong != "" {
		c.report(from.Pos, wrong)
		return
	}
	b := c.sectionBuilder(from)
	*to = compiled{
		section: b.number, action: from.Action.Kind, score: pointsOf(from.Score),
		category: -1, topic: -1, fact: -1, residual: -1,
	}
	switch then := from.Action; then.Kind {
	case rule.Conclude:
		to.category, to.topic = c.label(false, then.Name), c.label(true, then.Topic)
	case rule.ConcludeFact:
		to.fact = c.factID(rule.NamedFact, then.Name)
	case rule.AddScore:
		to.score = pointsOf(then.Score)
	}
	who := evidenceCollector{rank: rank, flat: isAlternatives(from.Condition)}
	c.collectEvidence(b, from.Condition, &who)
	if who.flat {
		return
	}
	c.connect(b, from.Condition, false, ^rank)
	if condition := c.residualCondition(b, from.Condition); condition != nil || who.facts != nil {
		to.residual = int32(len(c.residuals))
		c.residuals = append(c.residuals, residual{who.facts, condition})
	}
}

// sectionBuilder returns the builder for the scope of a rule.
func (c *compiler) sectionBuilder(r *rule.Rule) *sectionBuilder {
	scope := normalizeScope(r.Scope)
	n, ok := c.scopes[scope]
	if !ok {
		n = int32(len(c.builders))
		c.scopes[scope] = n
		c.builders = append(c.builders, newSectionBuilder(n))
		if scope.Kind == rule.Query {
			c.query(r, n)
		}
	}
	return c.builders[n]
}

// label returns the number of a category or topic, or -1 for an empty name.
func (c *compiler) label(topic bool, name string) int32 {
	if name == "" {
		return -1
	}
	k := labelKey{topic, name}
	n, ok := c.labelIDs[k]
	if !ok {
		n = int32(len(c.Rules.labels))
		c.labelIDs[k] = n
		c.Rules.labels = append(c.Rules.labels, label{topic: topic, name: name, fact: -1})
	}
	return n
}

// factID returns the number of a fact. Categories and topics used as facts have numbers too.
func (c *compiler) factID(of rule.FactKind, name string) int32 {
	k := factKey{of, name}
	n, ok := c.factIDs[k]
	if !ok {
		n = int32(len(c.facts))
		c.facts = append(c.facts, (&rule.Fact{Kind: of, Name: name}).String())
		c.factIDs[k] = n
	}
	if of != rule.NamedFact {
		c.Rules.labels[c.label(of == rule.Topic, name)].fact = n
	}
	return n
}

// finish completes all sections.
func (c *compiler) finish() {
	c.sections = make([]*section, len(c.builders))
	for i, b := range c.builders {
		b.finish()
		c.sections[i] = b.section
		c.wordFields |= b.wordFields
	}
	c.sortLabels()
}

// sortLabels renumbers labels in the order of their names.
func (c *compiler) sortLabels() {
	old := make([]int32, len(c.Rules.labels)) // by new number
	for i := range old {
		old[i] = int32(i)
	}
	slices.SortFunc(old, func(a, b int32) int { return compareNames(&c.Rules.labels[a], &c.Rules.labels[b]) })
	numbers := make([]int32, len(old)) // by old number
	sorted := make([]label, len(old))
	for n, o := range old {
		sorted[n], numbers[o] = c.Rules.labels[o], int32(n)
	}
	c.Rules.labels = sorted
	for i := range c.rules {
		for _, n := range []*int32{&c.rules[i].category, &c.rules[i].topic} {
			if *n >= 0 {
				*n = numbers[*n]
			}
		}
	}
}

func compareNames(a, b *label) int {
	switch c := strings.Compare(a.name, b.name); {
	case c != 0 || a.topic == b.topic:
		return c
	case b.topic:
		return -1
	}
	return 1
}

// maxQueries bounds the query scopes of a set, because each document is matched against each of them.
const maxQueries = 64

// A scopeQuery is the query that selects the documents of a section.
type scopeQuery struct {
	where   query.Node
	section int32
}

// normalizeScope returns the form in which scopes are compared: tags are folded like values.
func normalizeScope(s rule.Scope) rule.Scope {
	switch s.Kind {
	case rule.Everywhere:
		s.Value = ""
	case rule.FeedTag:
		s.Value = folded(s.Value)
	}
	return s
}

// query adds the query scope of a rule for a section.
func (c *compiler) query(r *rule.Rule, section int32) {
	where, err := query.ParseScope(r.Scope.Value)
	switch {
	case err != nil:
		c.report(r.Pos, "the scope of the rule is not a valid query: "+err.Error())
	case len(c.queries) == maxQueries:
		c.report(r.Pos, fmt.Sprintf("a set has at most %d query scopes: merge scopes, or use feed-tag: and feed:", maxQueries))
	}
	c.queries = append(c.queries, scopeQuery{where, section})
}
