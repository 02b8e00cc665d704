package rule

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a lexical element of a rule.
type token struct {
	kind kind
	text string // as written, with delimiters
	pos  Pos
}

// A kind is the kind of a token.
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
	openParen
	closeParen
	comma
)

// keywords must be quoted to be used as terms.
var keywords = map[string]kind{"when": when, "score": score, "and": and, "or": or, "not": not}

var operators = [utf8.RuneSelf]kind{'&': and, '|': or, '!': not, '(': openParen, ')': closeParen, ',': comma}

// A scanner splits the text of one rule, possibly of several lines, into tokens.
type scanner struct {
	text string
	at   int // offset of the next byte
	pos  Pos // position of at
}

// scan returns the tokens of a rule that begins at pos. The last token is end.
func scan(text string, pos Pos) ([]token, *Diagnostic) {
	s := scanner{text: text, pos: pos}
	tokens := make([]token, 0, len(text)/5+4) // most tokens have at least 5 bytes
	stop := pos                               // end of the last token
	for s.skip(); s.at < len(s.text); s.skip() {
		start, pos := s.at, s.pos
		k, wrong := s.next()
		if wrong != "" {
			return nil, &Diagnostic{pos, wrong}
		}
		t := token{k, s.text[start:s.at], pos}
		if last := len(tokens) - 1; t.text == "of" && last >= 0 && tokens[last].kind == bare && isNumber(tokens[last].text) {
			tokens[last].kind, t.kind = count, of
		}
		tokens, stop = append(tokens, t), s.pos
	}
	return append(tokens, token{end, "", stop}), nil
}

// skip advances past white space and comments. A # inside a word does not start a comment, so that c# is a
// word. A rule does not begin with a comment.
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
			s.at += n // the column is reset by the next line
		default:
			return
		}
	}
}

// next consumes a token and returns its kind, or an error message.
func (s *scanner) next() (kind, string) {
	c := s.text[s.at]
	if c < utf8.RuneSelf && operators[c] != end {
		s.pass(1)
		return operators[c], ""
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
		return end, unexpectedCharacter(r)
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

// unexpectedCharacter returns the message for a character that cannot begin a token.
func unexpectedCharacter(r rune) string {
	switch {
	case strings.ContainsRune("“”„«»‘", r):
		return "write \" instead of " + string(r)
	case !unicode.IsGraphic(r) || unicode.IsSpace(r):
		return fmt.Sprintf("invisible character %U: use a normal space instead", r)
	}
	return quote(string(r)) + " is not allowed here: enclose the term in quotes"
}

// passQuoted consumes a quoted text. A backslash escapes the character after it.
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

// passWord consumes and returns the longest word; empty if none begins here.
func (s *scanner) passWord() string {
	word := s.text[s.at:]
	if n := strings.IndexFunc(word, func(r rune) bool { return !isWordRune(r) }); n >= 0 {
		word = word[:n]
	}
	s.pass(len(word))
	return word
}

// pass consumes n bytes within a line.
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

// isWordRune reports whether r may occur in an unquoted word: c#, c++, node.js, ci/cd.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.IndexByte(".+#-_/'@", byte(r)) >= 0
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '’')
}

// isBare reports whether a text is a word that needs no quotes.
func isBare(s string) bool {
	return isWord(s) && keywords[s] == end && !isNear(s)
}

// isWord reports whether a text consists of word characters and begins like a word.
func isWord(s string) bool {
	return s != "" && strings.IndexByte("'/#", s[0]) < 0 && !strings.ContainsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

func isNear(s string) bool {
	distance, found := strings.CutPrefix(s, "near/")
	return found && isNumber(distance)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// unquote returns the text between the first and the last byte of s. A backslash escapes only itself and the
// quote.
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

// escapes reports whether s begins with a backslash that escapes a character.
func escapes(s string, sign byte) bool {
	return len(s) > 1 && s[0] == '\\' && (s[1] == '\\' || s[1] == sign)
}

// sourceOffset returns the offset in the token s of byte n of its unquoted text.
func sourceOffset(s string, n int) int {
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

// unslash returns the regular expression between slashes. Its backslashes are kept except before a slash.
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
