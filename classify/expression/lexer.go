package expression

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Token is a lexical element of a text.
type Token struct {
	Kind   Kind
	Text   string // as written, with delimiters
	Offset int    // in bytes
	Place
}

// A Place is a position within a text, from 1; columns count characters.
type Place struct{ Line, Column int }

// A Kind is the kind of a [Token].
type Kind uint8

// The kinds that the languages share. A language numbers its own kinds from Own.
const (
	End      Kind = iota // of the text
	Word                 // kubernetes
	Phrase               // "helm chart"
	Name                 // of a field, with its colon: title:
	OpAnd                //
	OpOr                 //
	OpNot                //
	OpenPar              // (
	ClosePar             // )
	Own
)

// A SyntaxError reports an invalid text, its position and the remedy.
type SyntaxError struct {
	Offset  int // in bytes
	Message string
}

// Error returns the message without the position.
func (e *SyntaxError) Error() string { return e.Message }

// A Lexer splits a text into tokens. It reads a token when it is first needed, so that the earliest error of
// a text is reported first.
type Lexer struct {
	Source string
	Offset int // of the next byte
	Place      // of the next byte
	Depth  int // open parentheses

	// Skip consumes white space and comments. Scan consumes a token and returns its kind, or an error message
	// that applies to the current offset.
	Skip func(*Lexer)
	Scan func(*Lexer) (kind Kind, wrong string)

	Err    *SyntaxError // the first error; the text ends there
	tokens []Token
	at     int // of the next token
}

// ReadAll reads all tokens, for a language that reports errors in tokens before those in their order.
func (l *Lexer) ReadAll() {
	l.tokens = make([]Token, 0, len(l.Source)/5+4) // most tokens have at least 5 bytes
	for len(l.tokens) == 0 || l.tokens[len(l.tokens)-1].Kind != End {
		l.read()
	}
}

// read reads a token.
func (l *Lexer) read() {
	t := Token{Offset: l.Offset, Place: l.Place} // the end of a text is that of its last token
	if l.Skip(l); l.Offset < len(l.Source) {
		t.Offset, t.Place = l.Offset, l.Place
		kind, wrong := l.Scan(l)
		if wrong != "" {
			l.Fail(l.Offset, "%s", wrong)
			return
		}
		t.Kind, t.Text = kind, l.Source[t.Offset:l.Offset]
		switch kind {
		case OpenPar:
			l.Depth++
		case ClosePar:
			l.Depth--
		}
	}
	l.tokens = append(l.tokens, t)
}

// Rest returns the text from the next byte on.
func (l *Lexer) Rest() string { return l.Source[l.Offset:] }

// Advance consumes n bytes.
func (l *Lexer) Advance(n int) {
	passed := l.Source[l.Offset : l.Offset+n]
	if i := strings.LastIndexByte(passed, '\n'); i >= 0 {
		l.Line += strings.Count(passed, "\n")
		l.Column = 1
		passed = passed[i+1:]
	}
	l.Column += utf8.RuneCountInString(passed)
	l.Offset += n
}

// AdvanceByte consumes a byte if it is next.
func (l *Lexer) AdvanceByte(c byte) bool {
	if l.Offset == len(l.Source) || l.Source[l.Offset] != c {
		return false
	}
	l.Advance(1)
	return true
}

// AdvanceWhile consumes characters as long as they belong to a word, and returns them.
func (l *Lexer) AdvanceWhile(belongs func(rune) bool) string {
	word := l.Rest()
	if n := strings.IndexFunc(word, func(r rune) bool { return !belongs(r) }); n >= 0 {
		word = word[:n]
	}
	l.Advance(len(word))
	return word
}

// AdvanceQuoted consumes a text that ends with the character it begins with. A backslash escapes the character
// after it. It returns false, and consumes nothing, if the end is missing or in another line than allowed.
func (l *Lexer) AdvanceQuoted(manyLines bool) bool {
	s := l.Rest()
	for i := 1; i < len(s) && (manyLines || s[i] != '\n'); i++ {
		switch {
		case s[i] == s[0]:
			l.Advance(i + 1)
			return true
		case s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n':
			i++
		}
	}
	return false
}

// Fail records an error, unless there is one already, and ends the text.
func (l *Lexer) Fail(offset int, format string, args ...any) {
	if l.Err == nil {
		l.Err = &SyntaxError{offset, fmt.Sprintf(format, args...)}
	}
	l.tokens = append(l.tokens[:l.at], Token{})
}

// Peek returns the next token, of kind [End] at the end of the text.
func (l *Lexer) Peek() Token {
	if l.at == len(l.tokens) {
		l.read()
	}
	return l.tokens[l.at]
}

// Next consumes the next token and returns it.
func (l *Lexer) Next() Token {
	t := l.Peek()
	if t.Kind != End {
		l.at++
	}
	return t
}

// Accept consumes the next token if it is of a kind.
func (l *Lexer) Accept(k Kind) bool {
	if l.Peek().Kind != k {
		return false
	}
	l.at++
	return true
}

// Last returns the last token read, the zero token if there is none.
func (l *Lexer) Last() Token {
	if len(l.tokens) == 0 {
		return Token{}
	}
	return l.tokens[len(l.tokens)-1]
}

// Before returns the token consumed n tokens before the next one, n from 1; the zero token if there is none.
func (l *Lexer) Before(n int) Token {
	if n > l.at {
		return Token{}
	}
	return l.tokens[l.at-n]
}
