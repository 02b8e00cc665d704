package near

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"feedmesh/classify/text"
)

const (
	minWords = 12      // fewer say too little to tell two items apart
	maxText  = 1 << 20 // bytes of a text that we compare
)

// TextHash returns a hash of the words of an item's title and text: 32
// characters of 0-9 and a-f, the same however they are spaced, punctuated and
// capitalised, and the same on every machine. Empty if there are fewer than 12
// words in all.
func TextHash(title, plain string) string {
	n := 0
	var buf []byte
	for _, s := range []string{title, plain[:min(len(plain), maxText)]} {
		buf = slices.Grow(buf, len(s)+1)
		for word := range text.Folded(s) {
			buf = append(append(buf, word...), ' ')
			n++
		}
	}
	if n < minWords {
		return ""
	}
	sum := sha256.Sum256(buf)
	return hex.EncodeToString(sum[:16])
}
