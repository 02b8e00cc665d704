package query

import "strings"

// ParseScope is [Parse] of a query that says for which items rules are, nil if it
// asks for all. It refuses what nobody knows before rules have run: labels, stories
// and flags. It refuses what counts back from today, too: whenever rules run, they
// say the same of an item.
func ParseScope(text string) (Node, error) {
	return parse(parser{text: text, inScope: true})
}

// notInScopes are the fields that a scope may not have, with why.
var notInScopes = map[string]string{
	"cat":   "cat: is not known before rules have run; write category:NAME in their conditions",
	"topic": "topic: is not known before rules have run; write topic:NAME in their conditions",
	"story": "story: is not known before rules have run; leave it out",
	"is":    "is: is not known before rules have run; leave it out",
	"age":   "age: is another every day, and rules must not be; write a day, as after:2026-03-01",
}

// outOfScope returns why a field, which stands at pos, may not have the value if
// the query is a scope; nil if it may.
func (p *parser) outOfScope(name, value string, pos int) *Fault {
	switch {
	case !p.inScope:
		return nil
	case notInScopes[name] != "":
		return faultAt(pos, "%s", notInScopes[name])
	case (name == "after" || name == "before") && strings.HasPrefix(value, "-"):
		return faultAt(pos, "%s:%s is another time every day, and rules must not be; write a day, as %s:2026-03-01", name, value, name)
	}
	return nil
}
