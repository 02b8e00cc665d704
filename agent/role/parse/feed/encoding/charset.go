// Package encoding decodes documents whose character encoding is declared wrongly, or not at all.
package encoding

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

// ByteOrderMark is the byte order mark in UTF-8.
const ByteOrderMark = "\uFEFF"

// Damage is the damage of a document that was repaired or tolerated.
type Damage struct {
	BadBytes bool // bytes that are no characters
	Controls bool // characters that XML forbids
	Doubled  bool // UTF-8 applied twice
}

// Decode returns body as valid UTF-8 without a byte order mark and without characters that XML forbids, the
// name of its encoding, and its damage. C1 controls, which no feed contains, become the characters of
// windows-1252 that their numbers mean. Evidence of the encoding, strongest first: the byte order mark or
// the pattern of zero bytes, bytes that are valid UTF-8, the XML declaration, the Content-Type, statistics.
// Invalid bytes become U+FFFD; no document is rejected. Decode may be called concurrently.
func Decode(body []byte, contentType string) (text []byte, name string, wrong Damage) {
	text, name = transcode(body, contentType)
	if once, ok := undoDoubleEncoding(text); ok {
		text, wrong.Doubled = once, true
	}
	text = withoutC1(text)
	if clean := WithoutControls(text); len(clean) < len(text) {
		text, wrong.Controls = clean, true
	}
	wrong.BadBytes = bytes.Contains(text, []byte("\uFFFD")) && !bytes.Contains(body, []byte("\uFFFD"))
	return text, name, wrong
}

func transcode(body []byte, contentType string) (text []byte, name string) {
	if rest, ok := bytes.CutPrefix(body, []byte(ByteOrderMark)); ok {
		return validUTF8(rest), "utf-8"
	}
	if enc, name := wideEncoding(body); enc != nil {
		return convert(body, enc), name
	}
	for _, wrong := range []string{"\xFF\xFE", "\xFE\xFF"} {
		body = bytes.TrimPrefix(body, []byte(wrong))
	}
	declared := declaredLabel(body)
	if utf8.Valid(body) && !escaped(body, declared) {
		return withoutForbidden(body), "utf-8"
	}
	if isMostlyUTF8(body, strings.EqualFold(declared, "utf-8")) {
		return validUTF8(body), "utf-8"
	}
	for _, label := range []string{declared, headerLabel(contentType)} {
		enc, name := charset.Lookup(label)
		switch name {
		case "", "utf-8", "utf-16le", "utf-16be", "replacement": // can't be right: the cases above exclude them
		default:
			return convert(body, enc), name
		}
	}
	enc := guessEncoding(body)
	name, _ = htmlindex.Name(enc)
	return convert(body, enc), name
}

// validUTF8 replaces invalid UTF-8, and the two valid characters that XML forbids, by U+FFFD.
func validUTF8(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return withoutForbidden(b)
}

// withoutForbidden is [validUTF8] for valid UTF-8.
func withoutForbidden(b []byte) []byte {
	for _, forbidden := range []string{"\uFFFE", "\uFFFF"} {
		if bytes.Contains(b, []byte(forbidden)) {
			b = bytes.ReplaceAll(b, []byte(forbidden), []byte("\uFFFD"))
		}
	}
	return b
}

// convert decodes b. Decoders replace invalid bytes and do not fail.
func convert(b []byte, enc encoding.Encoding) []byte {
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return validUTF8(b)
	}
	return validUTF8(bytes.TrimPrefix(out, []byte("\uFEFF")))
}

// wideEncoding returns the encoding of a document in UTF-16 or UTF-32, or nil. The first four bytes identify
// it, with or without a byte order mark.
func wideEncoding(b []byte) (enc encoding.Encoding, name string) {
	if len(b) < 4 {
		return nil, ""
	}
	if bytes.IndexByte(b[:min(len(b), 64)], 0) < 0 {
		return nil, "" // despite a byte order mark: the markup of feeds is ASCII
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

// escaped reports whether b, although all ASCII, is in a declared encoding that writes other characters by
// escape sequences: ISO-2022-JP.
func escaped(b []byte, label string) bool {
	_, name := charset.Lookup(label)
	return name == "iso-2022-jp" && bytes.IndexByte(b, 0x1B) >= 0
}

// isMostlyUTF8 reports whether b contains UTF-8 sequences that are unlikely by chance, and few invalid bytes.
// A declaration of UTF-8 lowers the threshold. The last character may be truncated.
func isMostlyUTF8(b []byte, declared bool) bool {
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

// declaredLabel returns the encoding of the XML declaration, or "".
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
