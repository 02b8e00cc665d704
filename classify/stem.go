// Package classify turns words into labels: spam, categories and topics, each
// with its reason. It knows nothing of feeds, queues or storage, and ships the
// rules it decides by. What language a text is in and what the stems of its
// words are tell its folders.
package classify

import "feedmesh/classify/stem"

// Stem returns the stem of a word in small letters; see [stem.Of].
func Stem(word, language string) string { return stem.Of(word, language) }
