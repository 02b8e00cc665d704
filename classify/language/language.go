// Package language tells which language a text is written in. It knows nothing
// of feeds, queues or storage.
package language

import (
	"strings"

	"golang.org/x/text/language"
)

// Normal returns the ISO 639-1 code of the language that a declaration such as
// "en-US", "RU" or "pt_BR" means; empty if it means none. Both written forms of
// Norwegian are "no".
func Normal(tag string) string {
	tag = strings.TrimSpace(tag)
	if tag == "" || len(tag) > 35 {
		return ""
	}
	t, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	base, sure := t.Base()
	switch code := base.String(); {
	case sure < language.High || len(code) != 2:
		return ""
	case code == "nb" || code == "nn":
		return "no"
	default:
		return code
	}
}

const (
	surely   = 0.95 // probability from which we are sure
	likely   = 0.5  // and from which we say a language at all
	enough   = 12   // letters that it takes to be sure
	slowness = 2.0  // letters that follow one another say less than as many that do not
	voice    = 2.5  // what the feed's word is worth, in nats
)

// Detect returns the ISO 639-1 code of the language a plain text is written in,
// and whether that is sure. Where it is not, the code is the most likely one, or
// empty if there is none: a text too short, code, numbers. prior is the language
// that the text's feed declares, in any spelling, or empty; it counts for little
// where the text is long enough to tell. Only the first kilobyte is looked at.
func Detect(text, prior string) (lang string, sure bool) {
	prior = Normal(prior)
	list := words(text)
	s, letters := mainScript(list)
	if s == nil {
		return "", false
	}
	m := models()[s.name]
	if m == nil {
		return s.choose(prior), letters >= enough || len(s.languages) == 1
	}
	g := m.guess(list, s, prior)
	odd := g.cost - usualCost(g.letters)
	switch {
	case g.letters >= enough && odd > 0.5:
		return "", false
	case g.letters == 0 || odd > 0.5 || g.probability < likely:
		if s != latin && !m.writes(s, prior) {
			prior = ""
		}
		return prior, false // in Latin letters stand names, in texts of every script
	}
	return kin(g.lang, prior), odd <= 0 && g.probability >= surely && g.letters >= enough
}

// usualCost returns the mean cost of a letter, in nats, that 999 in 1000 texts
// of so many letters do not exceed. Those that do are in none of the languages,
// or in no language at all.
func usualCost(letters int) float64 { return 2.7 + 8/float64(letters) }

// choose returns prior if the script is used for it, else the language it is
// used for most.
func (s *script) choose(prior string) string {
	for _, l := range s.languages {
		if l == prior {
			return l
		}
	}
	return s.languages[0]
}

// kin returns prior if it is so close to lang that letters do not tell the two
// apart, else lang.
func kin(lang, prior string) string {
	for _, group := range [...]string{"hr bs sr", "id ms", "hi ne sa", "ar ps ug sd ku"} {
		if strings.HasPrefix(group, lang) && prior != "" && strings.Contains(group, prior) {
			return prior
		}
	}
	return lang
}
