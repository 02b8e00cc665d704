package language

import (
	"math"
	"slices"
	"strings"
)

// A guess is the most likely language, its probability, the number of letters it is based on, and the mean
// cost of a letter in that language, in nats.
type guess struct {
	lang        string
	probability float64
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
	best := 0
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
	for _, v := range logs {
		all += math.Exp(v - logs[best])
	}
	return guess{m.languages[best], 1 / all, letters, float64(sums[best]) * step / float64(weights)}
}

// fullWeight is the weight of a word that is not a name.
const fullWeight = 2

// sum adds the cost of the words in each language to sums. It returns the number of letters, and that number
// weighted. Capitalized words count half, because they may be names, which occur in any language. All-caps
// words count only if there are no others.
func (m *model) sum(sums []int, list []word, s *script) (letters, weights int) {
	quiet := slices.ContainsFunc(list, func(w word) bool { return w.script == s && !w.allCaps })
	for _, w := range list {
		if w.script != s || quiet && w.allCaps {
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

// writes reports whether lang is written in the script s.
func (m *model) writes(s *script, lang string) bool {
	return slices.Contains(m.languages, lang) || slices.Contains(s.languages, lang)
}

// frequency returns the logarithm of a language's share among the languages of its script on the web.
func frequency(lang string) float64 {
	switch {
	case lang == "en", lang == "ru", lang == "ar", lang == "hi":
		return -0.5
	case strings.Contains("de fr es it pt nl pl uk fa", lang):
		return -2
	case strings.Contains("af eo ga la so tl cy eu", lang):
		return -5
	}
	return -3
}
