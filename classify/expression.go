package classify

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"feedmesh/classify/rule"
)

// maxSearched is how much of a field regular expressions are tried on, in bytes.
const maxSearched = 2_000

// An expression is a regular expression that looks at one field.
type expression struct {
	pattern int32
	field   rule.Field
	re      *regexp.Regexp
	needs   []string // one of these is in all that it matches; looking for them is far quicker. None: nothing is certain
}

// expression compiles that of a term; its pattern is p.
func (c *compiler) expression(t *rule.Term, p int32) expression {
	e := expression{pattern: p, field: t.Field}
	parsed, err := syntax.Parse(t.Text, syntax.Perl)
	if err == nil {
		e.needs = needed(parsed)
		e.re, err = regexp.Compile(t.Text)
	}
	if err != nil {
		c.fault(t.Pos, "/"+t.Text+"/ is no regular expression: "+err.Error())
		return e
	}
	if shortest(e.needs) < 2 {
		if c.blind++; c.blind > maxBlind {
			c.fault(t.Pos, fmt.Sprintf("there are over %d regular expressions in which no two characters in a row are certain: /%s/ is one too many", maxBlind, t.Text))
		}
	}
	return e
}

// matches reports whether the expression occurs in a field, which is in small
// letters.
func (e *expression) matches(text string) bool {
	if text == "" || len(e.needs) > 0 && !slices.ContainsFunc(e.needs, func(n string) bool { return strings.Contains(text, n) }) {
		return false
	}
	return e.re.MatchString(text)
}

// maxNeeded is how many texts are looked for before an expression is tried.
const maxNeeded = 16

// needed returns texts of which it finds that one is in all that re matches, or
// none: of several parts those of the part whose shortest text is longest.
func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if n := needed(sub); shortest(n) > shortest(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			n := needed(sub)
			if all = append(all, n...); len(n) == 0 || len(all) > maxNeeded {
				return nil
			}
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest of some texts, 0 if there are none.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
