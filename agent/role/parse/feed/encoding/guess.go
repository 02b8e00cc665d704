package encoding

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

// guessEncoding returns the most likely encoding of non-ASCII bytes without a declaration. It distinguishes
// the encodings of unlabeled feeds: Cyrillic (most bytes of a word are not ASCII), EUC (bytes come in pairs
// from one range), and Western European, the default.
func guessEncoding(b []byte) encoding.Encoding {
	var high, pairs, lower1251, lowerKOI8, runs int
	for i := 0; i < len(b); {
		if b[i] < 0x80 {
			i++
			continue
		}
		start := i
		for ; i < len(b) && b[i] >= 0x80; i++ {
			switch {
			case b[i] >= 0xE0:
				lower1251++
			case b[i] >= 0xC0:
				lowerKOI8++
			}
			high++
		}
		runs++
		if paired(b[start:i]) {
			pairs++
		}
	}
	switch {
	case high < 2*runs || runs == 0:
		return charmap.Windows1252
	case pairs == runs:
		return japanese.EUCJP
	case lowerKOI8 > lower1251:
		return charmap.KOI8U
	default:
		return charmap.Windows1251
	}
}

// paired reports whether a run of bytes consists of EUC pairs.
func paired(run []byte) bool {
	for _, c := range run {
		if c < 0xA1 || c == 0xFF {
			return false
		}
	}
	return len(run)%2 == 0
}
