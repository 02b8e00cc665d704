package language

import (
	"math"
	"slices"
	"strings"
)

// A guess is the most likely language, how likely it is, the number of letters
// that say so, and what one costs in it on average, in nats.
type guess struct {
	lang        string
	probability float64
	letters     int
	cost        float64
}

// guess weighs the words that are in the script s, and the feed's word.
func (m *model) guess(list []word, s *script, prior string) guess {
	sums := make([]int, len(m.languages))
	letters, weights := m.sum(sums, list, s)
	if letters == 0 {
		return guess{}
	}
	best := 0
	logs := make([]float64, len(sums))
	for l, c := range sums {
		logs[l] = m.usual[l] - float64(c)*step/fullWeight/slowness
		if prior != "" && kin(m.languages[l], prior) == prior {
			logs[l] += voice
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

// fullWeight is the weight of a word that is no name.
const fullWeight = 2

// sum adds what the words cost in each language to sums. It returns for how many
// letters, and these with the weights of their words. Words with a capital count
// half, as they may be names, which are of any language; words in nothing but
// capitals count where there are no others.
func (m *model) sum(sums []int, list []word, s *script) (letters, weights int) {
	quiet := slices.ContainsFunc(list, func(w word) bool { return w.script == s && !w.shout })
	for _, w := range list {
		if w.script != s || quiet && w.shout {
			continue
		}
		weight := 1
		if w.small {
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

// usual says how common a language is among those of its script on the web, as
// the logarithm of a share.
func usual(lang string) float64 {
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
