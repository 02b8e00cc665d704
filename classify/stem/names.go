package stem

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rule decides where a sign is part of a word rather than a separator.
type rule struct {
	name  string
	signs string
	last  bool // the sign ends the word

	// joins reports whether the sign belongs to the word: before is the word so far, after the text behind
	// the sign.
	joins func(before, after string) bool
}

// rules cover names used in IT, and numbers.
var rules = []rule{
	{name: "node.js, 1.26, example.com; but not the end.The next", signs: ".", joins: func(before, after string) bool {
		b, _ := utf8.DecodeLastRuneInString(before)
		a := first(after)
		return isWord(a) && !isDense(a) && !(unicode.IsLower(b) && unicode.IsUpper(a))
	}},
	{name: "don't, o'reilly", signs: "'’ʼ", joins: func(_, after string) bool {
		a := first(after)
		return unicode.IsLetter(a) && !isDense(a)
	}},
	{name: "1,000", signs: ",", joins: func(before, after string) bool {
		b, _ := utf8.DecodeLastRuneInString(before)
		return unicode.IsDigit(b) && unicode.IsDigit(first(after))
	}},
	{name: "iso-8859-1, utf-8, covid-19; but not 2020-21, nor well-known", signs: "-\u2010\u2011", joins: func(before, after string) bool {
		return unicode.IsDigit(first(after)) && strings.ContainsFunc(before, unicode.IsLetter)
	}},
	{name: "c#, f#", signs: "#", last: true, joins: func(_, after string) bool { return !isWord(first(after)) }},
	{name: "c++", signs: "+", joins: func(_, after string) bool { return first(after) == '+' }},
	{name: "c++, its second", signs: "+", last: true, joins: func(before, _ string) bool { return strings.HasSuffix(before, "+") }},
}

// joined reports whether the sign between before and after is part of the word, and whether the word ends
// with it.
func joined(before string, sign rune, after string) (joins, last bool) {
	if sign == ' ' { // the usual case
		return false, false
	}
	for _, r := range rules {
		if strings.ContainsRune(r.signs, sign) && r.joins(before, after) {
			return true, r.last
		}
	}
	return false, false
}

// dotNames are names that begin with a dot.
var dotNames = []string{".net", ".htaccess", ".env", ".gitignore"}

// dotNamed returns the length of the dot name that s begins with, or 0.
func dotNamed(s string) int {
	if s == "" || s[0] != '.' {
		return 0
	}
	for _, name := range dotNames {
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) && !isWord(first(s[len(name):])) {
			return len(name)
		}
	}
	return 0
}

// first returns the first character of s, or 0.
func first(s string) rune {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
