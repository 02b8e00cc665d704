// Package language detects the language of a text ([Detect]) and normalizes language tags ([Normalize]). It
// combines the script with a letter model that is trained offline and embedded. Detection reads at most one
// kilobyte. The package is independent of feeds, queues and storage.
package language

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Normalize returns the ISO 639-1 code of a declared language such as "en-US", "RU" or "pt_BR", or "" if the
// tag is invalid. Both written forms of Norwegian are "no".
func Normalize(tag string) string {
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
	sureProbability = 0.95 // probability from which a result is sure
	minProbability  = 0.5  // probability from which a language is preferred to the declared one
	minLead         = 0.1  // advantage over the second language, in nats, below which two languages are equal
	minLetters      = 12   // letters required for a sure result
	dependence      = 2.0  // divides the log-likelihood, because consecutive letters are not independent
	priorWeight     = 2.5  // weight of the feed's declared language, in nats
)

// Detect returns the ISO 639-1 code of the language of a plain text, and whether the result is sure.
// Otherwise the code is the most likely one, or empty if there is none: for code, numbers, acronyms, and texts
// that are as likely in two languages. prior is the language that the text's feed declares, in any spelling, or empty; its influence is
// small on texts that are long enough. Only the first kilobyte is read.
func Detect(text, prior string) (lang string, sure bool) {
	prior = Normalize(prior)
	list := words(text)
	s, letters := mainScript(list)
	if s == nil {
		return "", false
	}
	m := models()[s.name]
	if m == nil {
		return s.choose(prior), letters >= minLetters || len(s.languages) == 1
	}
	g := m.guess(list, s, prior)
	odd := g.cost - usualCost(g.letters)
	switch {
	case g.letters >= minLetters && odd > 0.5:
		return "", false
	case g.letters == 0 || odd > 0.5 || g.probability < minProbability:
		if s != latin && !m.writes(s, prior) {
			prior = "" // texts of every script contain names in Latin letters, but not the reverse
		}
		if prior == "" && odd <= 0.5 && g.lead >= minLead && hasWords(list, s) {
			return g.lang, false
		}
		return prior, false
	}
	return preferPrior(g.lang, prior), odd <= 0 && g.probability >= sureProbability && g.letters >= minLetters
}

// usualCost returns the mean cost of a letter, in nats, that 999 in 1000 texts of so many letters do not
// exceed. Texts above it are in none of the languages, or in no language at all.
func usualCost(letters int) float64 { return 2.7 + 8/float64(letters) }

// choose returns prior if it is written in the script, otherwise the script's most frequent language.
func (s *script) choose(prior string) string {
	for _, l := range s.languages {
		if l == prior {
			return l
		}
	}
	return s.languages[0]
}

// preferPrior returns prior if letters cannot distinguish it from lang, otherwise lang.
func preferPrior(lang, prior string) string {
	for _, group := range [...]string{"hr bs sr", "id ms", "hi ne sa", "ar ps ug sd ku"} {
		if strings.HasPrefix(group, lang) && prior != "" && strings.Contains(group, prior) {
			return prior
		}
	}
	return lang
}

// A guess is the most likely language, its probability, its advantage over the second language in nats, the
// number of letters it is based on, and the mean cost of a letter in that language, in nats.
type guess struct {
	lang        string
	probability float64
	lead        float64
	letters     int
	cost        float64
}

// guess scores the words in the script s; prior is the language that the feed declares.
func (m *model) guess(list []word, s *script, prior string) guess {
	sums := make([]int, len(m.languages))
	letters, weights := m.sum(sums, list, s)
	if letters == 0 {
		return guess{}
	}
	best, lead := 0, math.Inf(1)
	logs := make([]float64, len(sums))
	for l, c := range sums {
		logs[l] = m.frequencies[l] - float64(c)*step/fullWeight/dependence
		if prior != "" && preferPrior(m.languages[l], prior) == prior {
			logs[l] += priorWeight
		}
		if logs[l] > logs[best] {
			best = l
		}
	}
	all := 0.0
	for l, v := range logs {
		all += math.Exp(v - logs[best])
		if l != best {
			lead = min(lead, logs[best]-v)
		}
	}
	return guess{m.languages[best], 1 / all, lead, letters, float64(sums[best]) * step / float64(weights)}
}

// fullWeight is the weight of a word that is not a name.
const fullWeight = 2

// sum adds the cost of the words in each language to sums. It returns the number of letters, and that number
// weighted. Capitalized words count half, because they may be names, which occur in any language. Acronyms
// and products count only if there are no other words.
func (m *model) sum(sums []int, list []word, s *script) (letters, weights int) {
	others := hasWords(list, s)
	for _, w := range list {
		if w.script != s || others && w.name {
			continue
		}
		weight := 1
		if w.lowerCase {
			weight = fullWeight
		}
		n := m.add(sums, w.text, weight)
		letters += n
		weights += n * weight
	}
	return letters, weights
}

// hasWords reports whether the list has words in the script s that are not acronyms or products.
func hasWords(list []word, s *script) bool {
	return slices.ContainsFunc(list, func(w word) bool { return w.script == s && !w.name })
}

// writes reports whether lang is written in the script s.
func (m *model) writes(s *script, lang string) bool {
	return slices.Contains(m.languages, lang) || slices.Contains(s.languages, lang)
}
