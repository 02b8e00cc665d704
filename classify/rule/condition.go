package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// or reads conditions with | between them, nil if they cannot be read.
func (p *parser) or() Expr { return disjoin(p.list(or, (*parser).and)) }

// and reads conditions with & between them.
func (p *parser) and() Expr { return conjoin(p.list(and, (*parser).near)) }

// disjoin returns the condition that one of the conditions holds, nil if there are
// none. It has no [Or] in an [Or].
func disjoin(list []Expr) Expr {
	if len(list) < 2 {
		return single(list)
	}
	flat := make([]Expr, 0, len(list))
	for _, x := range list {
		if inner, ok := x.(*Or); ok {
			flat = append(flat, inner.Of...)
		} else {
			flat = append(flat, x)
		}
	}
	return &Or{flat}
}

// conjoin returns the condition that all of the conditions hold, nil if there
// are none. It has no [And] in an [And].
func conjoin(list []Expr) Expr {
	if len(list) < 2 {
		return single(list)
	}
	flat := make([]Expr, 0, len(list))
	for _, x := range list {
		if inner, ok := x.(*And); ok {
			flat = append(flat, inner.Of...)
		} else {
			flat = append(flat, x)
		}
	}
	return &And{flat}
}

// deny returns the condition that x does not hold.
func deny(x Expr) Expr {
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

// list reads what is between operators, nil if something of it cannot be read.
func (p *parser) list(operator kind, read func(*parser) Expr) []Expr {
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

// near reads a condition, or two that must occur near one another.
func (p *parser) near() Expr {
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
		p.fail(t, "near stands between two: write a near/5 b & b near/5 c")
		return nil
	}
	x := &Near{A: a, B: b}
	x.Within, _ = strconv.Atoi(t.text[len("near/"):]) // out of range it is more than any
	if wrong := x.wrong(); wrong != "" {
		p.fault(t.pos, "%s", wrong)
	}
	return x
}

// maxWithin is how many words may be between two that are near.
const maxWithin = 100

// wrong returns what is wrong with x.
func (x *Near) wrong() string {
	a, b := words(x.A), words(x.B)
	switch {
	case a == nil || b == nil:
		return "near stands between words, phrases, prefixes* and 'exact' words, or several of them: (a | b) near/5 c"
	case x.Within > maxWithin:
		return fmt.Sprintf("this is too far to be near: near/%d at most", maxWithin)
	}
	for _, t := range slices.Concat(a, b) {
		if t.Field != a[0].Field {
			return "what is near must be in one field: title:(a near/5 b)"
		}
	}
	return ""
}

// words returns the terms of a side of a [Near], nil if it cannot be one.
func words(x Expr) []*Term {
	switch x := x.(type) {
	case *Term:
		if x.Kind == Words || x.Kind == Prefix || x.Kind == Exact {
			return []*Term{x}
		}
	case *Or:
		var all []*Term
		for _, inner := range x.Of {
			terms := words(inner)
			if terms == nil {
				return nil
			}
			all = append(all, terms...)
		}
		return all
	}
	return nil
}

// not reads a condition that may be denied. That of a denial is none.
func (p *parser) not() Expr {
	denied := false
	for p.accept(not) {
		denied = !denied
	}
	x := p.operand()
	if p.failed || !denied {
		return x
	}
	return deny(x)
}

// operand reads a term, a fact, or what stands in parentheses.
func (p *parser) operand() Expr {
	switch t := p.peek(); t.kind {
	case field:
		p.next()
		return p.inField(t)
	case open:
		p.next()
		list := p.parenthesis(t)
		if len(list) > 1 {
			p.fail(t, "a comma stands only in N of (...): write | for or, & for and")
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
		p.missing(t)
		return nil
	}
}

// inField reads what stands behind a field, or the name of a fact.
func (p *parser) inField(t token) Expr {
	name := strings.TrimSuffix(t.text, ":")
	if i := slices.Index(factNames[:], name); i >= 0 {
		if p.field != Anywhere {
			p.fail(t, "%s stands in %s:(...), but has no field: put it beside the parentheses", t.text, FieldNames[p.field])
			return nil
		}
		p.count(t)
		return &Fact{Of(i), p.readName(name), t.pos}
	}
	f := Field(slices.Index(FieldNames[:], name))
	next := p.peek()
	switch {
	case name == "" || f >= Fields:
		p.fail(t, "%s is no field: %s; a word with a colon must be in quotes", quote(shorten(t.text)), fieldList)
		return nil
	case p.field != Anywhere:
		p.fail(t, "%s stands within %s:(...): put it beside the parentheses", t.text, FieldNames[p.field])
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
	factNames = [...]string{Known: "fact", Category: "category", Topic: "topic"}
	fieldList = strings.Join(FieldNames[1:], ":, ") + ":, fact:, category:, topic:"
)

// parenthesis reads conditions with commas between them up to the closing one.
func (p *parser) parenthesis(opening token) []Expr {
	if p.depth++; p.depth > maxDepth {
		p.fail(opening, "over %d parentheses within one another: make facts of parts of it", maxDepth)
		return nil
	}
	list := p.list(comma, (*parser).or)
	p.depth--
	if t := p.peek(); !p.failed && !p.accept(shut) {
		if t.kind == end || t.kind == score {
			p.fail(opening, `the closing ")" is missing`)
		} else {
			p.misplaced(t)
		}
		return nil
	}
	return list
}

// atLeast reads the conditions of which a number must hold.
func (p *parser) atLeast(t token) Expr {
	opening := p.peek()
	if !p.accept(open) {
		p.fail(opening, `"(" is missing after "of": write %s of (a, b, c)`, shorten(t.text))
		return nil
	}
	list := p.parenthesis(opening)
	if p.failed {
		return nil
	}
	x := &AtLeast{Of: list}
	x.N, _ = strconv.Atoi(t.text) // out of range it is more than any
	if wrong := x.wrong(); wrong != "" {
		p.fault(t.pos, "%s", wrong)
	}
	return x
}

// wrong returns what is wrong with x.
func (x *AtLeast) wrong() string {
	if x.N >= 1 && x.N <= len(x.Of) {
		return ""
	}
	return fmt.Sprintf("there are %d conditions to choose from: write 1 to %d of them", len(x.Of), len(x.Of))
}

// count counts a term or fact.
func (p *parser) count(t token) {
	if p.terms++; p.terms > maxTerms {
		p.fail(t, "the rule has over %d terms: make several of it", maxTerms)
	}
	if p.words++; p.words > maxWords {
		p.fail(t, "the rules have over %d terms", maxWords)
		p.rules = maxRules + 1 // and nobody reads the others
	}
}

// missing says that a condition should stand where t does.
func (p *parser) missing(t token) {
	behind := ""
	if p.at > 0 {
		behind = " after " + quote(shorten(p.tokens[p.at-1].text))
	}
	switch t.kind {
	case score, when:
		p.fail(t, "a term is missing%s; %s itself must be in quotes", behind, t.text)
	case near:
		p.fail(t, "a term is missing%s: %s stands between two terms", behind, t.text)
	default:
		p.fail(t, "a term is missing%s%s", behind, p.before(t))
	}
}

// misplaced says why t cannot follow what is before it.
func (p *parser) misplaced(t token) {
	switch before := p.tokens[max(p.at-1, 0)]; {
	case t.kind == shut:
		p.fail(t, `")" closes nothing: remove it, or put "(" before`)
	case t.kind == comma:
		p.fail(t, "a comma stands only in N of (...): write | for or, & for and")
	case t.kind == when:
		p.fail(t, `"when" stands here once more; the word itself must be in quotes`)
	case t.pos.Line > before.pos.Line && (t.kind == bare || t.kind == score) && isHead(t.text):
		p.fail(t, "this line begins with white space, so it continues the rule before it: remove the white space to begin a rule")
	case t.text == "near":
		p.fail(t, "near needs a number of words: near/5")
	case before.kind == score || p.at > 1 && p.tokens[p.at-2].kind == score:
		p.fail(t, "%s is too much: the score ends a rule", quote(shorten(t.text)))
	default:
		p.fail(t, "|, & or near/5 is missing%s; a phrase must be in quotes", p.before(t))
	}
}

// isHead reports whether a rule, or a scope, may begin with the word.
func isHead(word string) bool {
	switch word {
	case "category", "topic", "fact", "score", "star", "mute", "quarantine", "notify", "for":
		return true
	}
	return false
}

// before says what stands where something else should.
func (p *parser) before(t token) string {
	if t.kind == end {
		return ""
	}
	return fmt.Sprintf(" before %s", quote(shorten(t.text)))
}
