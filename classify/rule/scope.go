package rule

import (
	"errors"
	"strings"
	"unicode/utf8"

	"feedmesh/classify/expression"
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
			return "for query:" + expression.Quote(s.Value, "'")
		}
		return "for query:" + value(s.Value)
	}
	return "for all"
}

const scopeForms = `for feed-tag:"Jobs", for feed:ID, for query:"lang:en host:example.org" or for all`

// readScope parses a scope.
func (p *ruleParser) readScope() {
	start, t := p.Before(1), p.Next()
	s := Scope{}
	switch {
	case t.Kind == expression.Word && t.Text == "all":
	case t.Text == "feed-tag:":
		s = Scope{FeedTag, p.readScopeValue()}
	case t.Text == "feed:":
		s = Scope{Feed, p.readScopeValue()}
	case t.Text == "query:":
		s = Scope{Query, p.readQuery()}
	default:
		p.fail(t, "%s is not a scope: write %s", quote(shorten(t.Text)), scopeForms)
	}
	if t := p.Peek(); !p.failed && t.Kind != expression.End {
		p.fail(t, "unexpected %s: a scope is a line of its own", quote(shorten(t.Text)))
	}
	p.scope = s
	p.set.scopes = append(p.set.scopes, scopeLine{Scope: s, pos: p.pos(start)})
}

func (p *ruleParser) readScopeValue() string {
	t := p.Next()
	value := t.Text
	switch t.Kind {
	case expression.Phrase:
		value = strings.TrimSpace(expression.Unquote(value))
	case expression.Word:
	default:
		p.fail(t, "the feed tag or feed is missing: %s", scopeForms)
		return ""
	}
	if value == "" || len(value) > maxTerm {
		p.fail(t, "a feed tag or feed ID has 1 to %d bytes", maxTerm)
	}
	return value
}

// readQuery parses a query and returns its canonical text, so that most equivalent queries are equal.
func (p *ruleParser) readQuery() string {
	t := p.Next()
	text := t.Text
	switch t.Kind {
	case expression.Phrase, exact:
		text = expression.Unquote(text)
	case expression.Word:
	default:
		p.fail(t, `the query is missing, or not in quotes: for query:"lang:en host:example.org", or '...' if it contains "`)
		return ""
	}
	where, err := query.ParseScope(text)
	var wrong *query.SyntaxError
	switch {
	case errors.As(err, &wrong):
		at := wrong.Offset
		if t.Kind != expression.Word {
			at = expression.QuotedOffset(t.Text, at)
		}
		t.Column += utf8.RuneCountInString(t.Text[:at])
		p.fail(t, "%s", wrong.Message)
		return ""
	case where == nil:
		p.fail(t, "the query is empty: add a condition, or write \"for all\"")
		return ""
	}
	printed := where.String()
	if len(printed) > query.MaxBytes {
		p.fail(t, "the query expands to more than %d bytes: shorten it", query.MaxBytes)
	}
	return printed
}
