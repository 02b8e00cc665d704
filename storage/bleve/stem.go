package bleve

import (
	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// stemOf returns the stem that a word is indexed and looked up under, whatever
// the language of its text is thought to be.
func stemOf(word text.Word) string { return stem.Of(word.Text, "") }

// stemsOf returns the stems of the words of a query, each once.
func stemsOf(words string) []string {
	var stems []string
	seen := make(map[string]bool)
	for _, word := range text.Words(words) {
		stem := stemOf(word)
		if !seen[stem] {
			seen[stem] = true
			stems = append(stems, stem)
		}
	}
	return stems
}
