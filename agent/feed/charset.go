package feed

import (
	"bytes"
	"mime"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decode returns body as valid UTF-8 without a byte order mark. What it
// believes, in this order: the byte order mark or the pattern of zero bytes,
// bytes that are UTF-8, the XML declaration, the Content-Type, statistics.
// Bytes that mean nothing become U+FFFD; no document is refused.
func decode(body []byte, contentType string) []byte {
	if rest, ok := bytes.CutPrefix(body, []byte("\xEF\xBB\xBF")); ok {
		return validUTF8(rest)
	}
	if enc := wide(body); enc != nil {
		return convert(body, enc)
	}
	declared := declaredLabel(body)
	if utf8.Valid(body) && !escaped(body, declared) || mostlyUTF8(body) {
		return validUTF8(body)
	}
	for _, label := range []string{declared, headerLabel(contentType)} {
		enc, name := charset.Lookup(label)
		switch name {
		case "", "utf-8", "utf-16le", "utf-16be", "replacement": // no, or we would not be here
		default:
			return convert(body, enc)
		}
	}
	return convert(body, guess(body))
}

// validUTF8 puts U+FFFD in place of what is not UTF-8 and of the two
// characters that XML forbids though they are.
func validUTF8(b []byte) []byte {
	replacement := []byte("\uFFFD")
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, replacement)
	}
	for _, forbidden := range []string{"\uFFFE", "\uFFFF"} {
		if bytes.Contains(b, []byte(forbidden)) {
			b = bytes.ReplaceAll(b, []byte(forbidden), replacement)
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
func wide(b []byte) encoding.Encoding {
	if len(b) < 4 {
		return nil
	}
	var zeros [4]bool
	for i := range zeros {
		zeros[i] = b[i] == 0
	}
	switch {
	case string(b[:4]) == "\x00\x00\xFE\xFF", zeros == [4]bool{true, true, true, false}:
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case string(b[:4]) == "\xFF\xFE\x00\x00", zeros == [4]bool{false, true, true, true}:
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case string(b[:2]) == "\xFE\xFF", zeros == [4]bool{true, false, true, false}:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case string(b[:2]) == "\xFF\xFE", zeros == [4]bool{false, true, false, true}:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	return nil
}

// escaped reports whether b, though all ASCII, is in a declared encoding that
// writes other characters by escape sequences: ISO-2022-JP.
func escaped(b []byte, label string) bool {
	_, name := charset.Lookup(label)
	return name == "iso-2022-jp" && bytes.IndexByte(b, 0x1B) >= 0
}

// mostlyUTF8 reports whether b has UTF-8 in it that hardly is there by
// chance, and little else: a few bad bytes do not make it another encoding.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			good++
		}
		i += size
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
