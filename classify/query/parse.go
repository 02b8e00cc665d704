package query

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/expression"
)

// Limits of a query: the time of a search grows with its size.
const (
	MaxBytes = 1000
	maxNodes = 64 // conditions; consecutive words count as one
	maxDepth = 8  // nested parentheses
)

// Parse returns the tree of a query as users type it, nil for an empty query. now is the reference time of
// relative values such as "age:<2d". The error is a [*SyntaxError].
//
//	words             all of them, in any form
//	"a phrase"        these words in a row
//	prefix*           words with this prefix
//	-not              items without the word, phrase, field or group
//	a b OR c          items with a and b, or with c; | is OR too
//	(a OR b) c        parentheses group
//	title:w author:w  words, phrases and prefixes in that part only
//	feed:ID cat:NAME topic:NAME lang:en host:example.org story:ID
//	is:duplicate      or spam, muted, starred, unread, sponsored, affiliate, adult
//	after:2026-03-01  published then or later; before: earlier; also -2d for two days ago
//	age:<2d age:>1w   younger or older; h d w m y
//
// Any other input is words: "c++", "12:30", URLs.
func Parse(text string, now time.Time) (Node, error) { return parse(text, now.UTC(), false) }

// ParseScope is [Parse] for a query that selects the items of a rule scope, nil if it selects all. It rejects
// labels, stories and flags, which do not exist before rules have run, and values relative to today, so that
// rules give an item the same result whenever they run.
func ParseScope(text string) (Node, error) { return parse(text, time.Time{}, true) }

func parse(text string, now time.Time, inScope bool) (Node, error) {
	p := parser{now: now, inScope: inScope, Lexer: expression.Lexer{Source: text, Skip: skip, Scan: scan}}
	if len(text) > MaxBytes {
		p.Fail(MaxBytes, "a query has at most %d bytes, this one has %d; shorten it", MaxBytes, len(text))
		return nil, p.Err
	}
	n := p.or()
	if p.Err != nil {
		return nil, p.Err
	}
	return n, nil
}

// Length returns the length of the query that a longer text begins with, in bytes: it ends before the first word outside of
// quotes, parentheses and fields that ends reports, or at the end of the text.
func Length(text string, ends func(word string) bool) int {
	l := expression.Lexer{Source: text, Skip: skip, Scan: scan}
	for {
		switch t := l.Next(); {
		case t.Kind == expression.End:
			return len(text)
		case t.Kind == expression.Word && l.Depth == 0 && l.Before(2).Kind != expression.OpNot && ends(t.Text):
			return t.Offset
		}
	}
}

// A parser parses a query by recursive descent. Its methods return any node after an error, which ends the
// text.
type parser struct {
	expression.Lexer
	nodes   int
	now     time.Time
	inScope bool // for [ParseScope]
}

// or parses conditions joined by OR, up to the end or the closing parenthesis.
func (p *parser) or() Node {
	var either []Node
	for {
		n := p.and()
		next, before := p.Peek(), p.Before(1)
		const missing = "OR joins two conditions; one is missing. In lower case it is a word"
		switch {
		case n != nil:
			either = append(either, n)
		case next.Kind == expression.OpOr:
			p.Fail(next.Offset, missing)
		case before.Kind == expression.OpOr:
			p.Fail(before.Offset, missing)
		}
		if !p.Accept(expression.OpOr) {
			return expression.AnyOf(either)
		}
	}
}

// and parses conditions that must all hold, up to their end; nil if there are none.
func (p *parser) and() Node {
	var nodes []Node
	for {
		switch t := p.Peek(); t.Kind {
		case expression.End, expression.ClosePar, expression.OpOr:
			return allOf(nodes)
		case expression.OpAnd:
			p.Next()
		default:
			n := p.condition()
			if len(nodes) == 0 || !joins(nodes[len(nodes)-1], n) {
				p.nodes++
			}
			if p.nodes > maxNodes {
				p.Fail(t.Offset, "a query has at most %d conditions; remove those from here on", maxNodes)
			}
			nodes = append(nodes, n)
		}
	}
}

