package date

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTokens bounds the tokens of a date. The longest valid date in the corpora has 21.
const maxTokens = 40

type kind uint8

const (
	none   kind = iota // beyond either end
	digits             // a run of digits
	word               // a run of letters
	symbol             // any other character
)

// A token is a piece of a date.
type token struct {
	kind   kind
	char   byte     // of a symbol: itself in ASCII, or ',' for mere separators
	spaced bool     // white space precedes it
	text   string   // as written
	value  int      // of at most 9 digits
	means  *meaning // of a word, never nil
}

// tokens are the tokens of a text, in a buffer of fixed size to avoid allocation.
type tokens struct {
	list [maxTokens]token
	n    int
}

// noToken stands for tokens beyond either end. It is read-only.
var noToken token

// at returns the token at i, or noToken beyond either end.
func (t *tokens) at(i int) *token {
	if i < 0 || i >= t.n {
		return &noToken
	}
	return &t.list[i]
}

// digitsAt returns the number of digits of the token at i, or 0.
func (t *tokens) digitsAt(i int) int {
	if tok := t.at(i); tok.kind == digits {
		return len(tok.text)
	}
	return 0
}

// charAt returns the symbol at i, or 0.
func (t *tokens) charAt(i int) byte {
	return t.at(i).char
}

// meansAt returns the meaning of the word at i, or noMeaning.
func (t *tokens) meansAt(i int) *meaning {
	if m := t.at(i).means; m != nil {
		return m
	}
	return &noMeaning
}

// adjacent reports whether the token at i follows the previous token without white space. It is false for the
// first token.
func (t *tokens) adjacent(i int) bool {
	return 0 < i && i < t.n && !t.list[i].spaced
}

// split splits a text returned by [normalize] into tokens. It returns false if it exceeds maxTokens.
func (t *tokens) split(s string) bool {
	for i, spaced := 0, false; i < len(s); {
		if s[i] <= ' ' {
			i, spaced = i+1, true
			continue
		}
		if t.n == maxTokens {
			return false
		}
		tok := &t.list[t.n]
		*tok = cutToken(s[i:], t.at(t.n-1).kind == digits, spaced)
		tok.spaced = spaced
		if tok.kind == word {
			tok.means = meaningOf(tok.text)
		}
		i, spaced = i+len(tok.text), false
		t.n++
	}
	return true
}

// cutToken returns the first token of s, which does not start with white space. East Asian unit signs
// adjacent to a number are words of their own, even if letters follow them.
func cutToken(s string, afterDigits, spaced bool) token {
	if isDigit(s[0]) {
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		tok := token{kind: digits, text: s[:n]}
		if n <= 9 {
			tok.value = number(s[:n])
		}
		return tok
	}
	first, n := utf8.DecodeRuneInString(s)
	switch {
	case first < utf8.RuneSelf && !isLetter(s[0]):
		return token{kind: symbol, text: s[:1], char: normalizeSymbol(s[0])}
	case !isWordRune(first):
		return token{kind: symbol, text: s[:n], char: ','}
	case afterDigits && !spaced && n > 1 && units[s[:n]] != 0:
		return token{kind: word, text: s[:n]}
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !isWordRune(r) && !abbreviates(s, n) {
			break
		}
		n += size
	}
	return token{kind: word, text: s[:n]}
}

// isWordRune reports whether words may contain r. The replacement character stands for a lost letter, and the
// underscore occurs in names of time zones.
func isWordRune(r rune) bool {
	return r == '_' || r == utf8.RuneError || unicode.IsLetter(r) || unicode.IsMark(r)
}

// abbreviates reports whether s[n] is the point within a word such as p.m.
func abbreviates(s string, n int) bool {
	if s[n] != '.' || n+1 == len(s) {
		return false
	}
	before, _ := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[n+1:])
	return n == utf8.RuneLen(before) && unicode.IsLetter(after)
}

// normalizeSymbol returns b, or ',' for a character that merely separates or quotes.
func normalizeSymbol(b byte) byte {
	if strings.IndexByte(";|\"'`!*", b) >= 0 {
		return ','
	}
	return b
}

// units maps the East Asian signs that follow a date's numbers to the part of the date.
var units = map[string]unit{
	"年": unitYear, "년": unitYear, "月": unitMonth, "월": unitMonth,
	"日": unitDay, "号": unitDay, "號": unitDay, "일": unitDay,
	"時": unitHour, "时": unitHour, "点": unitHour, "點": unitHour, "시": unitHour,
	"分": unitMinute, "분": unitMinute, "秒": unitSecond, "초": unitSecond,
}

type unit uint8

const (
	unitYear unit = iota + 1
	unitMonth
	unitDay
	unitHour
	unitMinute
	unitSecond
)
