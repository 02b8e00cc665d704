package feed

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// mark is the byte order mark.
const mark = "\uFEFF"

// decode returns body as valid UTF-8 without a byte order mark and without
// characters that XML forbids, the encoding it was in, and what was wrong. What
// it believes, in this order: the byte order mark or the pattern of zero bytes,
// bytes that are UTF-8, the XML declaration, the Content-Type, statistics.
// Bytes that mean nothing become U+FFFD; no document is refused.
func decode(body []byte, contentType string) (text []byte, name string, wrong mend) {
	text, name = transcode(body, contentType)
	if once, ok := undouble(text); ok {
		text, wrong = once, encodedTwice
	}
	if clean := withoutControls(text); len(clean) < len(text) {
		text, wrong = clean, wrong|forbiddenCharacters
	}
	if bytes.Contains(text, []byte("\uFFFD")) && !bytes.Contains(body, []byte("\uFFFD")) {
		wrong |= badBytes
	}
	return text, name, wrong
}

func transcode(body []byte, contentType string) (text []byte, name string) {
	if rest, ok := bytes.CutPrefix(body, []byte(mark)); ok {
		return validUTF8(rest), "utf-8"
	}
	if enc, name := wide(body); enc != nil {
		return convert(body, enc), name
	}
	for _, wrong := range []string{"\xFF\xFE", "\xFE\xFF"} {
		body = bytes.TrimPrefix(body, []byte(wrong))
	}
	declared := declaredLabel(body)
	if utf8.Valid(body) && !escaped(body, declared) {
		return withoutForbidden(body), "utf-8"
	}
	if mostlyUTF8(body, strings.EqualFold(declared, "utf-8")) {
		return validUTF8(body), "utf-8"
	}
	for _, label := range []string{declared, headerLabel(contentType)} {
		enc, name := charset.Lookup(label)
		switch name {
		case "", "utf-8", "utf-16le", "utf-16be", "replacement": // no, or we would not be here
		default:
			return convert(body, enc), name
		}
	}
	enc := guess(body)
	name, _ = htmlindex.Name(enc)
	return convert(body, enc), name
}

// validUTF8 puts U+FFFD in place of what is not UTF-8 and of the two
// characters that XML forbids though they are.
func validUTF8(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return withoutForbidden(b)
}

// withoutForbidden is validUTF8 for what is UTF-8.
func withoutForbidden(b []byte) []byte {
	for _, forbidden := range []string{"\uFFFE", "\uFFFF"} {
		if bytes.Contains(b, []byte(forbidden)) {
			b = bytes.ReplaceAll(b, []byte(forbidden), []byte("\uFFFD"))
		}
	}
	return b
}

// convert decodes b. Decoders replace what they cannot read, and do not fail.
func convert(b []byte, enc encoding.Encoding) []byte {
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return validUTF8(b)
	}
	return validUTF8(bytes.TrimPrefix(out, []byte("\uFEFF")))
}

// wide returns the encoding of a document in UTF-16 or UTF-32, which shows in
// its first four bytes with a byte order mark or without, or nil.
func wide(b []byte) (enc encoding.Encoding, name string) {
	if len(b) < 4 {
		return nil, ""
	}
	if bytes.IndexByte(b[:min(len(b), 64)], 0) < 0 {
		return nil, "" // whatever the mark says: the markup of feeds is ASCII
	}
	var zeros [4]bool
	for i := range zeros {
		zeros[i] = b[i] == 0
	}
	switch {
	case string(b[:4]) == "\x00\x00\xFE\xFF", zeros == [4]bool{true, true, true, false}:
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM), "utf-32be"
	case string(b[:4]) == "\xFF\xFE\x00\x00", zeros == [4]bool{false, true, true, true}:
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), "utf-32le"
	case string(b[:2]) == "\xFE\xFF", zeros == [4]bool{true, false, true, false}:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "utf-16be"
	case string(b[:2]) == "\xFF\xFE", zeros == [4]bool{false, true, false, true}:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "utf-16le"
	}
	return nil, ""
}

// escaped reports whether b, though all ASCII, is in a declared encoding that
// writes other characters by escape sequences: ISO-2022-JP.
func escaped(b []byte, label string) bool {
	_, name := charset.Lookup(label)
	return name == "iso-2022-jp" && bytes.IndexByte(b, 0x1B) >= 0
}

// mostlyUTF8 reports whether b has UTF-8 in it that hardly is there by
// chance, and little else: a few bad bytes do not make it another encoding,
// least of all if it says that it is UTF-8. The last character may be cut off.
func mostlyUTF8(b []byte, declared bool) bool {
	good, bad := 0, 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			good++
		case utf8.FullRune(b[i:]):
			bad++
		}
		i += size
	}
	if declared {
		return good > bad
	}
	return good > 4*bad
}

// declaredLabel returns the encoding that the XML declaration names, or "".
func declaredLabel(b []byte) string {
	_, rest, ok := bytes.Cut(b[:min(len(b), 1024)], []byte("<?xml"))
	if !ok {
		return ""
	}
	declaration, _, _ := bytes.Cut(rest, []byte(">"))
	_, value, ok := bytes.Cut(declaration, []byte("encoding"))
	if !ok {
		return ""
	}
	value = bytes.TrimLeft(value, "= \t\r\n\"'")
	if end := bytes.IndexAny(value, "\"'? \t\r\n"); end >= 0 {
		value = value[:end]
	}
	return string(value)
}

// headerLabel returns the charset of a Content-Type, or "".
func headerLabel(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return params["charset"]
}
