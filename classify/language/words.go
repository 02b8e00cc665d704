package language

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxText  = 512 // bytes of a text that are read
	maxWords = 400
)

// A word is a run of letters of one script.
type word struct {
	text      string
	script    *script
	name      bool // an acronym, in two or more capitals, or of a product such as USB-C
	lowerCase bool // does not begin with a capital
}

// words returns the words at the beginning of a text, without URLs and identifiers.
func words(text string) []word {
	text = fixMojibake(head(text))
	list := make([]word, 0, 64)
	for token := range strings.FieldsSeq(text) {
		if len(list) >= maxWords {
			break
		}
		if !isCode(token) {
			list = split(list, token)
		}
	}
	return list
}

// head returns the beginning of a text, in whole characters.
func head(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// isCode reports whether a token is a URL, a number, a path or an identifier rather than a word: it contains
// a digit or a sign, or a lower-case letter before an upper-case one. Only tokens that begin in ASCII are
// checked, because some scripts have no spaces.
func isCode(token string) bool {
	token = strings.Trim(token, `.,;:!?"'()[]*-`)
	for i := range len(token) {
		c := token[i]
		switch {
		case c >= utf8.RuneSelf:
			return false
		case c >= '0' && c <= '9', strings.IndexByte(`_@/\=<>{}$|~^+#&%.:([`, c) >= 0:
			return true
		case i > 0 && c >= 'A' && c <= 'Z' && token[i-1] >= 'a' && token[i-1] <= 'z':
			return true
		}
	}
	return false
}

// isProduct reports whether a token ends in a hyphen and one capital, like USB-C.
func isProduct(token string) bool {
	n := len(token)
	return n > 2 && token[n-2] == '-' && token[n-1] >= 'A' && token[n-1] <= 'Z'
}

// split appends the words of a token.
func split(list []word, token string) []word {
	product := isProduct(token)
	for i := 0; i < len(token); {
		r, size := utf8.DecodeRuneInString(token[i:])
		s := scriptOf(r)
		if s == nil {
			i += size
			continue
		}
		start, capitals, letters := i, 0, 0
		for i < len(token) {
			r, size = utf8.DecodeRuneInString(token[i:])
			if scriptOf(r) != s && !unicode.IsMark(r) {
				break
			}
			if unicode.IsUpper(r) {
				capitals++
			}
			letters++
			i += size
		}
		first, _ := utf8.DecodeRuneInString(token[start:])
		list = append(list, word{
			text: token[start:i], script: s,
			name: product || letters > 1 && capitals == letters, lowerCase: !unicode.IsUpper(first),
		})
	}
	return list
}

// mainScript returns the main script of a text and its number of letters; nil if there are none. Texts of
// every script contain names in Latin letters, so that another script needs less to be the main one: a third
// of the letters, or more words than Latin words that begin with a lower-case letter.
func mainScript(list []word) (main *script, letters int) {
	type share struct{ letters, words int }
	shares := make(map[*script]share)
	all, small := 0, 0
	for _, w := range list {
		n := utf8.RuneCountInString(w.text) * w.script.weight
		s := shares[w.script]
		shares[w.script] = share{s.letters + n, s.words + 1}
		all += n
		if w.script == latin && w.lowerCase {
			small++
		}
	}
	// Japanese uses both scripts, Chinese has no kana.
	if k := shares[kana]; k.letters > 0 && 10*k.letters > shares[han].letters {
		shares[kana] = share{k.letters + shares[han].letters, k.words + shares[han].words}
		delete(shares, han)
	}
	for s, n := range shares {
		if s != latin && (n.letters > letters || n.letters == letters && s.name < main.name) {
			main, letters = s, n.letters
		}
	}
	if main == nil || 3*letters <= all && shares[main].words <= small {
		return latinIf(shares[latin].letters)
	}
	return main, letters
}

func latinIf(letters int) (*script, int) {
	if letters == 0 {
		return nil, 0
	}
	return latin, letters
}
