package query

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What a query may be, whoever asks: the time that an engine takes grows with it.
const (
	MaxBytes = 1000
	maxNodes = 64 // conditions; words in a row are one
	maxDepth = 8  // brackets in brackets
)

// Parse returns the tree of what a person typed, nil if that is nothing; now is
// what "age:<2d" counts from. The error is a [*Fault].
//
//	words             all of them, in any form of theirs
//	"a phrase"        these words in a row
//	prefix*           words that begin so
//	-not              items without the word, phrase, field or group
//	a b OR c          those with a and b, or with c; | is OR too
//	(a OR b) c        brackets group
//	title:w author:w  words, phrases and prefixes there alone
//	feed:ID cat:NAME topic:NAME lang:en host:example.org story:ID
//	is:duplicate      or spam, muted, starred, sponsored, affiliate, adult
//	after:2026-03-01  published then or later; before: earlier; also -2d for two days ago
//	age:<2d age:>1w   younger or older; h d w m y
//
// Whatever is none of these is words: "c++", "12:30", addresses.
func Parse(text string, now time.Time) (Node, error) {
	return parse(parser{text: text, now: now.UTC()})
}

func parse(p parser) (Node, error) {
	if len(p.text) > MaxBytes {
		return nil, faultAt(MaxBytes, "a query has at most %d bytes, this one has %d; shorten it", MaxBytes, len(p.text))
	}
	n, fault := p.any()
	if fault != nil {
		return nil, fault
	}
	return n, nil
}

// A parser reads a query from left to right.
type parser struct {
	text    string
	at      int // what is read
	depth   int // brackets that are open
	nodes   int
	now     time.Time
	inScope bool // as for [ParseScope]
}

// any reads what OR joins, up to the end or the bracket that closes.
func (p *parser) any() (Node, *Fault) {
	var either Or
	or := -1 // where the operator before stands
	for {
		n, fault := p.all()
		if fault != nil {
			return nil, fault
		}
		pos, is := p.operator("OR", "|")
		if n == nil && (is || or >= 0) {
			return nil, faultAt(max(or, pos), "OR stands between two things; one is missing. In small letters it is a word")
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

// all reads conditions that must all hold, up to what ends them; nil if there are
// none.
func (p *parser) all() (Node, *Fault) {
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
		n, fault := p.one()
		if fault != nil {
			return nil, fault
		}
		if len(nodes) == 0 || !joins(nodes[len(nodes)-1], n) {
			p.nodes++
		}
		if p.nodes > maxNodes {
			return nil, faultAt(pos, "a query has at most %d conditions; leave out what comes from here", maxNodes)
		}
		nodes = append(nodes, n)
	}
}

// one reads one condition.
func (p *parser) one() (Node, *Fault) {
	switch rest := p.text[p.at:]; {
	case negates(rest):
		p.at++
		n, fault := p.one()
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

// negates reports whether s begins with a minus that says not, rather than one
// that stands alone or begins "--force".
func negates(s string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(s, "-"))
	return s[0] == '-' && len(s) > 1 && !unicode.IsSpace(next) && next != '-' && next != ')'
}

// group reads what is in brackets.
func (p *parser) group() (Node, *Fault) {
	open := p.at
	if p.depth++; p.depth > maxDepth {
		return nil, faultAt(open, "brackets go at most %d deep; write it with fewer", maxDepth)
	}
	p.at++
	n, fault := p.any()
	switch {
	case fault != nil:
		return nil, fault
	case p.at == len(p.text):
		return nil, faultAt(open, "this bracket is never closed; add ) where it ends")
	case n == nil:
		return nil, faultAt(open, "there is nothing between these brackets; leave them out")
	}
	p.at++
	p.depth--
	return n, nil
}

// quoted reads what is in quotes, without them. \" and \\ are a quote and a
// backslash.
func (p *parser) quoted() (string, *Fault) {
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
	return "", faultAt(open, `this quote is never closed; add " where it ends`)
}

// bare reads what is set apart by spaces. A bracket that opens in it closes in it;
// others close what is around it.
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

// ended reports whether there is nothing more, or a bracket that closes.
func (p *parser) ended() bool {
	return p.at == len(p.text) || p.depth > 0 && p.text[p.at] == ')'
}

// operator reads one of these words if it comes next, and returns where it stands.
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
