package encoding

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

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
