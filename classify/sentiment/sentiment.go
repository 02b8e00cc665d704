// Package sentiment tells how a text sounds by the words in it, with what turns
// and strengthens them. It knows nothing of feeds, queues or storage.
package sentiment

import (
	"math"
	"strings"
)

const (
	maxText = 16 << 10 // bytes that are looked at
	reach   = 3        // words over which a negation carries
	turned  = -0.6     // what is left of a word that is negated: "not bad" is less than good
	before  = 0.5      // what counts of a sentence before its "but"
	after   = 1.5      // and behind it
	even    = 12       // how slowly the score nears 1
)

// Score returns how a plain text sounds, from -1, bad news or angry, to 1; 0 is
// neutral, or in a language that there is no lexicon of: language is "en" or "ru".
// Only the first 16 KB are looked at. Equal texts score alike, O(len(text)).
//
// Source: C. Hutto and E. Gilbert, VADER: a parsimonious rule-based model for
// sentiment analysis of social media text, 2014; the rules, not the lexicon.
func Score(text, language string) float64 {
	l := lexiconOf(language)
	if l == nil {
		return 0
	}
	text = strings.ToLower(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "ё", "е"), "’", "'") // spelt in two ways
	sum, sentences := 0.0, 0
	for s := range l.sentences(text) {
		sum += l.sentence(s)
		sentences++
	}
	if sum == 0 {
		return 0
	}
	x := sum / math.Sqrt(float64(sentences))
	return math.Round(1000*x/math.Sqrt(x*x+even)) / 1000
}

// sentence returns the sum of what the words of a sentence weigh.
func (l *lexicon) sentence(words []word) float64 {
	sum := 0.0
	negated := -reach - 1 // where the last negation stands
	strength := 1.0       // of the words just before
	for i := 0; i < len(words); {
		w := words[i]
		weight, n := l.weigh(words[i:])
		switch {
		case n > 1: // what a phrase is made of does nothing else
			w.role = none
		case w.role == turn && i > 0: // what follows a leading "But" stands against nothing
			return sum*before + after*l.sentence(words[i+1:])
		case w.role == negation && !(i+1 < len(words) && words[i+1].only):
			negated = i
		}
		if weight != 0 {
			if i-negated <= reach {
				weight *= turned
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

// weigh returns what the words at the beginning weigh, and how many they are: the
// longest phrase that is known, or one word.
func (l *lexicon) weigh(words []word) (weight float64, n int) {
	first := words[0]
	for _, p := range l.phrases[first.text] {
		if p.begins(words) {
			return p.weight, len(p.words)
		}
	}
	return first.weight, 1
}
