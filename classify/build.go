package classify

import (
	"fmt"
	"slices"

	"feedmesh/classify/expression"
	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// A sectionBuilder compiles the rules of one scope into a section.
type sectionBuilder struct {
	*section
	number          int32
	patternIDs      map[patternKey]int32
	evidenceEntries []entry[evidenceLink]
	inputEntries    []entry[gateInput]
	gateEntries     []entry[target] // for gates
	factEntries     []entry[target] // for facts
}

// A patternKey identifies a pattern. Values and regular expressions belong to one field; the other kinds
// apply to any.
type patternKey struct {
	kind  rule.Kind
	text  string
	field rule.Field
}

func newSectionBuilder(number int32) *sectionBuilder {
	return &sectionBuilder{
		section:    &section{values: make(map[value]int32), facts: make(map[int32]int32)},
		number:     number,
		patternIDs: make(map[patternKey]int32),
	}
}

// connect compiles a condition, or its negation, into inputs of a target. The target is reached whenever the
// condition holds. It may also be reached when the condition does not, because operands that can hold without
// any match are left out.
func (c *compiler) connect(b *sectionBuilder, e rule.Expr, denied bool, to target) {
	switch e := e.(type) {
	case *rule.Term:
		b.inputEntries = append(b.inputEntries, entry[gateInput]{c.pattern(b, e), gateInput{to, fieldSets[e.Field]}})
	case *rule.Fact:
		b.factEntries = append(b.factEntries, entry[target]{c.fact(b, e), to})
	case rule.Near:
		c.gate(b, []rule.Expr{e.A, e.B}, 2, false, to)
	case rule.Not:
		c.connect(b, e.Node, !denied, to)
	default:
		of, need := operandsToHold(e, denied)
		c.gate(b, of, need, denied, to)
	}
}

// operandsToHold returns the operands of a condition and the number of them that must hold; if negated, the
// number that must fail.
func operandsToHold(e rule.Expr, denied bool) (of []rule.Expr, need int) {
	of, need = expression.Operands(e)
	if denied {
		need = len(of) - need + 1
	}
	return of, need
}

// holdsWithoutMatch reports whether a condition, or its negation, can hold for a document that matches none
// of its terms.
func holdsWithoutMatch(e rule.Expr, denied bool) bool {
	switch e := e.(type) {
	case *rule.Term, *rule.Fact, rule.Near:
		return denied
	case rule.Not:
		return holdsWithoutMatch(e.Node, !denied)
	}
	of, need := operandsToHold(e, denied)
	return len(of)-len(needingMatch(of, denied)) >= need
}

// needingMatch returns the operands that cannot hold without a match.
func needingMatch(of []rule.Expr, denied bool) []rule.Expr {
	return slices.DeleteFunc(slices.Clone(of), func(e rule.Expr) bool { return holdsWithoutMatch(e, denied) })
}

// gate connects operands to a target that requires need of them, through a counting gate if one input is not
// enough.
func (c *compiler) gate(b *sectionBuilder, of []rule.Expr, need int, denied bool, to target) {
	needed := needingMatch(of, denied)
	need -= len(of) - len(needed)
	if len(needed) > 1 && (need > 1 || to >= 0) { // a rule may be made a candidate any number of times
		gate := int32(len(b.gates))
		b.gates = append(b.gates, int32(need))
		b.gateEntries = append(b.gateEntries, entry[target]{gate, to})
		to = gate
	}
	for _, e := range needed {
		c.connect(b, e, denied, to)
	}
}

// isAlternatives reports whether a condition is a term or an Or of terms.
func isAlternatives(e rule.Expr) bool {
	if _, is := e.(*rule.Term); is {
		return true
	}
	or, is := e.(rule.Or)
	return is && !slices.ContainsFunc(or, func(e rule.Expr) bool { _, is := e.(*rule.Term); return !is })
}

// collectEvidence registers the terms and facts that a condition contains without negation as evidence for a
// rule.
func (c *compiler) collectEvidence(b *sectionBuilder, e rule.Expr, of *evidenceCollector) {
	for e, negations := range expression.Walk(e) {
		if negations%2 == 1 {
			continue
		}
		switch e := e.(type) {
		case *rule.Term:
			s := evidenceLink{of.rank, fieldSets[e.Field], of.terms}
			if of.flat {
				s.rank = ^s.rank
			}
			b.evidenceEntries = append(b.evidenceEntries, entry[evidenceLink]{c.pattern(b, e), s})
			of.terms++
		case *rule.Fact:
			of.facts = append(of.facts, c.factID(e.Kind, e.Name))
		}
	}
}

// An evidenceCollector accumulates the evidence of one rule.
type evidenceCollector struct {
	rank  int32
	flat  bool
	terms uint16 // number registered
	facts []int32
}

// pattern returns the pattern number of a term and adds the pattern if it is new.
func (c *compiler) pattern(b *sectionBuilder, t *rule.Term) int32 {
	key := patternKey{kind: t.Kind, text: t.Text}
	wordy := t.Kind != rule.Value && t.Kind != rule.Regexp
	if wordy {
		b.wordFields |= fieldSets[t.Field]
	} else {
		key.field = t.Field
	}
	if t.Kind == rule.Value {
		key.text = folded(t.Text)
	}
	p, ok := b.patternIDs[key]
	if ok {
		return p
	}
	p = int32(len(b.patterns))
	b.patternIDs[key] = p
	b.patterns = append(b.patterns, pattern{t.Kind, t.Text})
	b.kinds, b.shown = append(b.kinds, t.Kind), append(b.shown, bareTerm(t))
	switch t.Kind {
	case rule.Exact:
		c.checkStopOnly(t)
	case rule.Value:
		b.values[value{t.Field, key.text}] = p
	case rule.Regexp:
		b.regexps = append(b.regexps, c.regexp(t, p))
	}
	return p
}

// bareTerm returns a term as written, without its field.
func bareTerm(t *rule.Term) string {
	bare := *t
	bare.Field = rule.Anywhere
	return bare.String()
}

// checkStopOnly reports an error if the set has more exact terms without a stem than maxStopOnly.
func (c *compiler) checkStopOnly(t *rule.Term) {
	if len(stem.Stems(t.Text, "")) > 0 {
		return
	}
	if c.stopOnly++; c.stopOnly > maxStopOnly {
		c.report(t.Pos, fmt.Sprintf("a set has at most %d exact terms of stop words alone; remove '%s' or others", maxStopOnly, t.Text))
	}
}

// fact returns the number of a fact within the section.
func (c *compiler) fact(b *sectionBuilder, f *rule.Fact) int32 {
	id := c.factID(f.Kind, f.Name)
	n, ok := b.facts[id]
	if !ok {
		n = int32(len(b.facts))
		b.facts[id] = n
	}
	return n
}

// finish groups the collected entries. Only the default dictionary is built here; the others are built on
// first use.
func (b *sectionBuilder) finish() {
	b.evidenceLinks = group(b.evidenceEntries, len(b.patterns))
	b.gateInputs = group(b.inputEntries, len(b.patterns))
	b.gateTargets = group(b.gateEntries, len(b.gates))
	b.factTargets = group(b.factEntries, len(b.facts))
	b.dictionaries = make([]dictionary, len(languages))
	b.pool.New = func() any { return newSectionState(b.section) }
	b.dictionary(0) // other languages: on first use
}
