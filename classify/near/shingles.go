package near

import (
	"hash/crc32"
	"strings"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// Canonical returns the words of a text by source 2: in small letters, without
// punctuation and without the stop words of the language.
func Canonical(plain, language string) []string {
	stop := stem.Stop(language)
	var kept []string
	for _, w := range text.Words(plain) {
		if !stop[w.Text] {
			kept = append(kept, w.Text)
		}
	}
	return kept
}

// Checksums returns the checksum of each run of w words, with single spaces
// between, in order: len(words)-w+1 of them, nil if there are fewer words than w.
// It panics if w < 1.
//
// Source: source 2, whose examples are CRC-32 (IEEE), printed with a sign.
func Checksums(words []string, w int) []int32 {
	if w < 1 {
		panic("near: Checksums of no words")
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

// Checksum returns the CRC-32 (IEEE) of s as a number with a sign.
func Checksum(s string) int32 { return int32(crc32.ChecksumIEEE([]byte(s))) }

// Dice returns by how many percent two lists of checksums agree: twice the matches
// over the sum of their lengths. A checksum of b matches once, so that no two
// texts agree by more than 100. 0 if both are empty.
//
// Source: source 2. Its text counts words, with which equal texts would not reach
// 100; its lengths can only be those of the lists.
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

// A ShingleFilter drops what is not unique enough, by source 2.
type ShingleFilter struct {
	Words   int     // of a shingle: 10 "for medium texts"
	Percent float64 // of agreement from which on texts repeat one another: the user's choice
}

// Compare returns by how many percent two texts agree, and whether that is too much.
func (f ShingleFilter) Compare(a, b, language string) (percent float64, repeats bool) {
	p := Dice(Checksums(Canonical(a, language), f.Words), Checksums(Canonical(b, language), f.Words))
	return p, p >= f.Percent
}
