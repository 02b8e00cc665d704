package feed

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxReference is the length of the longest reference: HTML names have up to 31 letters.
const maxReference = 34

// unescape returns a text with its references resolved, including those of HTML. Invalid references, as in
// AT&T, are kept.
func unescape(raw []byte) string {
	i := bytes.IndexByte(raw, '&')
	if i < 0 {
		return string(raw)
	}
	var b strings.Builder
	b.Grow(len(raw))
	for ; i >= 0; i = bytes.IndexByte(raw, '&') {
		var scratch [8]byte
		meant, n, _ := resolveReference(scratch[:0], raw[i:])
		b.Write(raw[:i])
		b.Write(meant)
		raw = raw[i+n:]
	}
	b.Write(raw)
	return b.String()
}

// maxChecked bounds the bytes of a text that are checked for defects.
const maxChecked = 16 << 10

// checkReferences returns the defects of the references in a text.
func checkReferences(raw []byte) defects {
	var found defects
	for pos := 0; pos < maxChecked; {
		i := bytes.IndexByte(raw[pos:], '&')
		if i < 0 {
			break
		}
		var scratch [8]byte
		_, n, wrong := resolveReference(scratch[:0], raw[pos+i:])
		found |= wrong
		pos += i + n
	}
	return found
}

// resolveReference appends the meaning of the reference that starts b to dst, and returns the reference's
// length and defects.
func resolveReference(dst, b []byte) (out []byte, n int, wrong defects) {
	if len(b) > 1 && b[1] == '#' {
		return resolveNumeric(dst, b)
	}
	n = 1
	for n < len(b) && n < maxReference && isAlphanumeric(b[n]) {
		n++
	}
	if n == 1 || n == len(b) || b[n] != ';' {
		return append(dst, '&'), 1, bareAmpersands
	}
	n++
	switch string(b[:n]) {
	case "&amp;":
		return append(dst, '&'), n, 0
	case "&lt;":
		return append(dst, '<'), n, 0
	case "&gt;":
		return append(dst, '>'), n, 0
	case "&quot;":
		return append(dst, '"'), n, 0
	case "&apos;":
		return append(dst, '\''), n, 0
	}
	// HTML accepts some names without a semicolon. This name may merely begin with one: &copying;
	name := string(b[:n])
	s := html.UnescapeString(name)
	if lower := strings.ToLower(name); strings.HasSuffix(s, ";") && lower != name {
		s = html.UnescapeString(lower)
	}
	if strings.HasSuffix(s, ";") {
		return append(dst, '&'), 1, unknownEntities
	}
	return append(dst, s...), n, unknownEntities
}

// resolveNumeric is [resolveReference] for character numbers. Characters that XML forbids are omitted. Two
// surrogates, as JavaScript writes them, are combined.
func resolveNumeric(dst, b []byte) (out []byte, n int, wrong defects) {
	r, n := parseNumber(b)
	if n == 0 {
		return append(dst, '&'), 1, bareAmpersands
	}
	if b[n-1] != ';' {
		wrong = bareAmpersands
	}
	switch {
	case utf16.IsSurrogate(r):
		low, more := parseNumber(b[n:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return dst, n, forbiddenCharacters
		}
		return utf8.AppendRune(dst, r), n + more, forbiddenCharacters
	case r < 0x20 && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF, r > utf8.MaxRune:
		return dst, n, forbiddenCharacters
	case 0x80 <= r && r < 0xA0: // numbers of windows-1252, as in browsers
		return append(dst, html.UnescapeString(string(b[:n-1])+";")...), n, 0
	}
	return utf8.AppendRune(dst, r), n, wrong
}

// parseNumber parses a numeric reference at the start of b, with or without its final semicolon. n is 0 if b
// does not start with one.
func parseNumber(b []byte) (r rune, n int) {
	if len(b) < 3 || b[0] != '&' || b[1] != '#' {
		return 0, 0
	}
	base, start := rune(10), 2
	if b[2]|0x20 == 'x' {
		base, start = 16, 3
	}
	for n = start; n < len(b) && n < start+8; n++ {
		d := digit(b[n])
		if d >= base {
			break
		}
		r = min(r*base+d, utf8.MaxRune+1)
	}
	switch {
	case n == start:
		return 0, 0
	case n < len(b) && b[n] == ';':
		n++
	}
	return r, n
}

// digit returns the value of a hexadecimal digit, or 16 if c is none.
func digit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// Bounds of a document type's entity definitions. Definitions beyond them, with markup, or that refer to
// other entities, are not expanded.
const (
	maxEntities   = 64
	maxEntity     = 256     // bytes of one entity's text
	maxExpansions = 1 << 20 // bytes that all expansions add to a document
)

var entityDefinition = regexp.MustCompile(`<!ENTITY\s+([A-Za-z][A-Za-z0-9]*)\s+(?:"([^"<&%]*)"|'([^'<&%]*)')\s*>`)

// expandEntities expands the entities that the document type before a root defines. It fetches nothing, and
// expands no entity within another.
func expandEntities(before, doc []byte) []byte {
	if !bytes.Contains(before, []byte("<!ENTITY")) {
		return doc
	}
	room := maxExpansions
	for _, d := range entityDefinition.FindAllSubmatch(before, maxEntities) {
		name, value := []byte("&"+string(d[1])+";"), append(d[2], d[3]...)
		more := bytes.Count(doc, name) * len(value)
		if len(value) > maxEntity || more == 0 || more > room {
			continue
		}
		room -= more
		doc = bytes.ReplaceAll(doc, name, value)
	}
	return doc
}
