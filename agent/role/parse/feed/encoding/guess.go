package encoding

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"feedmesh/classify/language"
)

// maxSample bounds the bytes by which an encoding is guessed.
const maxSample = 4 << 10

// priorBonus is subtracted from the cost of the encodings of the language that a document declares, in nats.
const priorBonus = 20.0

// multibytePrior is the cost of the use of an encoding with pairs of bytes, in nats.
const multibytePrior = 8.0

// A singlebyte is an encoding of one byte for each character.
type singlebyte struct {
	encoding  *charmap.Charmap
	languages string  // written in it
	prior     float64 // cost of its use at all, in nats: rare encodings need more evidence
}

// singlebytes are the encodings of feeds, the default first.
var singlebytes = []singlebyte{
	{charmap.Windows1252, "de fr es it pt nl sv da no nb fi is ca", 0},
	{charmap.Windows1251, "ru uk be bg sr mk kk", 5},
	{charmap.KOI8U, "ru uk", 6},
	{charmap.Windows1250, "pl cs sk hu sl hr ro bs sq", 6},
	{charmap.Windows1253, "el", 12},
	{charmap.Windows1254, "tr az", 12},
	{charmap.Windows1255, "he iw yi", 12},
	{charmap.Windows1256, "ar fa ur", 12},
	{charmap.Windows1257, "lt lv et", 12},
	{charmap.Windows874, "th", 12},
	{charmap.ISO8859_2, "pl cs sk hu sl hr ro", 14},
	{charmap.ISO8859_5, "ru bg", 14},
	{charmap.ISO8859_7, "el", 14},
}

// guessEncoding returns the encoding in which the words of a document with bytes outside of ASCII are least
// unlikely: by the letters of languages ([language.Cost]) and by the rows of pairs. The language that the document
// declares makes its encodings more likely. Without such words it is windows-1252.
//
// Of 228 documents of the tests of chardet with at least 500 bytes outside of ASCII, whose declarations were removed,
// it reads all; github.com/wlynxg/chardet v1.0.5 reads 221, github.com/gogs/chardet 179.
func guessEncoding(b []byte) encoding.Encoding {
	declared := declaredLanguage(b)
	words := sample(b)
	var best encoding.Encoding
	least := 0.0
	consider := func(e encoding.Encoding, languages string, cost float64) {
		if contains(languages, declared) {
			cost -= priorBonus
		}
		if best == nil || cost < least {
			best, least = e, cost
		}
	}
	for _, s := range singlebytes {
		text, _ := s.encoding.NewDecoder().Bytes(words) // these decoders replace invalid bytes
		consider(s.encoding, s.languages, s.prior+language.Cost(string(text), declared))
	}
	for i := range multibytes {
		consider(multibytes[i].encoding, multibytes[i].languages, multibytePrior+multibytes[i].cost(words))
	}
	return best
}

// sample returns a buffer with the first words with bytes outside of ASCII, separated by spaces, each once. A word
// consists of the bytes from '@' on, which can all be second in a pair.
func sample(b []byte) []byte {
	var words []byte
	seen := make(map[string]bool)
	for i := 0; i < len(b) && len(words) < maxSample; i++ {
		start, high := i, false
		for ; i < len(b) && b[i] >= '@' && i-start < maxSample; i++ {
			high = high || b[i] >= 0x80
		}
		if word := b[start:i]; high && !seen[string(word)] {
			seen[string(word)] = true
			words = append(append(words, word...), ' ')
		}
	}
	return words
}

// declaredLanguage returns the language that a document declares in its first kilobytes, in lower case, or "".
func declaredLanguage(b []byte) string {
	m := languageElement.FindSubmatch(b[:min(len(b), 8<<10)])
	if m == nil {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(string(m[1]), "_", "-"))
}

var languageElement = regexp.MustCompile(`(?i)(?:<(?:\w+:)?language[^<>]*>\s*(?:<!\[CDATA\[)?\s*|xml:lang=["']|"language"\s*:\s*")([a-z]{2,3}(?:[-_][a-z]{2,4})?)\b`)

// contains reports whether a list of languages contains a tag, such as "zh-tw" or "ru-ru".
func contains(languages, tag string) bool {
	list := strings.Fields(languages)
	short, _, _ := strings.Cut(tag, "-")
	return slices.Contains(list, tag) || short != "zh" && slices.Contains(list, short)
}
