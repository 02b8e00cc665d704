package feed

import "bytes"

// notSearched means that the end of a section has not been searched for. Without an end, the cached offset is
// the length of the document.
const notSearched = -1

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
