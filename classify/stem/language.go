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

// A language is how texts in it are stemmed: words in Latin letters one way,
// those in Cyrillic letters another.
type language struct {
	latin, cyrillic         *stemmer
	latinStop, cyrillicStop map[string]bool
	elided                  map[string]bool // what merges with the next word: l' in French
	known                   cache           // by words as they are written, of [Words]; nothing for a stop word
}

// languages are those that differ from unknown.
var languages = func() map[string]*language {
	m := make(map[string]*language)
	for lang := range stopLists {
		l := &language{latin: unknown.latin, cyrillic: unknown.cyrillic, latinStop: unknown.latinStop, cyrillicStop: unknown.cyrillicStop}
		switch {
		case lang == "en" || lang == "ru":
			continue // as unknown is
		case cyrillicWritten[lang]:
			l.cyrillicStop = Stop(lang)
		default:
			l.latinStop, l.elided = Stop(lang), elisions[lang]
			if s := latinStemmers[lang]; s != nil {
				l.latin = s
			}
		}
		m[lang] = l
	}
	return m
}()

// unknown is how texts are stemmed of whose language nothing is known.
var unknown = &language{latin: latinStemmers["en"], cyrillic: &stemmer{find: kljensen(russian.Stem)}, latinStop: Stop("en"), cyrillicStop: Stop("ru")}

func languageOf(lang string) *language {
	if l := languages[lang]; l != nil {
		return l
	}
	return unknown
}

// Languages returns the languages that [Words] and [Of] treat in a way of their
// own, sorted; all others, English and Russian among them, are treated alike.
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

// bleve serves for the languages that kljensen has not.
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

// scriptOf returns the script that a word begins in.
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
