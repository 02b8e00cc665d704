package encoding

import (
	"math"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Costs of bytes that are no pair, in nats.
const (
	asciiCost       = 2.5 // a letter of ASCII, about its cost in a language
	invalidPairCost = 14.0
)

// A multibyte is an encoding with pairs of bytes, with the cost of a pair in nats, -ln of its probability. The
// standards group characters by frequency: the first byte shows how frequent a character is.
type multibyte struct {
	encoding  encoding.Encoding
	languages string // written in it
	rows      []row
	rare      float64 // cost of a pair in none of the rows
	trails    [2]byte // first and last second byte
	single    [2]byte // first and last byte of characters of one byte, 0 for none
}

// A row is a range of first bytes.
type row struct {
	first, last byte
	trail       byte    // lowest second byte
	share       float64 // of the characters of a text
	characters  int
}

// multibytes are the encodings of Chinese, Japanese and Korean feeds. The shares are rounded from texts about news and
// software.
var multibytes = []multibyte{
	{simplifiedchinese.GB18030, "zh zh-cn zh-sg zh-hans", []row{{0xA1, 0xA3, 0xA1, 0.08, 282}, {0xB0, 0xC8, 0xA1, 0.48, 25 * 94}, {0xC9, 0xD7, 0xA1, 0.40, 15 * 94}, {0xD8, 0xF7, 0xA1, 0.03, 32 * 94}},
		rareCost(0.01, 12000), [2]byte{0x40, 0xFE}, [2]byte{}},
	{traditionalchinese.Big5, "zh zh-tw zh-hk zh-hant", []row{{0xA1, 0xA3, 0x40, 0.10, 3 * 157}, {0xA4, 0xC6, 0x40, 0.87, 5401}, {0xC9, 0xF9, 0x40, 0.02, 49 * 157}},
		rareCost(0.001, 3000), [2]byte{0x40, 0xFE}, [2]byte{}},
	{korean.EUCKR, "ko", []row{{0xA1, 0xA3, 0xA1, 0.05, 282}, {0xA4, 0xAC, 0xA1, 0.01, 9 * 94}, {0xB0, 0xC8, 0xA1, 0.91, 2350}, {0xCA, 0xFD, 0xA1, 0.02, 52 * 94}},
		rareCost(0.01, 8822), [2]byte{0x41, 0xFE}, [2]byte{}},
	{japanese.EUCJP, "ja", []row{{0x8E, 0x8E, 0xA1, 0.005, 63}, {0xA1, 0xA3, 0xA1, 0.13, 209}, {0xA4, 0xA4, 0xA1, 0.42, 83}, {0xA5, 0xA5, 0xA1, 0.13, 86}, {0xB0, 0xCF, 0xA1, 0.28, 2965}, {0xD0, 0xF4, 0xA1, 0.03, 3390}},
		rareCost(0.005, 1000), [2]byte{0xA1, 0xFE}, [2]byte{}},
	{japanese.ShiftJIS, "ja", []row{{0x81, 0x81, 0x40, 0.13, 147}, {0x82, 0x82, 0x9F, 0.42, 83}, {0x83, 0x83, 0x40, 0.13, 86}, {0x88, 0x97, 0x40, 0.28, 2965}, {0x98, 0x9F, 0x40, 0.015, 1500}, {0xE0, 0xEA, 0x40, 0.015, 1900}},
		rareCost(0.005, 1000), [2]byte{0x40, 0xFC}, [2]byte{0xA1, 0xDF}},
}

func rareCost(share float64, characters int) float64 {
	return math.Log(float64(characters) / share)
}

// cost returns the cost of the bytes in this encoding, in nats.
func (m *multibyte) cost(b []byte) float64 {
	cost := 0.0
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case isASCIILetter(c):
			cost += asciiCost
		case c < 0x80:
		case m.single[0] != 0 && m.single[0] <= c && c <= m.single[1]:
			cost += rareCost(0.005, 63)
		case i+1 < len(b) && m.trails[0] <= b[i+1] && b[i+1] <= m.trails[1] && b[i+1] != 0x7F && c > 0x80 && c < 0xFF:
			cost += m.pairCost(c, b[i+1])
			i++
		default:
			cost += invalidPairCost
		}
		i++
	}
	return cost
}

func (m *multibyte) pairCost(lead, trail byte) float64 {
	for _, r := range m.rows {
		if r.first <= lead && lead <= r.last && trail >= r.trail {
			return rareCost(r.share, r.characters)
		}
	}
	return m.rare
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
