package feed

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// enoughDoubled is how many characters must have been encoded twice before we
// believe it: one or two are a text about that.
const enoughDoubled = 4

// undouble takes UTF-8 back that was taken for Latin-1 or windows-1252 and
// encoded once more, as in "dÃ©jÃ ". All characters outside ASCII must be of
// that kind: a document that has any others was encoded once.
func undouble(text []byte) ([]byte, bool) {
	i := 0
	for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&tops == 0 {
		i += 8
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	if i == len(text) || text[i] != 0xC3 && text[i] != 0xC2 { // where all Latin-1 letters are that start UTF-8
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
	for i := 1; i < utf8.UTFMax && i < len(out); i++ { // the document may be cut off in a character
		if tail := out[len(out)-i:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			out = out[:len(out)-i]
			break
		}
	}
	count := utf8.RuneCount(out)
	doubled := utf8.RuneCount(text) - count // two characters or more for each
	if !utf8.Valid(out) || doubled < enoughDoubled {
		return nil, false
	}
	return out, true
}
