package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// or parses conditions separated by |; nil on error.
func (p *ruleParser) or() Expr { return disjoin(p.list(or, (*ruleParser).and)) }

// and parses conditions separated by &.
func (p *ruleParser) and() Expr { return conjoin(p.list(and, (*ruleParser).near)) }

// disjoin returns the disjunction of conditions, nil for none. Nested [Or] nodes are flattened.
func disjoin(list []Expr) Expr {
	if len(list) < 2 {
		return single(list)
	}
	flat := make([]Expr, 0, len(list))
	for _, x := range list {
		if inner, ok := x.(*Or); ok {
			flat = append(flat, inner.Operands...)
		} else {
			flat = append(flat, x)
		}
	}
	return &Or{flat}
}

// conjoin returns the conjunction of conditions, nil for none. Nested [And] nodes are flattened.
func conjoin(list []Expr) Expr {
	if len(list) < 2 {
		return single(list)
	}
	flat := make([]Expr, 0, len(list))
	for _, x := range list {
		if inner, ok := x.(*And); ok {
			flat = append(flat, inner.Operands...)
		} else {
			flat = append(flat, x)
		}
	}
	return &And{flat}
}

// negate returns the negation of x. A double negation cancels.
func negate(x Expr) Expr {
	if inner, ok := x.(*Not); ok {
		return inner.X
	}
	return &Not{x}
}

func single(list []Expr) Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// list parses operands separated by an operator; nil on error.
func (p *ruleParser) list(operator kind, read func(*ruleParser) Expr) []Expr {
	var list []Expr
	for {
		x := read(p)
		if p.failed {
			return nil
		}
		list = append(list, x)
		if !p.accept(operator) {
			return list
		}
	}
}

// near parses a condition, or two joined by near/N.
func (p *ruleParser) near() Expr {
	a := p.not()
	t := p.peek()
	if p.failed || t.kind != near {
		return a
	}
	p.next()
	b := p.not()
	if p.failed {
		return nil
	}
	if t := p.peek(); t.kind == near {
		p.fail(t, "near joins two terms only: write a near/5 b & b near/5 c")
		return nil
	}
	x := &Near{A: a, B: b}
	x.Within, _ = strconv.Atoi(t.text[len("near/"):]) // an out-of-range number is larger than any limit
	if wrong := x.problem(); wrong != "" {
		p.report(t.pos, "%s", wrong)
	}
	return x
}

// maxWithin bounds the words between the operands of near.
const maxWithin = 100

// problem describes why x is invalid, or returns "".
func (x *Near) problem() string {
	a, b := nearTerms(x.A), nearTerms(x.B)
	switch {
	case a == nil || b == nil:
		return "near joins words, phrases, prefixes* and 'exact' words, or alternatives of them: (a | b) near/5 c"
	case x.Within > maxWithin:
		return fmt.Sprintf("the distance is too large: at most near/%d", maxWithin)
	}
	for _, t := range slices.Concat(a, b) {
		if t.Field != a[0].Field {
			return "the terms of near must be in one field: title:(a near/5 b)"
		}
	}
	return ""
}

// nearTerms returns the terms of a [Near] operand, nil if x cannot be one.
func nearTerms(x Expr) []*Term {
	switch x := x.(type) {
	case *Term:
		if x.Kind == Words || x.Kind == Prefix || x.Kind == Exact {
			return []*Term{x}
		}
	case *Or:
		var all []*Term
		for _, inner := range x.Operands {
			terms := nearTerms(inner)
			if terms == nil {
				return nil
			}
			all = append(all, terms...)
		}
		return all
	}
	return nil
}

// not parses a condition with any number of negations before it.
func (p *ruleParser) not() Expr {
	denied := false
	for p.accept(not) {
		denied = !denied
	}
	x := p.operand()
	if p.failed || !denied {
		return x
	}
	return negate(x)
}

// operand parses a term, a fact or a parenthesized condition.
func (p *ruleParser) operand() Expr {
	switch t := p.peek(); t.kind {
	case field:
		p.next()
		return p.inField(t)
	case openParen:
		p.next()
		list := p.parenthesis(t)
		if len(list) > 1 {
			p.fail(t, "a comma is allowed only in N of (...): write | for or, & for and")
		}
		return single(list)
	case count:
		p.next()
		p.next() // of
		return p.atLeast(t)
	case bare, prefix, phrase, loose, exact, pattern:
		p.next()
		return p.term(t)
	default:
		p.reportMissing(t)
		return nil
	}
}

