package encoding

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// withoutC1 replaces C1 controls, which are bytes of windows-1252 that were decoded as Latin-1, by the characters
// meant. Five of them mean none and stay. Without any it returns text itself, not a new buffer.
func withoutC1(text []byte) []byte {
	at := firstC1(text)
	if at < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)+len(text)/64), text[:at]...)
	for text = text[at:]; len(text) > 0; {
		out = utf8.AppendRune(out, FromC1(rune(text[1])))
		text = text[2:]
		if at = firstC1(text); at < 0 {
			at = len(text)
		}
		out, text = append(out, text[:at]...), text[at:]
	}
	return out
}

// FromC1 returns the character that a C1 control means in windows-1252, or r if it means none or is no control.
func FromC1(r rune) rune {
	if r < 0x80 || r > 0x9F {
		return r
	}
	if meant := charmap.Windows1252.DecodeByte(byte(r)); meant != utf8.RuneError {
		return meant
	}
	return r
}

// firstC1 returns the offset of the first C1 control in valid UTF-8, or -1.
func firstC1(text []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], 0xC2)
		if i < 0 {
			return -1
		}
		if from += i; text[from+1] < 0xA0 {
			return from
		}
		from += 2
	}
}

// minDoubleEncoded is the number of doubly encoded characters that is taken as evidence. Fewer may be a text
// about encoding.
const minDoubleEncoded = 4

// undoDoubleEncoding restores UTF-8 that was decoded as Latin-1 or windows-1252 and encoded once more, as in
// "dÃ©jÃ ". All non-ASCII characters must be of that kind; any other character shows that the document was
// encoded once.
func undoDoubleEncoding(text []byte) ([]byte, bool) {
	i := 0
	for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&highBits == 0 {
		i += 8
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	if i == len(text) || text[i] != 0xC3 && text[i] != 0xC2 { // lead bytes of all Latin-1 letters that start UTF-8 sequences
		return nil, false
	}
	out := make([]byte, 0, len(text))
	for rest := bytes.TrimSuffix(text, []byte("\uFFFD")); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		b, ok := byte(r), r < 0x100
		if !ok {
			b, ok = charmap.Windows1252.EncodeRune(r)
		}
		if !ok {
			return nil, false
		}
		out = append(out, b)
	}
	for i := 1; i < utf8.UTFMax && i < len(out); i++ { // the document may end within a character
		if tail := out[len(out)-i:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			out = out[:len(out)-i]
			break
		}
	}
	count := utf8.RuneCount(out)
	doubled := utf8.RuneCount(text) - count // two or more characters for each
	if !utf8.Valid(out) || doubled < minDoubleEncoded {
		return nil, false
	}
	return out, true
}
