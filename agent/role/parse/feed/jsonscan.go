package feed

import (
	"slices"
	"strings"
)

// A jsonScanner scans JSON just enough to bound the cost of decoding, and records edits that repair defects
// which would make decoding fail.
type jsonScanner struct {
	doc    []byte
	edits  []edit
	open   []container
	values int
	comma  int  // offset of a ',' followed by white space only, or -1
	joined bool // a container ended, followed by white space only
}

// An edit replaces doc[from:to].
type edit struct {
	from, to int
	with     string
}

// A container is an open object or array.
type container struct {
	array  bool
	commas int
	whole  int // offset up to which it is complete: its start, a comma, or the end of a nested container
	full   int // offset of the first value beyond maxItems, or 0
}

// scanJSON returns the object or array that text starts with in a form that is cheap and valid to decode, and
// its defects. The result has no array longer than maxItems, no comma without a value, no adjacent containers
// without a comma, no unquoted key, no control characters in strings, and no invalid escapes. Of a truncated
// document it contains the complete items, or without any, the complete part of the first.
func scanJSON(text []byte) ([]byte, defects, error) {
	s := &jsonScanner{doc: text, comma: -1}
	for pos := 0; pos < len(s.doc); pos++ {
		switch c := s.doc[pos]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			pos = s.text(pos)
		case '{', '[':
			if s.joined {
				s.edit(pos, pos, ",")
				s.separate(pos)
			}
			s.values++
			s.open = append(s.open, container{array: c == '[', whole: pos + 1})
			if len(s.open) > maxJSONDepth {
				return nil, 0, failed(TooDeep, "values are nested more than %d levels deep", maxJSONDepth)
			}
			if s.values > maxJSONValues {
				return nil, 0, failed(TooLarge, "the document has more than %d values", maxJSONValues)
			}
		case '}', ']':
			s.close(pos)
			if len(s.open) == 0 {
				return s.done(pos + 1)
			}
			s.comma, s.joined = -1, true
			continue
		case ',':
			s.separate(pos)
			s.comma, s.joined = pos, false
			continue
		default:
			if isAlphanumeric(c) || c == '_' || c == '-' {
				pos = s.word(pos)
			}
		}
		s.comma, s.joined = -1, false
	}
	return s.closeTruncated()
}

// done returns the document up to end.
func (s *jsonScanner) done(end int) ([]byte, defects, error) {
	var wrong defects
	if len(s.edits) > 0 {
		wrong |= badJSON
	}
	if rest := strings.TrimSpace(string(s.doc[end:min(len(s.doc), end+64)])); rest != "" {
		wrong |= junkAfter
	}
	return apply(s.doc[:end], s.edits), wrong, nil
}

// closeTruncated returns the complete part of a document without an end.
func (s *jsonScanner) closeTruncated() ([]byte, defects, error) {
	keep := 1
	if len(s.open) > 1 && s.open[1].array {
		keep = 2
		if s.open[1].commas == 0 && len(s.open) > 2 && !s.open[2].array {
			keep = 3 // the first item
		}
	}
	if keep > len(s.open) {
		return nil, 0, failed(Broken, "the document ends before its first item")
	}
	var b strings.Builder
	for _, c := range slices.Backward(s.open[:keep]) {
		if c.array {
			b.WriteByte(']')
		} else {
			b.WriteByte('}')
		}
	}
	end := s.open[keep-1].whole
	return append(apply(s.doc[:end], s.edits), b.String()...), badJSON | cutOff, nil
}

// text scans the string that starts at pos and returns the offset of its end.
func (s *jsonScanner) text(pos int) int {
	for i := pos + 1; i < len(s.doc); i++ {
		switch c := s.doc[i]; {
		case c == '\\':
			if i+1 < len(s.doc) && strings.IndexByte(`"\/bfnrtu`, s.doc[i+1]) < 0 {
				s.edit(i, i+1, "")
			}
			i++
		case c == '"':
			return i
		case c < 0x20:
			s.edit(i, i+1, " ")
		}
	}
	return len(s.doc)
}

// word scans the number, name or unquoted key that starts at pos and returns the offset of its end. Names
// that only JavaScript or Python define become null.
func (s *jsonScanner) word(pos int) int {
	end := pos
	for end < len(s.doc) && (isAlphanumeric(s.doc[end]) || strings.IndexByte("_-+.", s.doc[end]) >= 0) {
		end++
	}
	after := end
	for after < len(s.doc) && strings.IndexByte(space, s.doc[after]) >= 0 {
		after++
	}
	isKey := after < len(s.doc) && s.doc[after] == ':'
	switch word := string(s.doc[pos:end]); {
	case isKey:
		s.edit(pos, pos, `"`)
		s.edit(end, end, `"`)
	case word != "true" && word != "false" && word != "null" && word[0] != '-' && digit(word[0]) > 9:
		s.edit(pos, end, "null")
	}
	return end - 1
}

// separate counts the values of a container.
func (s *jsonScanner) separate(pos int) {
	if len(s.open) == 0 {
		return
	}
	top := &s.open[len(s.open)-1]
	top.commas++
	top.whole = pos
	if top.array && top.commas == maxItems {
		top.full = pos
	}
}

// close ends a container.
func (s *jsonScanner) close(pos int) {
	if s.comma >= 0 {
		s.edit(s.comma, s.comma+1, " ")
	}
	if len(s.open) == 0 {
		return
	}
	top := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if top.full > 0 {
		s.edit(top.full, pos, "")
	}
	if len(s.open) > 0 {
		s.open[len(s.open)-1].whole = pos + 1
	}
}

func (s *jsonScanner) edit(from, to int, with string) {
	s.edits = append(s.edits, edit{from, to, with})
}

// apply returns a copy of doc with the edits that lie within it, or doc itself without edits.
func apply(doc []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return doc[:len(doc):len(doc)]
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	out := make([]byte, 0, len(doc)+8*len(edits))
	done := 0
	for _, e := range edits {
		if e.from < done || e.to > len(doc) {
			continue // within an applied edit, or after the end
		}
		out = append(out, doc[done:e.from]...)
		out = append(out, e.with...)
		done = e.to
	}
	return append(out, doc[done:]...)
}
