package near

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"feedmesh/classify/text"
)

const (
	minWords = 12      // fewer words are too weak evidence
	maxText  = 1 << 20 // bytes of a text that are hashed
)

// TextHash returns a hash of the words of an item's title and text: 32 hexadecimal digits. Spacing,
// punctuation and case do not change it, and it is equal on all machines. It is empty for fewer than 12 words
// in all.
func TextHash(title, plain string) string {
	n := 0
	var buf []byte
	for _, s := range []string{title, plain[:min(len(plain), maxText)]} {
		buf = slices.Grow(buf, len(s)+1)
		for word := range text.EachFolded(s) {
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
