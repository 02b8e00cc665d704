package classify

import (
	"fmt"
	"slices"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// A builder makes a section of the rules of its scope.
type builder struct {
	*section
	number   int32
	known    map[patternKey]int32
	speeches []entry[speech]
	openings []entry[opening]
	outputs  []entry[target] // of gates
	told     []entry[target] // of facts
}

// A patternKey tells patterns apart. Values and regular expressions are of one
// field each, the others of any.
type patternKey struct {
	kind  rule.Kind
	text  string
	field rule.Field
}

func newBuilder(number int32) *builder {
	return &builder{
		section: &section{values: make(map[value]int32), facts: make(map[int32]int32)},
		number:  number,
		known:   make(map[patternKey]int32),
	}
}

// wire leads a condition, or what denies it, to a target. The target is reached
// whenever that holds, and perhaps when it does not, as what may hold where nothing
// occurs is left out.
func (c *compiler) wire(b *builder, e rule.Expr, denied bool, to target) {
	switch e := e.(type) {
	case *rule.Term:
		b.openings = append(b.openings, entry[opening]{c.pattern(b, e), opening{to, fieldSets[e.Field]}})
	case *rule.Fact:
		b.told = append(b.told, entry[target]{c.fact(b, e), to})
	case *rule.Near:
		c.gate(b, []rule.Expr{e.A, e.B}, 2, false, to)
	case *rule.Not:
		c.wire(b, e.X, !denied, to)
	default:
		of, need := parts(e, denied)
		c.gate(b, of, need, denied, to)
	}
}

// parts returns the conditions that one is made of, and how many of them must
// hold, or, if it is denied, be denied.
func parts(e rule.Expr, denied bool) (of []rule.Expr, need int) {
	switch e := e.(type) {
	case *rule.Or:
		of, need = e.Of, 1
	case *rule.And:
		of, need = e.Of, len(e.Of)
	case *rule.AtLeast:
		of, need = e.Of, e.N
	}
	if denied {
		need = len(of) - need + 1
	}
	return of, need
}

// idle reports whether a condition, or what denies it, may hold where nothing
// occurs.
func idle(e rule.Expr, denied bool) bool {
	switch e := e.(type) {
	case *rule.Term, *rule.Fact, *rule.Near:
		return denied
	case *rule.Not:
		return idle(e.X, !denied)
	}
	of, need := parts(e, denied)
	return len(of)-len(busy(of, denied)) >= need
}

// busy returns the conditions that are not idle.
func busy(of []rule.Expr, denied bool) []rule.Expr {
	return slices.DeleteFunc(slices.Clone(of), func(e rule.Expr) bool { return idle(e, denied) })
}

// gate leads conditions to a target that needs some of them.
func (c *compiler) gate(b *builder, of []rule.Expr, need int, denied bool, to target) {
	said := busy(of, denied)
	need -= len(of) - len(said)
	if len(said) > 1 && (need > 1 || to >= 0) { // a rule may be made a candidate any number of times
		gate := int32(len(b.gates))
		b.gates = append(b.gates, int32(need))
		b.outputs = append(b.outputs, entry[target]{gate, to})
		to = gate
	}
	for _, e := range said {
		c.wire(b, e, denied, to)
	}
}

// flat reports whether a condition is a term, or one of several.
func flat(e rule.Expr) bool {
	switch e := e.(type) {
	case *rule.Term:
		return true
	case *rule.Or:
		return !slices.ContainsFunc(e.Of, func(e rule.Expr) bool { _, is := e.(*rule.Term); return !is })
	}
	return false
}

// say notes what a condition says, rather than denies, for the rule that it
// belongs to.
func (c *compiler) say(b *builder, e rule.Expr, denied bool, of *speaker) {
	switch e := e.(type) {
	case *rule.Term:
		if !denied {
			s := speech{of.rank, fieldSets[e.Field], of.terms}
			if of.flat {
				s.rank = ^s.rank
			}
			b.speeches = append(b.speeches, entry[speech]{c.pattern(b, e), s})
			of.terms++
		}
	case *rule.Fact:
		if !denied {
			of.facts = append(of.facts, c.factID(e.Of, e.Name))
		}
	case *rule.Not:
		c.say(b, e.X, !denied, of)
	default:
		for _, part := range within(e) {
			c.say(b, part, denied, of)
		}
	}
}

// A speaker is a rule whose terms are noted.
type speaker struct {
	rank  int32
	flat  bool
	terms uint16 // so far
	facts []int32
}

// pattern returns that of a term.
func (c *compiler) pattern(b *builder, t *rule.Term) int32 {
	key := patternKey{kind: t.Kind, text: t.Text}
	wordy := t.Kind != rule.Value && t.Kind != rule.Regexp
	if wordy {
		b.wordy |= fieldSets[t.Field]
	} else {
		key.field = t.Field
	}
	if t.Kind == rule.Value {
		key.text = folded(t.Text)
	}
	p, ok := b.known[key]
	if ok {
		return p
	}
	p = int32(len(b.patterns))
	b.known[key] = p
	b.patterns = append(b.patterns, pattern{t.Kind, t.Text})
	b.kinds, b.shown = append(b.kinds, t.Kind), append(b.shown, shown(t))
	switch t.Kind {
	case rule.Exact:
		c.checkBare(t)
	case rule.Value:
		b.values[value{t.Field, key.text}] = p
	case rule.Regexp:
		b.regexps = append(b.regexps, c.expression(t, p))
	}
	return p
}

// shown returns a term as written, without its field.
func shown(t *rule.Term) string {
	bare := *t
	bare.Field = rule.Anywhere
	return bare.String()
}

// checkBare refuses too many exact terms that no stem leads to.
func (c *compiler) checkBare(t *rule.Term) {
	if len(stem.List(t.Text, "")) > 0 {
		return
	}
	if c.bare++; c.bare > maxBare {
		c.fault(t.Pos, fmt.Sprintf("there are over %d exact terms of stop words alone: '%s' is one too many", maxBare, t.Text))
	}
}

// fact returns the number that a fact has in the section.
func (c *compiler) fact(b *builder, f *rule.Fact) int32 {
	id := c.factID(f.Of, f.Name)
	n, ok := b.facts[id]
	if !ok {
		n = int32(len(b.facts))
		b.facts[id] = n
	}
	return n
}

// finish makes the section ready for documents.
func (b *builder) finish() {
	b.speaks = group(b.speeches, len(b.patterns))
	b.opens = group(b.openings, len(b.patterns))
	b.leads = group(b.outputs, len(b.gates))
	b.informs = group(b.told, len(b.facts))
	b.dictionaries = make([]dictionary, len(languages))
	b.pool.New = func() any { return newMatching(b.section) }
	b.dictionary(0) // the others wait for a text in their language
}
