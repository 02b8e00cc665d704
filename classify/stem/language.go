package stem

import (
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/turkish"
	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// A language defines the stemming of texts in it, separately for words in Latin and in Cyrillic letters.
type language struct {
	latin, cyrillic         *stemmer
	latinStop, cyrillicStop map[string]bool
	elided                  map[string]bool // words that merge with the next one: l' in French
	cache                   cache           // stems for [Words], by the word as written; empty for a stop word
}

// languages holds the languages that differ from unknown.
var languages = func() map[string]*language {
	m := make(map[string]*language)
	for lang := range stopLists {
		l := &language{latin: unknown.latin, cyrillic: unknown.cyrillic, latinStop: unknown.latinStop, cyrillicStop: unknown.cyrillicStop}
		switch {
		case lang == "en" || lang == "ru":
			continue // same as unknown
		case cyrillicWritten[lang]:
			l.cyrillicStop = StopWords(lang)
		default:
			l.latinStop, l.elided = StopWords(lang), elisions[lang]
			if s := latinStemmers[lang]; s != nil {
				l.latin = s
			}
		}
		m[lang] = l
	}
	return m
}()

// unknown stems texts of an unknown language.
var unknown = &language{latin: latinStemmers["en"], cyrillic: &stemmer{find: kljensen(russian.Stem)}, latinStop: StopWords("en"), cyrillicStop: StopWords("ru")}

func languageOf(lang string) *language {
	if l := languages[lang]; l != nil {
		return l
	}
	return unknown
}

// Languages returns the sorted languages for which [Words] and [Of] differ from the default. All others,
// including English and Russian, use the default.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

var latinStemmers = map[string]*stemmer{
	"en": {find: kljensen(english.Stem)},
	"es": {find: kljensen(spanish.Stem)},
	"fr": {find: kljensen(french.Stem)},
	"hu": {find: kljensen(hungarian.Stem)},
	"no": {find: kljensen(norwegian.Stem)},
	"sv": {find: kljensen(swedish.Stem)},
	"da": {find: bleve(danish.Stem)},
	"de": {find: bleve(german.Stem)},
	"fi": {find: bleve(finnish.Stem)},
	"it": {find: bleve(italian.Stem)},
	"nl": {find: bleve(dutch.Stem)},
	"pt": {find: bleve(portuguese.Stem)},
	"ro": {find: bleve(romanian.Stem)},
	"tr": {find: bleve(turkish.Stem)},
}

func kljensen(find func(word string, stopWords bool) string) func(string) string {
	return func(word string) string { return find(word, true) }
}

// bleve adapts a stemmer of Bleve, for languages that kljensen/snowball lacks.
func bleve(find func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		find(env)
		return env.Current()
	}
}

func (l *language) isStop(word string) bool {
	if scriptOf(word) == cyrillic {
		return l.cyrillicStop[word]
	}
	return l.latinStop[word]
}

type script uint8

const (
	other script = iota
	latin
	cyrillic
)

// scriptOf returns the script of a word's first character.
func scriptOf(word string) script {
	switch r, _ := utf8.DecodeRuneInString(word); {
	case r >= 'a' && r <= 'z':
		return latin
	case r >= 'Ѐ' && r <= 'ԯ':
		return cyrillic
	case r >= utf8.RuneSelf && unicode.Is(unicode.Latin, r):
		return latin
	}
	return other
}
