package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// A Word is a word of a text.
type Word struct {
	Stem       string // by which words are compared; never empty
	Text       string // the word itself, as [text.Word] has it
	Pos        int    // how many words stand before it
	Start, End int    // the bytes it stands at
}

// Words returns the words of an item's text, in order; nil if there are none.
// Whatever looks for words by their stems splits and stems texts by this function
// and queries by [Sought], or they would not meet.
//
// Where words are not set apart by spaces (Chinese, Japanese, Thai), and in
// Korean, there is a word for each two neighbouring characters, and one for the
// last character alone, so that one character is the beginning of a word
// wherever it stands. Articles that merged with the next word ("l'avion") are
// left out, but have a place. O(len(s)).
func Words(s string) []Word { return split(s, everyTail) }

// Sought returns the words that a query asks for, in order; nil if there are none.
// They are those of [Words], but without the last character alone of several.
func Sought(s string) []Word { return split(s, noTail) }

// Sought returns the words that the text asks for, as the function of that name. In a
// phrase the last character alone is left out at the end only: between two words it
// stands in texts, too, and gives them their distance.
func (t Text) Sought() []Word {
	if t.Form == Phrase {
		return split(t.Words, innerTails)
	}
	return Sought(t.Words)
}

// tails says which words of a last character alone there are.
type tails uint8

const (
	noTail tails = iota
	innerTails
	everyTail
)

// Stems returns the stems of words, in order.
func Stems(words []Word) []string {
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = w.Stem
	}
	return stems
}

func split(s string, which tails) []Word {
	p := splitter{s: s, tails: which != noTail}
	for w := range text.Each(s) {
		if p.words == nil {
			p.words = make([]Word, 0, text.Room(s))
		}
		if isASCII(w.Text) || strings.IndexFunc(w.Text, isDense) < 0 {
			p.flush()
			p.add(w)
			continue
		}
		p.mixed(w)
	}
	p.tails = which == everyTail
	p.flush()
	return p.words
}

// A splitter collects the words of a text.
type splitter struct {
	s     string
	tails bool // of the run at hand
	words []Word
	pos   int
	run   []int // where the characters of a run of dense ones begin, and where the last one ends
}

// add adds a word that is set apart by spaces.
func (p *splitter) add(w text.Word) {
	if article, rest, ok := strings.Cut(w.Text, "'"); ok && elided[article] && rest != "" {
		p.pos++
		// Sizes may differ from those in s where a word is not composed.
		w = text.Word{Text: rest, Start: max(w.Start, w.End-len(rest)), End: w.End}
	}
	p.words = append(p.words, Word{Stem: StemOf(w.Text), Text: w.Text, Pos: p.pos, Start: w.Start, End: w.End})
	p.pos++
}

// mixed adds a word that has dense characters in it.
func (p *splitter) mixed(w text.Word) {
	for at := w.Start; at < w.End; {
		r, size := utf8.DecodeRuneInString(p.s[at:])
		if isDense(r) {
			end := at + size
			for end < w.End {
				if r, size = utf8.DecodeRuneInString(p.s[end:]); !unicode.IsMark(r) {
					break
				}
				end += size
			}
			p.dense(at, end)
			at = end
			continue
		}
		p.flush()
		end := strings.IndexFunc(p.s[at:w.End], isDense)
		if end < 0 {
			end = w.End - at
		}
		for _, part := range text.Words(p.s[at : at+end]) {
			p.add(text.Word{Text: part.Text, Start: at + part.Start, End: at + part.End})
		}
		at += end
	}
}

// dense adds a character to the run, or begins another.
func (p *splitter) dense(start, end int) {
	if n := len(p.run); n > 0 && p.run[n-1] != start {
		p.flush()
	}
	if len(p.run) == 0 {
		p.run = append(p.run, start)
	}
	p.run = append(p.run, end)
}

// flush ends the run of dense characters.
func (p *splitter) flush() {
	n := len(p.run) - 1 // characters
	for i := range n {
		last := i == n-1
		if last && n > 1 && !p.tails {
			break
		}
		start, end := p.run[i], p.run[min(i+2, n)]
		chars := norm.NFC.String(p.s[start:end])
		p.words = append(p.words, Word{Stem: chars, Text: chars, Pos: p.pos, Start: start, End: end})
		p.pos++
	}
	p.run = p.run[:0]
}

// elided are the articles and the like of French and Italian that merge with the
// next word.
var elided = setOf("l d j m t s n c qu jusqu lorsqu puisqu quoiqu dell all nell sull dall quell un")

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for _, s := range strings.Fields(list) {
		set[s] = true
	}
	return set
}

// StemOf returns the stem of a word in small letters. It depends on nothing but
// the word, since nobody knows in which language a query is: Cyrillic words are
// stemmed as Russian, Latin ones as English unless their letters say German,
// French or Spanish. Accents do not count: they are often left out.
func StemOf(word string) string {
	if isASCII(word) {
		return shorten(stem.Of(word, ""))
	}
	if !mayHaveAccents(word) { // as no Russian word has
		return stem.Of(word, "")
	}
	for _, l := range letters {
		if strings.ContainsAny(word, l.letters) && utf8.RuneCountInString(word) >= l.longer {
			return plainLetters(stem.Of(word, l.lang))
		}
	}
	return stem.Of(plainLetters(word), "")
}

// letters tell the language of a word. Of a shorter one the ending would be too
// large a part of it: "café", "año".
var letters = []struct {
	letters, lang string
	longer        int
}{
	{"äöüß", "de", 0},
	{"ñáíóú", "es", 6},
	{"éèêëçàâîïôûùœ", "fr", 6},
}

// shorten takes from a stem the ending of German plurals, "Datenbanken", which
// English stemming leaves. In shorter words it is mostly no ending: "listen".
func shorten(stem string) string {
	if short, ok := strings.CutSuffix(stem, "en"); ok && len(stem) >= 7 {
		return short
	}
	return stem
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mayHaveAccents reports whether a word has a letter of U+00C0 to U+027F, by their
// first bytes: those with accents, of the languages of letters as well.
func mayHaveAccents(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xC3 && s[i] <= 0xC9 {
			return true
		}
	}
	return false
}

// plainLetters returns a Latin word without accents, and others as they are: "й"
// is another letter than "и".
func plainLetters(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0xC0 && r < 0x250 }) {
		return s
	}
	s = strings.NewReplacer("ß", "ss", "œ", "oe", "æ", "ae", "ø", "o", "ł", "l").Replace(s)
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= 0x300 && r < 0x370 { // accents
			return -1
		}
		return r
	}, norm.NFD.String(s)))
}

// isDense reports whether r belongs to a script in which words are not set apart
// by spaces, or, as Korean ones are, from what is hung on them.
func isDense(r rune) bool {
	if r < 0xE00 {
		return false
	}
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r)
}
