package feed

import "bytes"

// notSearched means that the end of a section has not been searched for. Without an end, the cached offset is
// the length of the document.
const notSearched = -1

// nextEnd returns the offset of the next end at or after pos, or -1. It caches the offset in known, so that a
// document full of starts without ends is scanned only once.
func (s *scanner) nextEnd(end string, pos int, known *int) int {
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

// sectionStart returns the length of the delimiter that starts a CDATA section, or 0. It accepts spaces and
// lower case.
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

// section parses a CDATA section, whose start delimiter has start bytes, and returns its length. Without an
// end, or with an end only after the end tag of its element and the start of another section, it ends at that
// end tag. Nested sections belong to it.
func (s *scanner) section(rest []byte, start int) (int, *Error) {
	if len(s.open) == 0 {
		return start, nil
	}
	top := s.open[len(s.open)-1]
	end := s.nextEnd("]]>", s.pos+start, &s.sectionEnd)
	if end < 0 {
		n := indexFold(rest, "</", top.raw)
		if n < 0 {
			return -1, nil
		}
		s.defects |= badCDATA
		return n, s.addText(top, cdataNode, withoutEnd(rest[start:n]))
	}
	n := end - s.pos
	content := rest[start:n]
	inner := bytes.Index(content, []byte("<![CDATA["))
	if inner < 0 {
		return n + len("]]>"), s.addText(top, cdataNode, content)
	}
	s.defects |= badCDATA
	if own := indexFold(content[:inner], "</", top.raw); own >= 0 {
		return start + own, s.addText(top, cdataNode, withoutEnd(content[:own]))
	}
	after := rest[n+len("]]>"):]
	if s.endless == top {
		after = nil // a previous search found none
	}
	if close := indexFold(after, "</", top.raw); close < 0 {
		s.endless = top
	} else if last := bytes.LastIndex(after[:close], []byte("]]>")); last >= 0 {
		content = rest[start : n+len("]]>")+last]
		n += last + len("]]>")
	}
	content = bytes.ReplaceAll(content, []byte("<![CDATA["), nil)
	content = bytes.ReplaceAll(content, []byte("]]>"), nil)
	return n + len("]]>"), s.addText(top, cdataNode, content)
}

// comment returns the length of a comment. If it has no end, or an end only after an item and the start of
// another comment, only its start delimiter is skipped.
func (s *scanner) comment(rest []byte) int {
	const start = len("<!--")
	if bytes.HasPrefix(rest, []byte("<!-->")) {
		s.defects |= badComments
		return len("<!-->")
	}
	end := s.nextEnd("-->", s.pos+start, &s.commentEnd)
	if end < 0 {
		s.defects |= badComments
		if n := bytes.IndexByte(rest[1:], '<'); n >= 0 {
			return 1 + n
		}
		return -1
	}
	inner := rest[start : end-s.pos]
	if i := bytes.Index(inner, []byte("<!--")); i >= 0 {
		s.defects |= badComments
		if bytes.Contains(inner[:i], []byte("</item")) || bytes.Contains(inner[:i], []byte("</entry")) {
			return 1 + bytes.IndexByte(rest[1:], '<')
		}
	} else if bytes.Contains(inner, []byte("--")) {
		s.defects |= badComments
	}
	return end - s.pos + len("-->")
}

// instruction returns the length of a processing instruction or a document type, which have no effect inside
// the root. It ends before the next tag at the latest.
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

// indexFold returns the offset of the first prefix followed by name, ignoring case, or -1.
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

// withoutEnd returns the content of a section without a damaged end delimiter.
func withoutEnd(content []byte) []byte {
	content = bytes.TrimRight(content, space)
	for _, end := range []string{"]]&gt;", "]]", "]>"} {
		content = bytes.TrimSuffix(content, []byte(end))
	}
	return content
}