// inField parses the operand after a field, or the name of a fact.
func (p *ruleParser) inField(t token) Expr {
	name := strings.TrimSuffix(t.text, ":")
	if i := slices.Index(factNames[:], name); i >= 0 {
		if p.field != Anywhere {
			p.fail(t, "%s has no field and cannot be used in %s:(...): move it out of the parentheses", t.text, FieldNames[p.field])
			return nil
		}
		p.countTerm(t)
		return &Fact{FactKind(i), p.readName(name), t.pos}
	}
	f := Field(slices.Index(FieldNames[:], name))
	next := p.peek()
	switch {
	case name == "" || f >= FieldCount:
		p.fail(t, "%s is not a field: use one of %s; a word with a colon must be in quotes", quote(shorten(t.text)), fieldList)
		return nil
	case p.field != Anywhere:
		p.fail(t, "%s cannot be used in %s:(...): move it out of the parentheses", t.text, FieldNames[p.field])
		return nil
	case next.kind == not:
		p.fail(next, "write !%s instead of %s!", t.text, t.text)
		return nil
	}
	p.field = f
	x := p.operand()
	p.field = Anywhere
	return x
}

var (
	factNames = [...]string{NamedFact: "fact", Category: "category", Topic: "topic"}
	fieldList = strings.Join(FieldNames[1:], ":, ") + ":, fact:, category:, topic:"
)

// parenthesis parses conditions separated by commas up to the closing parenthesis.
func (p *ruleParser) parenthesis(opening token) []Expr {
	if p.depth++; p.depth > maxDepth {
		p.fail(opening, "more than %d nested parentheses: move parts of the condition to facts", maxDepth)
		return nil
	}
	list := p.list(comma, (*ruleParser).or)
	p.depth--
	if t := p.peek(); !p.failed && !p.accept(closeParen) {
		if t.kind == end || t.kind == score {
			p.fail(opening, `the closing ")" is missing`)
		} else {
			p.reportMisplaced(t)
		}
		return nil
	}
	return list
}

// atLeast parses the conditions after "N of".
func (p *ruleParser) atLeast(t token) Expr {
	opening := p.peek()
	if !p.accept(openParen) {
		p.fail(opening, `"(" is missing after "of": write %s of (a, b, c)`, shorten(t.text))
		return nil
	}
	list := p.parenthesis(opening)
	if p.failed {
		return nil
	}
	x := &AtLeast{Operands: list}
	x.N, _ = strconv.Atoi(t.text) // an out-of-range number is larger than any limit
	if wrong := x.problem(); wrong != "" {
		p.report(t.pos, "%s", wrong)
	}
	return x
}

// problem describes why x is invalid, or returns "".
func (x *AtLeast) problem() string {
	if x.N >= 1 && x.N <= len(x.Operands) {
		return ""
	}
	return fmt.Sprintf("the list has %d conditions: write 1 to %d of them", len(x.Operands), len(x.Operands))
}

// countTerm enforces the limits on terms of a rule and of the set.
func (p *ruleParser) countTerm(t token) {
	if p.ruleTerms++; p.ruleTerms > maxTerms {
		p.fail(t, "the rule has more than %d terms: split it", maxTerms)
	}
	if p.termCount++; p.termCount > maxSetTerms {
		p.fail(t, "the rules have more than %d terms", maxSetTerms)
		p.ruleCount = maxRules + 1 // skips the remaining rules
	}
}

// reportMissing reports that a condition is missing before t.
func (p *ruleParser) reportMissing(t token) {
	behind := ""
	if p.at > 0 {
		behind = " after " + quote(shorten(p.tokens[p.at-1].text))
	}
	switch t.kind {
	case score, when:
		p.fail(t, "a term is missing%s; %s itself must be in quotes", behind, t.text)
	case near:
		p.fail(t, "a term is missing%s: %s joins two terms", behind, t.text)
	default:
		p.fail(t, "a term is missing%s%s", behind, p.beforeToken(t))
	}
}

// reportMisplaced reports why t cannot follow the preceding token.
func (p *ruleParser) reportMisplaced(t token) {
	switch before := p.tokens[max(p.at-1, 0)]; {
	case t.kind == closeParen:
		p.fail(t, `unmatched ")": remove it, or add "("`)
	case t.kind == comma:
		p.fail(t, "a comma is allowed only in N of (...): write | for or, & for and")
	case t.kind == when:
		p.fail(t, `a second "when"; the word itself must be in quotes`)
	case t.pos.Line > before.pos.Line && (t.kind == bare || t.kind == score) && startsRule(t.text):
		p.fail(t, "a line that begins with white space continues the rule before it: remove the white space to begin a rule")
	case t.text == "near":
		p.fail(t, "near needs a number of words: near/5")
	case before.kind == score || p.at > 1 && p.tokens[p.at-2].kind == score:
		p.fail(t, "unexpected %s: the score ends a rule", quote(shorten(t.text)))
	default:
		p.fail(t, "|, & or near/5 is missing%s; a phrase must be in quotes", p.beforeToken(t))
	}
}

// startsRule reports whether a rule or a scope can begin with the word.
func startsRule(word string) bool {
	switch word {
	case "category", "topic", "fact", "score", "star", "mute", "quarantine", "notify", "for":
		return true
	}
	return false
}

// beforeToken returns the part of a message that names the token found instead.
func (p *ruleParser) beforeToken(t token) string {
	if t.kind == end {
		return ""
	}
	return fmt.Sprintf(" before %s", quote(shorten(t.text)))
}
