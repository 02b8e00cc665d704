package feed

import "bytes"

// A jsonScanner reads JSON just far enough to keep what decoding costs in
// bounds, and overwrites, in a copy, what would cost the document.
type jsonScanner struct {
	doc    []byte
	copied bool
	edits  []edit
	open   []container
	values int
	comma  int // where a ',' is if nothing but space followed it yet, or -1
}

// A container is an object or array that is open.
type container struct {
	array  bool
	commas int
	full   int // where the first value is that we do not keep, or 0
}

// scanJSON returns text in a form that gofeed's types decode at a bearable
// cost: no array longer than maxItems, no comma without a value, no control
// characters in strings.
func scanJSON(text []byte) ([]byte, error) {
	s := &jsonScanner{doc: text, comma: -1}
	for pos := 0; pos < len(s.doc); pos++ {
		switch c := s.doc[pos]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			pos = s.text(pos)
		case '{', '[':
			s.values++
			s.open = append(s.open, container{array: c == '['})
			if len(s.open) > maxJSONDepth {
				return nil, failed(TooDeep, "values are nested more than %d deep", maxJSONDepth)
			}
			if s.values > maxJSONValues {
				return nil, failed(TooLarge, "the document has more than %d values", maxJSONValues)
			}
		case '}', ']':
			s.close(pos)
		case ',':
			s.separate(pos)
			s.comma = pos
			continue
		}
		s.comma = -1
	}
	return apply(s.doc, s.edits, nil), nil
}

// text reads the string that starts at pos and returns where it ends.
func (s *jsonScanner) text(pos int) int {
	for i := pos + 1; i < len(s.doc); i++ {
		switch c := s.doc[i]; {
		case c == '\\':
			i++
		case c == '"':
			return i
		case c < 0x20:
			s.put(i, " ")
		}
	}
	return len(s.doc)
}

// separate counts the values of a container.
func (s *jsonScanner) separate(pos int) {
	if len(s.open) == 0 {
		return
	}
	top := &s.open[len(s.open)-1]
	top.commas++
	if top.array && top.commas == maxItems {
		top.full = pos
	}
}

// close ends a container.
func (s *jsonScanner) close(pos int) {
	if s.comma >= 0 {
		s.put(s.comma, " ")
	}
	if len(s.open) == 0 {
		return
	}
	top := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if top.full > 0 {
		s.edits = append(s.edits, edit{top.full, pos, ""})
	}
}

// put overwrites a copy of the document at pos: the bytes are the caller's.
func (s *jsonScanner) put(pos int, with string) {
	if !s.copied {
		s.doc, s.copied = bytes.Clone(s.doc), true
	}
	copy(s.doc[pos:], with)
}
