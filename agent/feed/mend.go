package feed

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// An edit replaces doc[from:to].
type edit struct {
	from, to int
	with     string
}

// edit notes an edit relative to pos.
func (s *scanner) edit(from, to int, with string) {
	s.edits = append(s.edits, edit{s.pos + from, s.pos + to, with})
}

// apply returns doc with the edits made that lie within it, and tail after it.
// It copies only if there is something to change.
func apply(doc []byte, edits []edit, tail []byte) []byte {
	if len(edits) == 0 && len(tail) == 0 {
		return doc
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	out := make([]byte, 0, len(doc)+len(tail)+8*len(edits))
	done := 0
	for _, e := range edits {
		if e.from < done || e.to > len(doc) {
			continue // within one that was made, or behind the end
		}
		out = append(out, doc[done:e.from]...)
		out = append(out, e.with...)
		done = e.to
	}
	out = append(out, doc[done:]...)
	return append(out, tail...)
}

// shorten empties the elements that end at pos if they are meant for a few
// words and have a great many: gofeed tries 200 layouts on each date and five
// patterns on each name.
func (s *scanner) shorten(ending []node) {
	for _, n := range ending {
		if s.pos-n.inner <= maxSmall || !small(n.name) {
			continue
		}
		for len(s.edits) > 0 && s.edits[len(s.edits)-1].from >= n.inner {
			s.edits = s.edits[:len(s.edits)-1]
		}
		s.edits = append(s.edits, edit{n.inner, s.pos, ""})
		return
	}
}

// small reports whether elements of that name hold a name, a date or a word.
func small(name []byte) bool {
	switch strings.ToLower(string(local(name))) {
	case "author", "creator", "name", "email", "managingeditor", "webmaster",
		"pubdate", "lastbuilddate", "date", "published", "updated", "issued", "created", "modified",
		"category", "keywords", "subject", "guid", "id":
		return true
	}
	return false
}

// mendText notes what encoding/xml refuses in a text that starts at pos.
func mendText(edits []edit, text []byte, pos int) []edit {
	for off := 0; len(edits) <= maxEdits; {
		i := bytes.Index(text[off:], []byte("]]>"))
		if i < 0 {
			break
		}
		off += i + len("]]>")
		edits = append(edits, edit{pos + off - 1, pos + off, "&gt;"})
	}
	return mendReferences(edits, text, pos)
}

// mendReferences notes references to characters that XML forbids, for
// removal: &#0; to &#31; but for three, and what no character has as number.
func mendReferences(edits []edit, text []byte, pos int) []edit {
	for off := 0; len(edits) <= maxEdits; {
		i := bytes.Index(text[off:], []byte("&#"))
		if i < 0 {
			break
		}
		off += i
		n := bytes.IndexByte(text[off:min(len(text), off+12)], ';')
		if n > 0 && forbidden(string(text[off+2:off+n])) {
			edits = append(edits, edit{pos + off, pos + off + n + 1, ""})
		}
		off += 2
	}
	return edits
}

// forbidden reports whether the number of a reference names no XML character.
func forbidden(number string) bool {
	base := 10
	if len(number) > 0 && number[0]|0x20 == 'x' {
		base, number = 16, number[1:]
	}
	r, err := strconv.ParseUint(number, base, 32)
	if err != nil {
		return false
	}
	return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

// comment returns the length of the comment that starts b, or -1, and whether
// encoding/xml refuses it for "--" in it.
func comment(b []byte) (n int, bad bool) {
	n = through(b[len("<!--"):], "-->")
	if n < 0 {
		return -1, false
	}
	inner := b[len("<!--") : len("<!--")+n-len("-->")]
	return len("<!--") + n, bytes.Contains(inner, []byte("--")) || bytes.HasSuffix(inner, []byte("-"))
}
