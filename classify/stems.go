package classify

import "feedmesh/classify/text"

// Stems returns the stem of each word of a plain text, in order, without stop
// words: articles, pronouns and the like, English and Russian. A phrase is
// therefore its words that say something, side by side. Nil if there are none.
func Stems(plain, language string) []string {
	words := text.Words(plain)
	if len(words) == 0 {
		return nil
	}
	stems := make([]string, 0, len(words))
	for _, w := range words {
		if !stopWords[w.Text] {
			stems = append(stems, Stem(w.Text, language))
		}
	}
	return stems
}
