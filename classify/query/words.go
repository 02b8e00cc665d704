package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// A Word is a word of a text.
type Word struct {
	Stem       string // for comparisons; never empty
	Text       string // normalized as in [text.Word], at most MaxWord bytes
	Pos        int    // number of words before it
	Start, End int    // byte range
}

// MaxWord is the length in bytes that a word of a text or of a query is cut to, in whole characters. Longer
// words are no words: data, or an attack on every search that walks over the words of an index.
const MaxWord = 64

// bounded returns a word cut to MaxWord bytes.
func bounded(word string) string {
	end := min(len(word), MaxWord)
	for end < len(word) && end > 0 && !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

// Words returns the words of an item's text in order, nil if there are none. Every index and search by stems
// must split texts by this function and queries by [QueryWords], or words do not match.
//
// For scripts without spaces between words (Chinese, Japanese, Thai) and for Korean it returns a word for
// each pair of neighboring characters, and one for the last character alone, so that a single character is a
// prefix of a word at every position. Articles merged with the next word ("l'avion") are left out, but count
// as a position. O(len(s)).
func Words(s string) []Word { return split(nil, s, allTails) }

// AppendWords appends the words of [Words] to a list.
func AppendWords(list []Word, s string) []Word { return split(list, s, allTails) }

// QueryWords returns the words of a query in order, nil if there are none: those of [Words] without the
// single last character of a longer run.
func QueryWords(s string) []Word { return split(nil, s, noTails) }

// QueryWords returns the words of the condition. In a phrase the single last character of a run is left out
// at the end only: between two words it occurs in texts too and determines their distance.
func (t Text) QueryWords() []Word {
	if t.Form == Phrase {
		return split(nil, t.Words, innerTails)
	}
	return QueryWords(t.Words)
}

// A tailPolicy selects the words for the last character of a run.
type tailPolicy uint8

const (
	noTails tailPolicy = iota
	innerTails
	allTails
)

// Stems returns the stems of words, in order.
func Stems(words []Word) []string {
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = w.Stem
	}
	return stems
}

func split(list []Word, s string, which tailPolicy) []Word {
	p := splitter{s: s, tails: which != noTails, words: list}
	for w := range text.EachWord(s) {
		if p.words == nil {
			p.words = make([]Word, 0, text.EstimateWords(s))
		}
		if isASCII(w.Text) || strings.IndexFunc(w.Text, isDense) < 0 {
			p.flush()
			p.add(w)
			continue
		}
		p.mixed(w)
	}
	p.tails = which == allTails
	p.flush()
	return p.words
}

// A splitter collects the words of a text.
type splitter struct {
	s     string
	tails bool // whether the current run gets a word for its last character
	words []Word
	pos   int
	run   []int // start of each character of the current run, and the end of the last
}

// add adds a word of a script with spaces.
func (p *splitter) add(w text.Word) {
	if article, rest, ok := strings.Cut(w.Text, "'"); ok && elisions[article] && rest != "" {
		p.pos++
		// The byte length may differ from that in s if the word is not composed.
		w = text.Word{Text: rest, Start: max(w.Start, w.End-len(rest)), End: w.End}
	}
	word := bounded(w.Text)
	p.words = append(p.words, Word{Stem: StemOf(word), Text: word, Pos: p.pos, Start: w.Start, End: w.End})
	p.pos++
}

// mixed adds a word that contains dense characters.
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

// dense adds a character to the current run, or begins another.
func (p *splitter) dense(start, end int) {
	if n := len(p.run); n > 0 && p.run[n-1] != start {
		p.flush()
	}
	if len(p.run) == 0 {
		p.run = append(p.run, start)
	}
	p.run = append(p.run, end)
}

// flush ends the current run of dense characters.
func (p *splitter) flush() {
	n := len(p.run) - 1 // characters
	p.words = slices.Grow(p.words, max(0, n))
	for i := range n {
		last := i == n-1
		if last && n > 1 && !p.tails {
			break
		}
		start, end := p.run[i], p.run[min(i+2, n)]
		chars := bounded(norm.NFC.String(bounded(p.s[start:end]))) // a character may have any number of marks
		p.words = append(p.words, Word{Stem: chars, Text: chars, Pos: p.pos, Start: start, End: end})
		p.pos++
	}
	p.run = p.run[:0]
}

// elisions are French and Italian articles and the like that merge with the next word.
var elisions = setOf("l d j m t s n c qu jusqu lorsqu puisqu quoiqu dell all nell sull dall quell un")

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for _, s := range strings.Fields(list) {
		set[s] = true
	}
	return set
}

// StemOf returns the stem of a lower-case word. It depends on the word alone, because the language of a query
// is unknown: Cyrillic words are stemmed as Russian, Latin words as English unless their letters indicate
// German, French or Spanish. Accents are ignored, because users often omit them.
func StemOf(word string) string {
	if isASCII(word) {
		return trimGermanPlural(stem.Of(word, ""))
	}
	if !mayHaveAccents(word) { // no Russian word has any
		return stem.Of(word, "")
	}
	for _, l := range languageLetters {
		if strings.ContainsAny(word, l.letters) && utf8.RuneCountInString(word) >= l.longer {
			return stripAccents(stem.Of(word, l.lang))
		}
	}
	return stem.Of(stripAccents(word), "")
}

// languageLetters lists letters that indicate a language. Of a word shorter than longer the ending would be
// too large a part: "café", "año".
var languageLetters = []struct {
	letters, lang string
	longer        int
}{
	{"äöüß", "de", 0},
	{"ñáíóú", "es", 6},
	{"éèêëçàâîïôûùœ", "fr", 6},
}

// trimGermanPlural removes the plural ending of "Datenbanken", which English stemming leaves. In shorter
// words "en" is usually not an ending: "listen".
func trimGermanPlural(stem string) string {
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

// mayHaveAccents reports whether a word may contain letters of U+00C0 to U+027F, by their first bytes: all
// accented letters, and those of languageLetters.
func mayHaveAccents(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xC3 && s[i] <= 0xC9 {
			return true
		}
	}
	return false
}

// stripAccents removes accents from a Latin word. Other scripts stay unchanged: "й" and "и" are different
// letters.
func stripAccents(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0xC0 && r < 0x250 }) {
		return s
	}
	s = strings.NewReplacer("ß", "ss", "œ", "oe", "æ", "ae", "ø", "o", "ł", "l").Replace(s)
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= 0x300 && r < 0x370 { // combining accents
			return -1
		}
		return r
	}, norm.NFD.String(s)))
}

// isDense reports whether r belongs to a script without spaces between words, or, like Korean, with particles
// attached to them.
func isDense(r rune) bool {
	if r < 0xE00 {
		return false
	}
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r)
}
