package query

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
//	is:duplicate      or spam, muted, starred, sponsored, affiliate, adult
//	after:2026-03-01  published then or later; before: earlier; also -2d for two days ago
//	age:<2d age:>1w   younger or older; h d w m y
//
// Any other input is words: "c++", "12:30", URLs.
func Parse(text string, now time.Time) (Node, error) {
	return parse(parser{text: text, now: now.UTC()})
}

func parse(p parser) (Node, error) {
	if len(p.text) > MaxBytes {
		return nil, syntaxError(MaxBytes, "a query has at most %d bytes, this one has %d; shorten it", MaxBytes, len(p.text))
	}
	n, fault := p.parseOr()
	if fault != nil {
		return nil, fault
	}
	return n, nil
}

// A parser parses a query from left to right.
type parser struct {
	text    string
	at      int // offset of the next byte
	depth   int // open parentheses
	nodes   int
	now     time.Time
	inScope bool // for [ParseScope]
}

// parseOr parses conditions joined by OR, up to the end or the closing parenthesis.
func (p *parser) parseOr() (Node, *SyntaxError) {
	var either Or
	or := -1 // offset of the preceding operator
	for {
		n, fault := p.parseAnd()
		if fault != nil {
			return nil, fault
		}
		pos, is := p.operator("OR", "|")
		if n == nil && (is || or >= 0) {
			return nil, syntaxError(max(or, pos), "OR joins two conditions; one is missing. In lower case it is a word")
		}
		if n != nil {
			either = append(either, n)
		}
		if !is {
			return oneOf(either), nil
		}
		or = pos
	}
}

// parseAnd parses conditions that must all hold, up to their end; nil if there are none.
func (p *parser) parseAnd() (Node, *SyntaxError) {
	var nodes []Node
	for {
		p.space()
		if p.ended() || p.isOperator("OR", "|") {
			return allOf(nodes), nil
		}
		if len(nodes) > 0 && p.isOperator("AND") {
			p.operator("AND")
			continue
		}
		pos := p.at
		n, fault := p.parseCondition()
		if fault != nil {
			return nil, fault
		}
		if len(nodes) == 0 || !joins(nodes[len(nodes)-1], n) {
			p.nodes++
		}
		if p.nodes > maxNodes {
			return nil, syntaxError(pos, "a query has at most %d conditions; remove those from here on", maxNodes)
		}
		nodes = append(nodes, n)
	}
}

// parseCondition parses one condition.
func (p *parser) parseCondition() (Node, *SyntaxError) {
	switch rest := p.text[p.at:]; {
	case negates(rest):
		p.at++
		n, fault := p.parseCondition()
		return Not{n}, fault
	case rest[0] == '(':
		return p.group()
	case rest[0] == '"':
		words, fault := p.quoted()
		return phrase(Anywhere, words), fault
	}
	if n, fault := p.field(); n != nil || fault != nil {
		return n, fault
	}
	return word(Anywhere, p.bare()), nil
}

// negates reports whether s begins with a minus that negates, rather than one that stands alone or begins
// "--force".
func negates(s string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(s, "-"))
	return s[0] == '-' && len(s) > 1 && !unicode.IsSpace(next) && next != '-' && next != ')'
}

// group parses a parenthesized condition.
func (p *parser) group() (Node, *SyntaxError) {
	open := p.at
	if p.depth++; p.depth > maxDepth {
		return nil, syntaxError(open, "parentheses are nested at most %d deep; use fewer", maxDepth)
	}
	p.at++
	n, fault := p.parseOr()
	switch {
	case fault != nil:
		return nil, fault
	case p.at == len(p.text):
		return nil, syntaxError(open, "this parenthesis is not closed; add )")
	case n == nil:
		return nil, syntaxError(open, "these parentheses are empty; remove them")
	}
	p.at++
	p.depth--
	return n, nil
}

// quoted parses a quoted text and returns it without quotes. \" and \\ are escapes.
func (p *parser) quoted() (string, *SyntaxError) {
	open := p.at
	var b strings.Builder
	for i := open + 1; i < len(p.text); i++ {
		c := p.text[i]
		if c == '"' {
			p.at = i + 1
			return b.String(), nil
		}
		if c == '\\' && i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\') {
			i++
			c = p.text[i]
		}
		b.WriteByte(c)
	}
	return "", syntaxError(open, `this quote is not closed; add "`)
}

// bare parses a text up to the next space. A parenthesis opened within it is closed within it; other closing
// parentheses end it.
func (p *parser) bare() string {
	start, open := p.at, 0
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if unicode.IsSpace(r) || r == '"' || r == ')' && open == 0 && p.depth > 0 {
			break
		}
		switch r {
		case '(':
			open++
		case ')':
			open--
		}
		p.at += size
	}
	return p.text[start:p.at]
}

func (p *parser) space() {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
}

// ended reports whether the input or the group ends here.
func (p *parser) ended() bool {
	return p.at == len(p.text) || p.depth > 0 && p.text[p.at] == ')'
}

// operator consumes one of the words if it comes next, and returns its offset.
func (p *parser) operator(names ...string) (pos int, is bool) {
	for _, name := range names {
		if p.isOperator(name) {
			pos, p.at = p.at, p.at+len(name)
			return pos, true
		}
	}
	return 0, false
}

func (p *parser) isOperator(names ...string) bool {
	for _, name := range names {
		rest, is := strings.CutPrefix(p.text[p.at:], name)
		next, _ := utf8.DecodeRuneInString(rest)
		if is && (rest == "" || unicode.IsSpace(next) || next == '(' || next == '"' || next == ')' && p.depth > 0) {
			return true
		}
	}
	return false
}
