package feed

import (
	"bytes"
	"slices"
	"strings"
)

// startsItem reports whether an element of the given name at pos is an item of
// the feed. If an item before it, or an element of the channel, was never
// closed, it closes that.
func (s *scanner) startsItem(name []byte) bool {
	if !strings.EqualFold(string(local(name)), s.item) {
		return false
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		if holdsItems(s.open[i].name) {
			s.closeAll(s.open[i+1:])
			s.open = s.open[:i+1]
			return true
		}
	}
	return false
}

// holdsItems reports whether items are found in elements of that name.
func holdsItems(name []byte) bool {
	switch strings.ToLower(string(local(name))) {
	case "channel", "rss", "rdf", "feed":
		return true
	}
	return false
}

// cut returns the document as far as its last complete item, closed as if it
// ended there. Where there is none it returns what is complete of the first
// item, or, if the document was refused rather than cut off, the refusal.
func (s *scanner) cut(refused *Error) ([]byte, error) {
	if refused != nil && refused.Kind == TooDeep {
		return nil, refused
	}
	end, open := s.pos, s.open
	i := slices.IndexFunc(s.open, func(n node) bool { return n.item })
	switch {
	case i < 0:
	case s.items > 1 || refused != nil:
		end, open = s.open[i].start, s.open[:i]
		s.items--
	case i+1 < len(s.open):
		end, open = s.open[i+1].start, s.open[:i+1]
	}
	if s.items == 0 && refused != nil {
		return nil, refused
	}
	if s.items == 0 {
		return nil, failed(Broken, "the document ends before its first item")
	}
	return apply(s.doc[:end], s.edits, []byte(closers(open))), nil
}

// closeAll closes elements that something around them ends at pos: encoding/xml
// would close them too, but take the end tag for a part of their text. Those
// that are empty in HTML are closed where they start.
func (s *scanner) closeAll(open []node) {
	rest := make([]node, 0, len(open))
	for _, n := range open {
		switch strings.ToLower(string(n.name)) {
		case "br", "img", "hr", "wbr", "input", "col", "area", "embed":
			s.edits = append(s.edits, edit{n.inner - 1, n.inner - 1, "/"})
		default:
			rest = append(rest, n)
		}
	}
	if len(rest) > 0 {
		s.edit(0, 0, closers(rest))
	}
}

// closers returns the end tags of elements, the innermost first.
func closers(open []node) string {
	var b strings.Builder
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteString("</")
		b.Write(open[i].name)
		b.WriteString(">")
	}
	return b.String()
}

// tagName returns the name that b starts with, or nothing if it cannot start
// one. No feed format has names outside ASCII.
func tagName(b []byte) []byte {
	for i, c := range b {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c != ':' && c != '-' && c != '.' && (c < '0' || c > '9')) {
			return b[:i]
		}
	}
	return b
}

// local returns a name without its prefix.
func local(name []byte) []byte {
	return name[bytes.LastIndexByte(name, ':')+1:]
}
