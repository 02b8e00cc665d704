package feed

import (
	"slices"
	"strings"
)

// A jsonScanner reads JSON just far enough to keep what decoding costs in
// bounds, and notes edits where what is wrong would cost the document.
type jsonScanner struct {
	doc    []byte
	edits  []edit
	open   []container
	values int
	comma  int  // where a ',' is if nothing but space followed it yet, or -1
	joined bool // a container ended, and nothing but space followed it yet
}

// An edit replaces doc[from:to].
type edit struct {
	from, to int
	with     string
}

// A container is an object or array that is open.
type container struct {
	array  bool
	commas int
	whole  int // how far it is complete: its start, a comma, or the end of a container in it
	full   int // where the first value is that we do not keep, or 0
}

// scanJSON returns the object or array that text starts with in a form that
// decodes at a bearable cost, and what was wrong with it: no array longer than
// maxItems, no comma without a value, no container without a comma before it, no
// key without quotes, no control characters in strings, no escapes that mean
// nothing. Of one that is cut off it returns the complete
// items, or, if there is none, what is complete of the first.
func scanJSON(text []byte) ([]byte, mend, error) {
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
				return nil, 0, failed(TooDeep, "values are nested more than %d deep", maxJSONDepth)
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
	return s.cut()
}

// done returns the document up to end.
func (s *jsonScanner) done(end int) ([]byte, mend, error) {
	var wrong mend
	if len(s.edits) > 0 {
		wrong |= badJSON
	}
	if rest := strings.TrimSpace(string(s.doc[end:min(len(s.doc), end+64)])); rest != "" {
		wrong |= junkAfter
	}
	return apply(s.doc[:end], s.edits), wrong, nil
}

// cut returns what is complete of a document whose end is missing.
func (s *jsonScanner) cut() ([]byte, mend, error) {
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

// text reads the string that starts at pos and returns where it ends.
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

// word reads the number, name or key without quotes that starts at pos and
// returns where it ends. Names that only JavaScript or Python know are nothing.
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

// apply returns a copy of doc with the edits made that lie within it, or doc
// itself if there are none.
func apply(doc []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return doc[:len(doc):len(doc)]
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	out := make([]byte, 0, len(doc)+8*len(edits))
	done := 0
	for _, e := range edits {
		if e.from < done || e.to > len(doc) {
			continue // within one that was made, or behind the end
		}
		out = append(out, doc[done:e.from]...)
		out = append(out, e.with...)
		done = e.to
	}
	return append(out, doc[done:]...)
}
