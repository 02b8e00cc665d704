package across

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A kind is the kind of a term.
type kind uint8

const (
	isWord   kind = iota // a word that only one language has
	isNumber             // a number that is no version
	isVersion
	isName
)

// isName reports whether a term identifies something.
func (k kind) isName() bool { return k == isName || k == isVersion }

// A term is a word or number of a title.
type term struct {
	text     string // in lower case; of a number its value
	kind     kind
	sound    string // phonetic key; empty if it is too short to compare
	concepts []*concept
	product  *term  // of a version
	unit     string // of a number: "money", "percent", "people" or ""
	weight   float64
}

// Weights of terms.
const (
	wordWeight    = 0.3 // of a word without equivalent, which can only be missing
	conceptWeight = 0.55
	numberWeight  = 0.8
	versionWeight = 1.0
	soundWeight   = 0.8 // of a name that only sounds alike, by the weight of the name
)

// shared returns the weight that two terms of different languages share, or 0.
func (t term) shared(u term) float64 {
	switch {
	case t.kind == isVersion && u.kind == isVersion && t.text == u.text:
		if t.product != nil && u.product != nil && t.product.shared(*u.product) > 0 {
			return versionWeight
		}
		return numberWeight / 2
	case isNumeric(t.kind) != isNumeric(u.kind):
		return 0
	case isNumeric(t.kind):
		if t.text == u.text {
			return numberWeight
		}
		return 0
	case t.text == u.text:
		return max(t.weight, u.weight) // Latin letters in a Russian title are a name, in lower case in the English one too
	}
	for _, c := range t.concepts {
		for _, d := range u.concepts {
			if c == d {
				return c.weight()
			}
		}
	}
	if t.sound != "" && t.sound == u.sound {
		return soundWeight * max(t.weight, u.weight)
	}
	return 0
}

func isNumeric(k kind) bool { return k == isNumber || k == isVersion }

func (t term) searchWeight() float64 {
	if t.kind == isNumber && t.unit != "" {
		return 0.1
	}
	return t.weight
}

// searchWords returns the spellings of a term in a language.
func (t term) searchWords(lang string) (words []string) {
	if t.kind == isNumber && len(t.text) > 4 { // the same amount may be written in several forms
		return nil
	}
	for _, c := range t.concepts {
		words = append(words, c.spellings[lang]...)
	}
	if len(words) > 0 {
		return words
	}
	switch {
	case t.kind == isWord:
		return nil
	case isCyrillic(t.text) && lang == "en":
		return []string{toLatin(stem.Of(t.text, "ru"))}
	case !isCyrillic(t.text) && lang == "ru" && t.kind == isName:
		return []string{t.text, toCyrillic(t.text)}
	}
	return []string{t.text}
}

// isCyrillic reports whether a word begins with a Cyrillic letter.
func isCyrillic(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Cyrillic, r)
}

// fold returns a word in lower case with ё as е.
func fold(word string) string { return strings.ReplaceAll(strings.ToLower(word), "ё", "е") }
