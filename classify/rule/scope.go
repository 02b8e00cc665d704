package rule

import (
	"errors"
	"strings"
	"unicode/utf8"

	"feedmesh/classify/query"
)

// String returns the line that sets the scope for the rules that follow.
func (s Scope) String() string {
	switch s.Kind {
	case FeedTag:
		return "for feed-tag:" + value(s.Value)
	case Feed:
		return "for feed:" + value(s.Value)
	case Query:
		if strings.Contains(s.Value, `"`) {
			return "for query:" + enclose(s.Value, "'")
		}
		return "for query:" + value(s.Value)
	}
	return "for all"
}

// A scoped is a scope, where it was set, and for how many rules.
type scoped struct {
	Scope
	pos   Pos
	rules int
}

const scopeForms = `for feed-tag:"Jobs", for feed:ID, for query:"lang:en host:example.org" or for all`

// readScope reads for which feeds or items the rules are that follow.
func (p *parser) readScope() {
	start, t := p.tokens[0], p.next()
	s := Scope{}
	switch {
	case t.kind == bare && t.text == "all":
	case t.text == "feed-tag:":
		s = Scope{FeedTag, p.readScopeValue()}
	case t.text == "feed:":
		s = Scope{Feed, p.readScopeValue()}
	case t.text == "query:":
		s = Scope{Query, p.readQuery()}
	default:
		p.fail(t, "%s is no scope: %s", quote(shorten(t.text)), scopeForms)
	}
	if t := p.peek(); !p.failed && t.kind != end {
		p.fail(t, "%s is too much: a scope stands in a line of its own", quote(shorten(t.text)))
	}
	p.scope = s
	p.set.scopes = append(p.set.scopes, scoped{Scope: s, pos: start.pos})
}

func (p *parser) readScopeValue() string {
	t := p.next()
	value := t.text
	switch t.kind {
	case phrase:
		value = strings.TrimSpace(unquote(value))
	case bare:
	default:
		p.fail(t, "the feed tag or feed is missing: %s", scopeForms)
		return ""
	}
	if value == "" || len(value) > maxTerm {
		p.fail(t, "a feed tag, or the ID of a feed, has 1 to %d bytes", maxTerm)
	}
	return value
}

// readQuery reads a query, and returns it as its tree prints itself, so that those
// that mean the same are mostly equal.
func (p *parser) readQuery() string {
	t := p.next()
	text := t.text
	switch t.kind {
	case phrase, exact:
		text = unquote(text)
	case bare:
	default:
		p.fail(t, `the query is missing, or not in quotes: for query:"lang:en host:example.org", or '...' if there are " in it`)
		return ""
	}
	where, err := query.ParseScope(text)
	var wrong *query.Fault
	switch {
	case errors.As(err, &wrong):
		at := wrong.Pos
		if t.kind != bare {
			at = written(t.text, at)
		}
		t.pos.Column += utf8.RuneCountInString(t.text[:at])
		p.fail(t, "%s", wrong.Msg)
		return ""
	case where == nil:
		p.fail(t, "the query asks for nothing: put a condition in it, or write \"for all\"")
		return ""
	}
	printed := where.String()
	if len(printed) > query.MaxBytes {
		p.fail(t, "written out, the query has over %d bytes: leave out some of it", query.MaxBytes)
	}
	return printed
}
