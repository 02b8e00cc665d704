// Package unique hides texts that are not unique enough among others, by a percentage that a user sets: the share of
// word shingles that two texts have in common (source 2).
package unique

import (
	"hash/crc32"
	"strings"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// CanonicalWords returns the words of a text by source 2: in lower case, without punctuation and stop words
// of the language.
func CanonicalWords(plain, language string) []string {
	stop := stem.StopWords(language)
	var kept []string
	for _, w := range text.Words(plain) {
		if !stop[w.Text] {
			kept = append(kept, w.Text)
		}
	}
	return kept
}

// Checksums returns the checksum of each run of w words joined by single spaces, in order: len(words)-w+1 of
// them, nil for fewer than w words. It panics if w < 1.
//
// Source: source 2, whose examples are CRC-32 (IEEE), printed as signed numbers.
func Checksums(words []string, w int) []int32 {
	if w < 1 {
		panic("unique: Checksums of no words")
	}
	if len(words) < w {
		return nil
	}
	sums := make([]int32, 0, len(words)-w+1)
	for i := range len(words) - w + 1 {
		sums = append(sums, Checksum(strings.Join(words[i:i+w], " ")))
	}
	return sums
}

// Checksum returns the CRC-32 (IEEE) of s as a signed number.
func Checksum(s string) int32 { return int32(crc32.ChecksumIEEE([]byte(s))) }

// Dice returns the agreement of two lists of checksums in percent: twice the matches over the sum of their
// lengths. A checksum of b matches once, so the result is at most 100. It is 0 if both lists are empty.
//
// Source: source 2. Its text counts words, with which equal texts would not reach 100; its lengths can only
// be those of the lists.
func Dice(a, b []int32) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	left := make(map[int32]int, len(b))
	for _, c := range b {
		left[c]++
	}
	matches := 0
	for _, c := range a {
		if left[c] > 0 {
			left[c]--
			matches++
		}
	}
	return 200 * float64(matches) / float64(len(a)+len(b))
}

// A ShingleFilter detects texts that are not unique enough, by source 2.
type ShingleFilter struct {
	Words   int     // in a shingle: 10 "for medium texts"
	Percent float64 // agreement at which texts are duplicates: the user's choice
}

// Compare returns the agreement of two texts in percent, and whether they are duplicates.
func (f ShingleFilter) Compare(a, b, language string) (percent float64, repeats bool) {
	p := Dice(Checksums(CanonicalWords(a, language), f.Words), Checksums(CanonicalWords(b, language), f.Words))
	return p, p >= f.Percent
}
