package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/text"

	"github.com/abadojack/whatlanggo"
	"golang.org/x/text/language"
)

const (
	maxLanguage = 2 << 10 // bytes of a text that are looked at
	surely      = 0.6     // whatlanggo's confidence that we take its word at
	longEnough  = 80      // letters that its trigrams need
)

// NormalLanguage returns the ISO 639-1 code that a feed's declaration such as
// "en-US", "RU" or "pt_BR" means; empty if it means none.
func NormalLanguage(tag string) string {
	tag = strings.TrimSpace(tag)
	if tag == "" || len(tag) > 35 {
		return ""
	}
	if t, err := language.Parse(tag); err == nil {
		if base, sure := t.Base(); sure >= language.High && len(base.String()) == 2 {
			return base.String()
		}
	}
	return ""
}

// Language returns the ISO 639-1 code of the language a plain text is written
// in, or "" if that is unsure. hint is the language its feed declares, in any
// spelling; it decides where the text is too short to tell, unless it cannot be
// written in the text's script. Only the first 2 KB are looked at.
func Language(plain, hint string) string {
	for len(plain) > maxLanguage {
		end := maxLanguage
		for end > 0 && !utf8.RuneStart(plain[end]) {
			end--
		}
		plain = plain[:end]
	}
	hint = NormalLanguage(hint)
	letters := countScripts(plain)
	switch {
	case letters.total == 0:
		return hint
	case letters.share(letters.kana) > 0.1:
		return "ja"
	case letters.share(letters.han) > 0.25:
		return oneOf(hint, "zh", "ja")
	case letters.share(letters.cyrillic) > 0.25:
		return cyrillic(plain, hint)
	}
	for _, s := range scripts {
		if letters.share(letters.other[s.table]) > 0.3 {
			return oneOf(hint, s.languages...)
		}
	}
	if letters.share(letters.latin) < 0.5 {
		return ""
	}
	return latin(plain, hint, letters.latin)
}

// oneOf returns hint if it is among the languages, else the first of these.
func oneOf(hint string, languages ...string) string {
	for _, l := range languages {
		if l == hint {
			return hint
		}
	}
	return languages[0]
}

// scripts lists scripts whose name all but tells the language: the most likely
// one, then others that a hint may name.
var scripts = []struct {
	table     *unicode.RangeTable
	languages []string
}{
	{unicode.Hangul, []string{"ko"}},
	{unicode.Arabic, []string{"ar", "fa", "ur", "ps", "ug"}},
	{unicode.Hebrew, []string{"he", "yi"}},
	{unicode.Greek, []string{"el"}},
	{unicode.Devanagari, []string{"hi", "mr", "ne", "sa"}},
	{unicode.Thai, []string{"th"}},
	{unicode.Georgian, []string{"ka"}},
	{unicode.Armenian, []string{"hy"}},
	{unicode.Bengali, []string{"bn", "as"}},
	{unicode.Tamil, []string{"ta"}},
	{unicode.Telugu, []string{"te"}},
}

// letterCounts says how many letters of each script a text has.
type letterCounts struct {
	total, latin, cyrillic, han, kana int
	other                             map[*unicode.RangeTable]int
}

func (c letterCounts) share(n int) float64 { return float64(n) / float64(c.total) }

func countScripts(s string) letterCounts {
	var c letterCounts
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		c.total++
		switch {
		case r < 0x250:
			c.latin++
		case unicode.Is(unicode.Cyrillic, r):
			c.cyrillic++
		case unicode.Is(unicode.Han, r):
			c.han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			c.kana++
		case unicode.Is(unicode.Latin, r):
			c.latin++
		default:
			c.count(r)
		}
	}
	return c
}

func (c *letterCounts) count(r rune) {
	for _, s := range scripts {
		if unicode.Is(s.table, r) {
			if c.other == nil {
				c.other = make(map[*unicode.RangeTable]int)
			}
			c.other[s.table]++
			return
		}
	}
}

// cyrillic tells languages in Cyrillic letters apart: by letters that only one
// of them has, then by trigrams. Russian is the guess that remains.
func cyrillic(s, hint string) string {
	votes := make(map[string]int)
	for _, r := range s {
		if l, ok := cyrillicLetters[unicode.ToLower(r)]; ok {
			votes[l]++
		}
	}
	best := ""
	for _, l := range []string{"ru", "uk", "be", "sr", "mk", "kk"} {
		if votes[l] > votes[best] {
			best = l
		}
	}
	if best == "uk" && votes["be"] > 0 {
		best = "be" // which has і as well
	}
	if best != "" {
		return best
	}
	if l, sure := trigrams(s, cyrillicLanguages); sure && utf8.RuneCountInString(s) > longEnough {
		return l
	}
	return oneOf(hint, "ru", "uk", "be", "bg", "sr", "mk", "kk")
}

var cyrillicLetters = map[rune]string{
	'ы': "ru", 'э': "ru", 'ё': "ru",
	'і': "uk", 'ї': "uk", 'є': "uk", 'ґ': "uk",
	'ў': "be",
	'ђ': "sr", 'ћ': "sr", 'љ': "sr", 'њ': "sr", 'џ': "sr", 'ј': "sr",
	'ѓ': "mk", 'ќ': "mk", 'ѕ': "mk",
	'ә': "kk", 'ғ': "kk", 'қ': "kk", 'ң': "kk", 'ұ': "kk",
}

// latin tells languages in Latin letters apart: by their little words, which a
// headline has as well, then by trigrams, then by the hint.
func latin(s, hint string, letters int) string {
	byWords, sure := wordVotes(s)
	if sure {
		return byWords
	}
	l, confident := trigrams(s, latinLanguages)
	switch {
	case confident && letters >= longEnough && (byWords == "" || byWords == l):
		return l
	case hint != "":
		return hint
	case byWords != "" && (byWords == l || letters < longEnough):
		return byWords
	}
	return ""
}

// wordVotes returns the language that most of the little words in s belong to,
// empty if none or two alike do, and whether they leave no doubt.
func wordVotes(s string) (best string, sure bool) {
	votes := make(map[string]int)
	for _, w := range text.Words(s) {
		for _, l := range littleWords[w.Text] {
			votes[l]++
		}
	}
	first, second := 0, 0
	for l, n := range votes {
		switch {
		case n > first:
			best, first, second = l, n, first
		case n > second:
			second = n
		}
	}
	if first == second {
		return "", false
	}
	return best, first >= 2 && first >= 2*second
}

func trigrams(s string, among map[whatlanggo.Lang]bool) (lang string, sure bool) {
	info := whatlanggo.DetectWithOptions(s, whatlanggo.Options{Whitelist: among})
	if info.Confidence == 0 {
		return "", false
	}
	return info.Lang.Iso6391(), info.Confidence >= surely
}

var cyrillicLanguages = map[whatlanggo.Lang]bool{
	whatlanggo.Rus: true, whatlanggo.Ukr: true, whatlanggo.Bel: true, whatlanggo.Bul: true, whatlanggo.Srp: true, whatlanggo.Mkd: true,
}

var latinLanguages = map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Ita: true, whatlanggo.Por: true,
	whatlanggo.Pol: true, whatlanggo.Nld: true, whatlanggo.Ces: true, whatlanggo.Swe: true, whatlanggo.Tur: true,
}
