package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/expression"
)

// or parses conditions separated by |; nil on error.
func (p *ruleParser) or() Expr { return expression.AnyOf(p.list(expression.OpOr, p.and)) }

// and parses conditions separated by &.
func (p *ruleParser) and() Expr { return expression.AllOf(p.list(expression.OpAnd, p.near)) }

// list parses operands separated by an operator; nil on error.
func (p *ruleParser) list(operator expression.Kind, read func() Expr) []Expr {
	var list []Expr
	for {
		x := read()
		if p.failed {
			return nil
		}
		list = append(list, x)
		if !p.Accept(operator) {
			return list
		}
	}
}

// near parses a condition, or two joined by near/N.
func (p *ruleParser) near() Expr {
	a := p.not()
	t := p.Peek()
	if p.failed || t.Kind != near {
		return a
	}
	p.Next()
	b := p.not()
	if p.failed {
		return nil
	}
	if t := p.Peek(); t.Kind == near {
		p.fail(t, "near joins two terms only: write a near/5 b & b near/5 c")
		return nil
	}
	x := Near{A: a, B: b}
	x.Within, _ = strconv.Atoi(t.Text[len("near/"):]) // an out-of-range number is larger than any limit
	if wrong := nearProblem(x); wrong != "" {
		p.report(p.pos(t), "%s", wrong)
	}
	return x
}

// maxWithin bounds the words between the operands of near.
const maxWithin = 100

// nearProblem describes why x is invalid, or returns "".
func nearProblem(x Near) string {
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
	case Or:
		var all []*Term
		for _, inner := range x {
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
	for p.Accept(expression.OpNot) {
		denied = !denied
	}
	x := p.operand()
	if p.failed || !denied {
		return x
	}
	return expression.Negate(x)
}

// operand parses a term, a fact or a parenthesized condition.
func (p *ruleParser) operand() Expr {
	switch t := p.Peek(); t.Kind {
	case expression.Name:
		p.Next()
		return p.inField(t)
	case expression.OpenPar:
		p.Next()
		list := p.parenthesis(t)
		if len(list) > 1 {
			p.fail(t, "a comma is allowed only in N of (...): write | for or, & for and")
		}
		return expression.AnyOf(list)
	case count:
		p.Next()
		p.Next() // of
		return p.atLeast(t)
	case expression.Word, prefix, expression.Phrase, loose, exact, pattern:
		p.Next()
		return p.term(t)
	default:
		p.reportMissing(t)
		return nil
	}
}

// inField parses the operand after a field, or the name of a fact.
func (p *ruleParser) inField(t expression.Token) Expr {
	name := strings.TrimSuffix(t.Text, ":")
	if i := slices.Index(factNames[:], name); i >= 0 {
		if p.field != Anywhere {
			p.fail(t, "%s has no field and cannot be used in %s:(...): move it out of the parentheses", t.Text, p.field)
			return nil
		}
		p.countTerm(t)
		return &Fact{FactKind(i), p.readName(name), p.pos(t)}
	}
	f, known := FieldNamed(name)
	next := p.Peek()
	switch {
	case !known:
		p.fail(t, "%s is not a field: use one of %s; a word with a colon must be in quotes", quote(shorten(t.Text)), fieldList)
		return nil
	case p.field != Anywhere:
		p.fail(t, "%s cannot be used in %s:(...): move it out of the parentheses", t.Text, p.field)
		return nil
	case next.Kind == expression.OpNot:
		p.fail(next, "write !%s instead of %s!", t.Text, t.Text)
		return nil
	}
	p.field = f
	x := p.operand()
	p.field = Anywhere
	return x
}

var (
	factNames = [...]string{NamedFact: "fact", Category: "category", Topic: "topic"}
	fieldList = strings.Join(append(FieldNames(Words, Value), factNames[:]...), ":, ") + ":"
)

// parenthesis parses conditions separated by commas up to the closing parenthesis.
func (p *ruleParser) parenthesis(opening expression.Token) []Expr {
	if p.depth++; p.depth > maxDepth {
		p.fail(opening, "more than %d nested parentheses: move parts of the condition to facts", maxDepth)
		return nil
	}
	list := p.list(comma, p.or)
	p.depth--
	if t := p.Peek(); !p.failed && !p.Accept(expression.ClosePar) {
		if t.Kind == expression.End || t.Kind == score {
			p.fail(opening, `the closing ")" is missing`)
		} else {
			p.reportMisplaced(t)
		}
		return nil
	}
	return list
}

// atLeast parses the conditions after "N of".
func (p *ruleParser) atLeast(t expression.Token) Expr {
	opening := p.Peek()
	if !p.Accept(expression.OpenPar) {
		p.fail(opening, `"(" is missing after "of": write %s of (a, b, c)`, shorten(t.Text))
		return nil
	}
	list := p.parenthesis(opening)
	if p.failed {
		return nil
	}
	x := AtLeast{Operands: list}
	x.N, _ = strconv.Atoi(t.Text) // an out-of-range number is larger than any limit
	if wrong := atLeastProblem(x); wrong != "" {
		p.report(p.pos(t), "%s", wrong)
	}
	return x
}

// atLeastProblem describes why x is invalid, or returns "".
func atLeastProblem(x AtLeast) string {
	if x.N >= 1 && x.N <= len(x.Operands) {
		return ""
	}
	return fmt.Sprintf("the list has %d conditions: write 1 to %d of them", len(x.Operands), len(x.Operands))
}

// countTerm enforces the limits on terms of a rule and of the set.
func (p *ruleParser) countTerm(t expression.Token) {
	if p.ruleTerms++; p.ruleTerms > maxTerms {
		p.fail(t, "the rule has more than %d terms: split it", maxTerms)
	}
	if p.termCount++; p.termCount > maxSetTerms {
		p.fail(t, "the rules have more than %d terms", maxSetTerms)
		p.ruleCount = maxRules + 1 // skips the remaining rules
	}
}

// reportMissing reports that a condition is missing before t.
func (p *ruleParser) reportMissing(t expression.Token) {
	behind := ""
	if before := p.Before(1); before.Text != "" {
		behind = " after " + quote(shorten(before.Text))
	}
	switch t.Kind {
	case score, when:
		p.fail(t, "a term is missing%s; %s itself must be in quotes", behind, t.Text)
	case near:
		p.fail(t, "a term is missing%s: %s joins two terms", behind, t.Text)
	default:
		p.fail(t, "a term is missing%s%s", behind, p.beforeToken(t))
	}
}

// reportMisplaced reports why t cannot follow the preceding token.
func (p *ruleParser) reportMisplaced(t expression.Token) {
	switch before := p.Before(1); {
	case t.Kind == expression.ClosePar:
		p.fail(t, `unmatched ")": remove it, or add "("`)
	case t.Kind == comma:
		p.fail(t, "a comma is allowed only in N of (...): write | for or, & for and")
	case t.Kind == when:
		p.fail(t, `a second "when"; the word itself must be in quotes`)
	case t.Line > before.Line && (t.Kind == expression.Word || t.Kind == score) && startsRule(t.Text):
		p.fail(t, "a line that begins with white space continues the rule before it: remove the white space to begin a rule")
	case t.Text == "near":
		p.fail(t, "near needs a number of words: near/5")
	case before.Kind == score || p.Before(2).Kind == score:
		p.fail(t, "unexpected %s: the score ends a rule", quote(shorten(t.Text)))
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
func (p *ruleParser) beforeToken(t expression.Token) string {
	if t.Kind == expression.End {
		return ""
	}
	return fmt.Sprintf(" before %s", quote(shorten(t.Text)))
}
