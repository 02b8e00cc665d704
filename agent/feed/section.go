package feed

import "bytes"

// unsought says that nobody has looked yet for the end of a section; from
// there on there is none at the end of the document.
const unsought = -1

// next returns where the next end is at or behind pos, or -1. It remembers that
// in known, so that a document full of starts without ends is read once.
func (s *scanner) next(end string, pos int, known *int) int {
	if *known < pos {
		i := bytes.Index(s.doc[pos:], []byte(end))
		*known = pos + i
		if i < 0 {
			*known = len(s.doc)
		}
	}
	if *known == len(s.doc) {
		return -1
	}
	return *known
}

// sectionStart returns the length of the mark that a CDATA section starts with,
// or 0. Some write it with spaces, or in lower case.
func sectionStart(rest []byte) int {
	const mark = "<![cdata["
	if len(rest) < len(mark) || rest[1] != '!' {
		return 0
	}
	n := 0
	for i := range mark {
		for n < len(rest) && i > 0 && (rest[n] == ' ' || rest[n] == '\n') && n < 2*len(mark) {
			n++
		}
		if n == len(rest) || rest[n]|0x20 != mark[i]|0x20 {
			return 0
		}
		n++
	}
	return n
}

// section reads a CDATA section, whose mark has start bytes, and returns its length. If it has no end, or
// one only behind the end tag of its element and the start of another section,
// it ends at that end tag. Sections in a section belong to it.
func (s *scanner) section(rest []byte, start int) (int, *Error) {
	if len(s.open) == 0 {
		return start, nil
	}
	top := s.open[len(s.open)-1]
	end := s.next("]]>", s.pos+start, &s.sectionEnd)
	if end < 0 {
		n := indexFold(rest, "</", top.raw)
		if n < 0 {
			return -1, nil
		}
		s.wrong |= badCDATA
		return n, s.keep(top, cdataNode, withoutEnd(rest[start:n]))
	}
	n := end - s.pos
	content := rest[start:n]
	inner := bytes.Index(content, []byte("<![CDATA["))
	if inner < 0 {
		return n + len("]]>"), s.keep(top, cdataNode, content)
	}
	s.wrong |= badCDATA
	if own := indexFold(content[:inner], "</", top.raw); own >= 0 {
		return start + own, s.keep(top, cdataNode, withoutEnd(content[:own]))
	}
	after := rest[n+len("]]>"):]
	if s.endless == top {
		after = nil // it was looked for already
	}
	if close := indexFold(after, "</", top.raw); close < 0 {
		s.endless = top
	} else if last := bytes.LastIndex(after[:close], []byte("]]>")); last >= 0 {
		content = rest[start : n+len("]]>")+last]
		n += last + len("]]>")
	}
	content = bytes.ReplaceAll(content, []byte("<![CDATA["), nil)
	content = bytes.ReplaceAll(content, []byte("]]>"), nil)
	return n + len("]]>"), s.keep(top, cdataNode, content)
}

// comment returns the length of a comment. If it has no end, or one only behind
// an item and the start of another comment, only its first mark is dropped.
func (s *scanner) comment(rest []byte) int {
	const start = len("<!--")
	if bytes.HasPrefix(rest, []byte("<!-->")) {
		s.wrong |= badComments
		return len("<!-->")
	}
	end := s.next("-->", s.pos+start, &s.commentEnd)
	if end < 0 {
		s.wrong |= badComments
		if n := bytes.IndexByte(rest[1:], '<'); n >= 0 {
			return 1 + n
		}
		return -1
	}
	inner := rest[start : end-s.pos]
	if i := bytes.Index(inner, []byte("<!--")); i >= 0 {
		s.wrong |= badComments
		if bytes.Contains(inner[:i], []byte("</item")) || bytes.Contains(inner[:i], []byte("</entry")) {
			return 1 + bytes.IndexByte(rest[1:], '<')
		}
	} else if bytes.Contains(inner, []byte("--")) {
		s.wrong |= badComments
	}
	return end - s.pos + len("-->")
}

// instruction returns the length of a processing instruction or a document
// type, which say nothing inside the root. What does not end before the next
// tag is no instruction.
func instruction(rest []byte) int {
	n := 1 + bytes.IndexAny(rest[1:], "<>")
	switch {
	case n == 0:
		return -1
	case rest[n] == '<':
		return n
	}
	return n + 1
}

// indexFold returns where prefix and name first are in b, in any case, or -1.
func indexFold(b []byte, prefix string, name []byte) int {
	for off := 0; ; {
		i := bytes.Index(b[off:], []byte(prefix))
		if i < 0 {
			return -1
		}
		off += i
		after := b[off+len(prefix):]
		if len(after) >= len(name) && bytes.EqualFold(after[:len(name)], name) {
			return off
		}
		off += len(prefix)
	}
}

// withoutEnd returns the content of a section without the end that it nearly has.
func withoutEnd(content []byte) []byte {
	content = bytes.TrimRight(content, space)
	for _, end := range []string{"]]&gt;", "]]", "]>"} {
		content = bytes.TrimSuffix(content, []byte(end))
	}
	return content
}
