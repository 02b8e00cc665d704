package date

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTokens is how many tokens a date may have. The longest honest one has 21.
const maxTokens = 40

type kind uint8

const (
	none   kind = iota // beyond either end
	digits             // a run of digits
	word               // a run of letters
	sign               // any other character
)

// A token is a piece of a date.
type token struct {
	kind   kind
	mark   byte     // of a sign: itself in ASCII, ',' for all that means no more than one
	spaced bool     // white space stands before it
	text   string   // as written
	value  int      // of digits, if there are at most 9
	means  *meaning // of a word, never nil there
}

// tokens are the pieces of a text, in an array so that none is allocated.
type tokens struct {
	list [maxTokens]token
	n    int
}

// beyond stands for the tokens that there are not. Nobody writes to it.
var beyond token

// at returns a token, or one of no kind beyond either end.
func (t *tokens) at(i int) *token {
	if i < 0 || i >= t.n {
		return &beyond
	}
	return &t.list[i]
}

// digitsAt returns the number of digits at i, or 0 if there are none.
func (t *tokens) digitsAt(i int) int {
	if tok := t.at(i); tok.kind == digits {
		return len(tok.text)
	}
	return 0
}

// markAt returns the mark at i, or 0 if there is none.
func (t *tokens) markAt(i int) byte {
	return t.at(i).mark
}

// meansAt returns the meaning of the word at i, or of none.
func (t *tokens) meansAt(i int) *meaning {
	if m := t.at(i).means; m != nil {
		return m
	}
	return &unknown
}

// glued reports whether nothing stands between the token at i and the one
// before it, which both exist.
func (t *tokens) glued(i int) bool {
	return 0 < i && i < t.n && !t.list[i].spaced
}

// split cuts s into tokens. It returns false if there are too many of them.
// s is a text as [plain] returns it.
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
		*tok = cut(s[i:], t.at(t.n-1).kind == digits, spaced)
		tok.spaced = spaced
		if tok.kind == word {
			tok.means = meaningOf(tok.text)
		}
		i, spaced = i+len(tok.text), false
		t.n++
	}
	return true
}

// cut returns the first token of s, which is not white space. After a number
// the signs of East Asia that name its unit are words by themselves, though
// letters may follow at once, if they follow the number at once.
func cut(s string, afterDigits, spaced bool) token {
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
		return token{kind: sign, text: s[:1], mark: meaningful(s[0])}
	case !ofWord(first):
		return token{kind: sign, text: s[:n], mark: ','}
	case afterDigits && !spaced && n > 1 && units[s[:n]] != 0:
		return token{kind: word, text: s[:n]}
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !ofWord(r) && !abbreviates(s, n) {
			break
		}
		n += size
	}
	return token{kind: word, text: s[:n]}
}

// ofWord reports whether words have r in them. The replacement character stands
// for a letter that was lost, and the underscore is in names of time zones.
func ofWord(r rune) bool {
	return r == '_' || r == utf8.RuneError || unicode.IsLetter(r) || unicode.IsMark(r)
}

// abbreviates reports whether s[n] is the point in a word such as p.m.
func abbreviates(s string, n int) bool {
	if s[n] != '.' || n+1 == len(s) {
		return false
	}
	before, _ := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[n+1:])
	return n == utf8.RuneLen(before) && unicode.IsLetter(after)
}

// meaningful returns b, or ',' if it is a sign that only parts or quotes.
func meaningful(b byte) byte {
	if strings.IndexByte(";|\"'`!*", b) >= 0 {
		return ','
	}
	return b
}

// units are the signs that follow the numbers of a date in East Asia, by which
// part of it they name.
var units = map[string]unit{
	"年": ofYear, "년": ofYear, "月": ofMonth, "월": ofMonth,
	"日": ofDay, "号": ofDay, "號": ofDay, "일": ofDay,
	"時": ofHour, "时": ofHour, "点": ofHour, "點": ofHour, "시": ofHour,
	"分": ofMinute, "분": ofMinute, "秒": ofSecond, "초": ofSecond,
}

type unit uint8

const (
	ofYear unit = iota + 1
	ofMonth
	ofDay
	ofHour
	ofMinute
	ofSecond
)
