package rule

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/expression"
)

// The kinds of tokens that only rules have.
const (
	prefix  = expression.Own + iota // kube*
	loose                           // "helm chart"~
	exact                           // 'Go'
	pattern                         // /v\d/
	when
	score
	near  // near/5
	count // the 2 of 2 of (
	of
	comma
)

// keywords must be quoted to be used as terms.
var keywords = map[string]expression.Kind{"when": when, "score": score, "and": expression.OpAnd, "or": expression.OpOr, "not": expression.OpNot}

var operators = [utf8.RuneSelf]expression.Kind{
	'&': expression.OpAnd, '|': expression.OpOr, '!': expression.OpNot, '(': expression.OpenPar, ')': expression.ClosePar, ',': comma,
}

// skip consumes white space and comments. A # inside a word does not start a comment, so that c# is a word. A
// rule does not begin with a comment.
func skip(l *expression.Lexer) {
	for l.Offset < len(l.Source) {
		switch c := l.Source[l.Offset]; {
		case c == '\n' || isBlank(c):
			l.Advance(1)
		case c == '#' && (l.Source[l.Offset-1] == '\n' || isBlank(l.Source[l.Offset-1])):
			l.AdvanceWhile(func(r rune) bool { return r != '\n' })
		default:
			return
		}
	}
}

// scan consumes a token and returns its kind, or an error message.
func scan(l *expression.Lexer) (expression.Kind, string) {
	c := l.Source[l.Offset]
	if c < utf8.RuneSelf && operators[c] != expression.End {
		l.Advance(1)
		return operators[c], ""
	}
	switch c {
	case '"':
		if !l.AdvanceQuoted(false) {
			return 0, `the closing " is missing in this line`
		}
		if l.AdvanceByte('~') {
			return loose, ""
		}
		return expression.Phrase, ""
	case '\'':
		if !l.AdvanceQuoted(false) {
			return 0, "the closing ' is missing in this line"
		}
		return exact, ""
	case '/':
		if !l.AdvanceQuoted(false) {
			return 0, "the closing / of a regular expression is missing in this line; put a word that begins with / in quotes"
		}
		return pattern, ""
	}
	word := l.AdvanceWhile(isWordRune)
	switch {
	case word == "":
		r, _ := utf8.DecodeRuneInString(l.Rest())
		return 0, unexpectedCharacter(r)
	case l.AdvanceByte(':'):
		return expression.Name, ""
	case l.AdvanceByte('*'):
		return prefix, ""
	case keywords[word] != expression.End:
		return keywords[word], ""
	case isNear(word):
		return near, ""
	case isNumber(word) && precedesOf(*l):
		return count, ""
	case word == "of" && l.Last().Kind == count:
		return of, ""
	}
	return expression.Word, ""
}

// precedesOf reports whether the word "of" comes next.
func precedesOf(l expression.Lexer) bool {
	skip(&l)
	return l.AdvanceWhile(isWordRune) == "of" && !l.AdvanceByte(':') && !l.AdvanceByte('*')
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

// isWordRune reports whether r may occur in an unquoted word: c#, c++, node.js, ci/cd.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.IndexByte(".+#-_/'@", byte(r)) >= 0
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '’')
}

// isBare reports whether a text is a word that needs no quotes.
func isBare(s string) bool {
	return isWord(s) && keywords[s] == expression.End && !isNear(s)
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

func quote(s string) string { return expression.Quote(s, `"`) }

// shorten truncates a text for a message.
func shorten(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "..."
		}
	}
	return s
}
