package rule

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is what a rule's text is made of.
type token struct {
	kind kind
	text string // as written, with quotes and marks
	pos  Pos
}

// A kind is one of tokens.
type kind uint8

const (
	end     kind = iota
	bare         // kubernetes
	prefix       // kube*
	phrase       // "helm chart"
	loose        // "helm chart"~
	exact        // 'Go'
	pattern      // /v\d/
	field        // title:
	when
	score
	and
	or
	not
	near  // near/5
	count // the 2 of 2 of (
	of
	open
	shut
	comma
)

// keywords are words that are terms only if they are quoted.
var keywords = map[string]kind{"when": when, "score": score, "and": and, "or": or, "not": not}

var signs = [utf8.RuneSelf]kind{'&': and, '|': or, '!': not, '(': open, ')': shut, ',': comma}

// A scanner cuts the text of one rule, which may be several lines, into tokens.
type scanner struct {
	text string
	at   int // bytes of text that are behind
	pos  Pos // of what is at at
}

// scan returns the tokens of a rule that begins at pos. The last is the end.
func scan(text string, pos Pos) ([]token, *Fault) {
	s := scanner{text: text, pos: pos}
	tokens := make([]token, 0, len(text)/5+4) // most have 5 bytes and more
	stop := pos                               // of the last token
	for s.skip(); s.at < len(s.text); s.skip() {
		start, pos := s.at, s.pos
		k, wrong := s.next()
		if wrong != "" {
			return nil, &Fault{pos, wrong}
		}
		t := token{k, s.text[start:s.at], pos}
		if last := len(tokens) - 1; t.text == "of" && last >= 0 && tokens[last].kind == bare && isNumber(tokens[last].text) {
			tokens[last].kind, t.kind = count, of
		}
		tokens, stop = append(tokens, t), s.pos
	}
	return append(tokens, token{end, "", stop}), nil
}

// skip goes past white space and comments, with which no rule begins. A # inside
// of a word begins none, so that c# is a word.
func (s *scanner) skip() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '\n':
			s.at++
			s.pos.Line, s.pos.Column = s.pos.Line+1, 1
		case isBlank(c):
			s.at++
			s.pos.Column++
		case c == '#' && (s.text[s.at-1] == '\n' || isBlank(s.text[s.at-1])):
			n := strings.IndexByte(s.text[s.at:], '\n')
			if n < 0 {
				n = len(s.text) - s.at
			}
			s.at += n // what follows is in the next line, so the column is of no use
		default:
			return
		}
	}
}

// next goes past a token and returns its kind, or what is wrong with it.
func (s *scanner) next() (kind, string) {
	c := s.text[s.at]
	if c < utf8.RuneSelf && signs[c] != end {
		s.pass(1)
		return signs[c], ""
	}
	switch c {
	case '"':
		if !s.passQuoted() {
			return end, `the closing " is missing in this line`
		}
		if s.passByte('~') {
			return loose, ""
		}
		return phrase, ""
	case '\'':
		if !s.passQuoted() {
			return end, "the closing ' is missing in this line"
		}
		return exact, ""
	case '/':
		if !s.passQuoted() {
			return end, "the closing / of a regular expression is missing in this line; put a word that begins with / in quotes"
		}
		return pattern, ""
	}
	word := s.passWord()
	if word == "" {
		r, _ := utf8.DecodeRuneInString(s.text[s.at:])
		return end, meaningless(r)
	}
	switch {
	case s.passByte(':'):
		return field, ""
	case s.passByte('*'):
		return prefix, ""
	case keywords[word] != end:
		return keywords[word], ""
	case isNear(word):
		return near, ""
	}
	return bare, ""
}

// meaningless says why a rule cannot have r.
func meaningless(r rune) string {
	switch {
	case strings.ContainsRune("“”„«»‘", r):
		return "write \" instead of " + string(r)
	case !unicode.IsGraphic(r) || unicode.IsSpace(r):
		return fmt.Sprintf("the character %U, which is not seen, says nothing here: write a plain space instead", r)
	}
	return quote(string(r)) + " says nothing here: put what it belongs to in quotes"
}

// passQuoted goes past what the sign at hand encloses. A backslash keeps the
// character after it from being the end.
func (s *scanner) passQuoted() bool {
	sign := s.text[s.at]
	for i := s.at + 1; i < len(s.text) && s.text[i] != '\n'; i++ {
		switch s.text[i] {
		case '\\':
			if i+1 < len(s.text) && s.text[i+1] != '\n' {
				i++
			}
		case sign:
			s.pass(i + 1 - s.at)
			return true
		}
	}
	return false
}

// passWord goes past the longest word and returns it; it is empty where none begins.
func (s *scanner) passWord() string {
	word := s.text[s.at:]
	if n := strings.IndexFunc(word, func(r rune) bool { return !isWordSign(r) }); n >= 0 {
		word = word[:n]
	}
	s.pass(len(word))
	return word
}

// pass goes past n bytes of a line.
func (s *scanner) pass(n int) {
	s.pos.Column += utf8.RuneCountInString(s.text[s.at : s.at+n])
	s.at += n
}

func (s *scanner) passByte(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.pass(1)
		return true
	}
	return false
}

// isWordSign reports whether r may be in a word without quotes: c#, c++, node.js, ci/cd.
func isWordSign(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.IndexByte(".+#-_/'@", byte(r)) >= 0
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '’')
}

// isBare reports whether a text is a word that needs no quotes.
func isBare(s string) bool {
	return isWord(s) && keywords[s] == end && !isNear(s)
}

// isWord reports whether a text is of the signs of words, and begins as one does.
func isWord(s string) bool {
	return s != "" && strings.IndexByte("'/#", s[0]) < 0 && !strings.ContainsFunc(s, func(r rune) bool { return !isWordSign(r) })
}

func isNear(s string) bool {
	distance, found := strings.CutPrefix(s, "near/")
	return found && isNumber(distance)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// unquote returns what is between the first and the last byte of s, in which the
// backslash keeps a meaning only before itself and the sign that encloses it.
func unquote(s string) string {
	sign, s := s[0], s[1:len(s)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if escapes(s[i:], sign) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapes reports whether s begins with a backslash that stands before a sign which
// is meant.
func escapes(s string, sign byte) bool {
	return len(s) > 1 && s[0] == '\\' && (s[1] == '\\' || s[1] == sign)
}

// written returns where in the token s what [unquote] has after n bytes stands.
func written(s string, n int) int {
	at := 1
	for ; n > 0 && at < len(s)-1; n-- {
		if escapes(s[at:len(s)-1], s[0]) {
			at++
		}
		at++
	}
	return at
}

// quote encloses s so that [unquote] returns it.
func quote(s string) string { return enclose(s, `"`) }

func enclose(s, sign string) string {
	return sign + strings.NewReplacer(`\`, `\\`, sign, `\`+sign).Replace(s) + sign
}

// unslash returns the regular expression that stands between slashes: it has its
// own backslashes, save before a slash.
func unslash(s string) string {
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// slash encloses a regular expression so that [unslash] returns it.
func slash(s string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			b.WriteByte('\\')
			i++
		case s[i] == '/':
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('/')
	return b.String()
}
