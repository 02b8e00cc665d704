package classify

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"feedmesh/classify/rule"
)

// maxSearched bounds the bytes of a field that regular expressions are run on.
const maxSearched = 2_000

// A regularExpression is a regular expression on one field.
type regularExpression struct {
	pattern  int32
	field    rule.Field
	re       *regexp.Regexp
	literals []string // every match contains one of these, and searching for them is much faster; empty: no literal is certain
}

// regexp compiles the regular expression of a term; p is its pattern.
func (c *compiler) regexp(t *rule.Term, p int32) regularExpression {
	e := regularExpression{pattern: p, field: t.Field}
	parsed, err := syntax.Parse(t.Text, syntax.Perl)
	if err == nil {
		e.literals = requiredLiterals(parsed)
		e.re, err = regexp.Compile(t.Text)
	}
	if err != nil {
		c.report(t.Pos, "/"+t.Text+"/ is not a valid regular expression: "+err.Error())
		return e
	}
	if shortestLength(e.literals) < 2 {
		if c.withoutLiteral++; c.withoutLiteral > maxWithoutLiteral {
			c.report(t.Pos, fmt.Sprintf("a set has at most %d regular expressions without two consecutive literal characters; add literal text to /%s/ or remove it", maxWithoutLiteral, t.Text))
		}
	}
	return e
}

// matches reports whether the expression matches a lower-case field.
func (e *regularExpression) matches(text string) bool {
	if text == "" || len(e.literals) > 0 && !slices.ContainsFunc(e.literals, func(n string) bool { return strings.Contains(text, n) }) {
		return false
	}
	return e.re.MatchString(text)
}

// maxLiterals bounds the literals searched for before an expression runs.
const maxLiterals = 16

// requiredLiterals returns strings of which at least one occurs in every match of re, or nil if none is
// certain. Of a concatenation it returns the literals of the part whose shortest literal is longest.
func requiredLiterals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiterals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredLiterals(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if n := requiredLiterals(sub); shortestLength(n) > shortestLength(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			n := requiredLiterals(sub)
			if all = append(all, n...); len(n) == 0 || len(all) > maxLiterals {
				return nil
			}
		}
		return all
	}
	return nil
}

// shortestLength returns the length of the shortest string, 0 for an empty list.
func shortestLength(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
