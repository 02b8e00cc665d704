package query

import "strings"

// ParseScope is [Parse] for a query that selects the items of a rule scope, nil if it selects all. It rejects
// labels, stories and flags, which do not exist before rules have run, and values relative to today, so that
// rules give an item the same result whenever they run.
func ParseScope(text string) (Node, error) {
	return parse(parser{text: text, inScope: true})
}

// scopeExclusions maps fields that a scope cannot use to the reason.
var scopeExclusions = map[string]string{
	"cat":   "cat: is not available before rules run; use category:NAME in conditions",
	"topic": "topic: is not available before rules run; use topic:NAME in conditions",
	"story": "story: is not available before rules run; remove it",
	"is":    "is: is not available before rules run; remove it",
	"age":   "age: changes with time, and scopes must not; use a day, such as after:2026-03-01",
}

// outOfScope returns an error if the query is a scope and cannot contain the field with this value; pos is
// the offset of the field.
func (p *parser) outOfScope(name, value string, pos int) *SyntaxError {
	switch {
	case !p.inScope:
		return nil
	case scopeExclusions[name] != "":
		return syntaxError(pos, "%s", scopeExclusions[name])
	case (name == "after" || name == "before") && strings.HasPrefix(value, "-"):
		return syntaxError(pos, "%s:%s changes with time, and scopes must not; use a day, such as %s:2026-03-01", name, value, name)
	}
	return nil
}