// condition parses one condition.
func (p *parser) condition() Node {
	switch t := p.Next(); t.Kind {
	case expression.OpNot:
		return Not{Node: p.condition()}
	case expression.OpenPar:
		return p.group(t)
	case expression.Phrase:
		return phrase(Anywhere, expression.Unquote(t.Text))
	case expression.Name:
		return p.field(t)
	default:
		p.checkName(t)
		return word(Anywhere, t.Text)
	}
}

// group parses a parenthesized condition.
func (p *parser) group(open expression.Token) Node {
	if p.Depth > maxDepth {
		p.Fail(open.Offset, "parentheses are nested at most %d deep; use fewer", maxDepth)
		return nil
	}
	n := p.or()
	switch {
	case !p.Accept(expression.ClosePar):
		p.Fail(open.Offset, "this parenthesis is not closed; add )")
	case n == nil:
		p.Fail(open.Offset, "these parentheses are empty; remove them")
	}
	return n
}

func skip(l *expression.Lexer) {
	l.Advance(len(l.Rest()) - len(strings.TrimLeftFunc(l.Rest(), unicode.IsSpace)))
}

// scan consumes a token. A field is one token with its value.
func scan(l *expression.Lexer) (expression.Kind, string) {
	rest, before := l.Rest(), l.Last().Kind
	switch starts := before == expression.End || before == expression.OpenPar || before == expression.OpOr; {
	case before == expression.OpNot: // an operator is a word here
	case rest[0] == ')' && l.Depth > 0:
		l.Advance(1)
		return expression.ClosePar, ""
	case operator(l, "OR"), operator(l, "|"):
		return expression.OpOr, ""
	case !starts && operator(l, "AND"):
		return expression.OpAnd, ""
	}
	switch name := fieldPattern.FindString(rest); {
	case negates(rest):
		l.Advance(1)
		return expression.OpNot, ""
	case rest[0] == '(':
		l.Advance(1)
		return expression.OpenPar, ""
	case rest[0] == '"':
		return expression.Phrase, quoted(l)
	case slices.Contains(fieldNames, strings.ToLower(strings.TrimSuffix(name, ":"))):
		l.Advance(len(name))
		if strings.HasPrefix(l.Rest(), `"`) {
			return expression.Name, quoted(l)
		}
		bare(l)
		return expression.Name, ""
	}
	bare(l)
	return expression.Word, ""
}

// operator consumes the name of an operator if it comes next.
func operator(l *expression.Lexer, name string) bool {
	rest, is := strings.CutPrefix(l.Rest(), name)
	next, _ := utf8.DecodeRuneInString(rest)
	if !is || rest != "" && !unicode.IsSpace(next) && next != '(' && next != '"' && (next != ')' || l.Depth == 0) {
		return false
	}
	l.Advance(len(name))
	return true
}

// negates reports whether s begins with a minus that negates, rather than one that stands alone or begins
// "--force".
func negates(s string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(s, "-"))
	return s[0] == '-' && len(s) > 1 && !unicode.IsSpace(next) && next != '-' && next != ')'
}

// quoted consumes a quoted text, or returns an error message.
func quoted(l *expression.Lexer) string {
	if l.AdvanceQuoted(true) {
		return ""
	}
	return `this quote is not closed; add "`
}

// bare consumes a text up to the next space. A parenthesis opened within it is closed within it; other closing
// parentheses end it.
func bare(l *expression.Lexer) {
	open := 0
	l.AdvanceWhile(func(r rune) bool {
		switch {
		case unicode.IsSpace(r), r == '"', r == ')' && open == 0 && l.Depth > 0:
			return false
		case r == '(':
			open++
		case r == ')':
			open--
		}
		return true
	})
}
