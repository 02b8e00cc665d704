// Package sentiment scores the sentiment of English and Russian texts by a lexicon, taking negations and
// modifiers into account ([Score]). It reads at most 16 KB of a text. The package is independent of feeds,
// queues and storage.
package sentiment

import (
	"math"
	"strings"
)

const (
	maxText        = 16 << 10 // bytes that are read
	reach          = 3        // words in range of a negation
	negatedShare   = -0.6     // factor of a negated word: "not bad" is less positive than "good"
	beforeContrast = 0.5      // factor of a sentence before its "but"
	afterContrast  = 1.5      // factor of a sentence after its "but"
	damping        = 12       // larger values make the score approach 1 more slowly
)

// Score returns the sentiment of a plain text, from -1 (bad news, anger) to 1. It is 0 if the text is neutral
// or no lexicon exists for the language; lexicons exist for "en" and "ru". Only the first 16 KB are read.
// Equal texts have equal scores. O(len(text)).
//
// Source: C. Hutto and E. Gilbert, VADER: a parsimonious rule-based model for sentiment analysis of social
// media text, 2014; the rules, not the lexicon.
func Score(text, language string) float64 {
	l := lexiconOf(language)
	if l == nil {
		return 0
	}
	text = strings.ToLower(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "ё", "е"), "’", "'") // two spellings
	sum, sentences := 0.0, 0
	for s := range l.sentences(text) {
		sum += l.sentence(s)
		sentences++
	}
	if sum == 0 {
		return 0
	}
	x := sum / math.Sqrt(float64(sentences))
	return math.Round(1000*x/math.Sqrt(x*x+damping)) / 1000
}

// sentence returns the sum of the word weights of a sentence.
func (l *lexicon) sentence(words []word) float64 {
	sum := 0.0
	negated := -reach - 1 // position of the last negation
	strength := 1.0       // factor of the preceding modifier
	for i := 0; i < len(words); {
		w := words[i]
		weight, n := l.weightOf(words[i:])
		switch {
		case n > 1: // the words of a phrase have no role
			w.role = none
		case w.role == contrast && i > 0: // a leading "But" contrasts with nothing
			return sum*beforeContrast + afterContrast*l.sentence(words[i+1:])
		case w.role == negation && !(i+1 < len(words) && words[i+1].only):
			negated = i
		}
		if weight != 0 {
			if i-negated <= reach {
				weight *= negatedShare
				negated = i - reach - 1
			}
			sum += weight * strength
		}
		if strength = 1; w.role == modifier && weight == 0 {
			strength = w.strength
		}
		i += n
	}
	return sum
}

// weightOf returns the weight of the longest phrase at the beginning of words, or of the first word, and its
// number of words.
func (l *lexicon) weightOf(words []word) (weight float64, n int) {
	first := words[0]
	for _, p := range l.phrases[first.text] {
		if p.begins(words) {
			return p.weight, len(p.words)
		}
	}
	return first.weight, 1
}
