package feed

import "bytes"

// A tag parses the attributes of a start tag.
type tag struct {
	doc   []byte // starts with the tag's '<'
	pos   int    // offset in doc: initially after the name, finally after the tag
	attrs []attribute
	count int // of all attributes, including dropped ones

	selfClosing bool
	broken      bool // another tag starts before its '>'
	defects     defects
}

const space = " \t\r\n"

// attributes parses all attributes. It returns false if the tag is unterminated. A '<' starts the next tag:
// the '>' of this tag is missing.
func (t *tag) attributes() bool {
	for t.pos < len(t.doc) {
		switch c := t.doc[t.pos]; {
		case c == '>':
			t.pos++
			return true
		case c == '<':
			t.defects |= badAttributes
			t.broken = true
			return true
		case c == '/' && t.pos+1 < len(t.doc) && t.doc[t.pos+1] == '>':
			t.pos += 2
			t.selfClosing = true
			return true
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			t.pos++
		case len(tagName(t.doc[t.pos:])) > 0:
			if !t.attribute() {
				return false
			}
		default: // a stray character
			t.defects |= badAttributes
			t.pos++
		}
	}
	return false
}

// attribute parses one attribute, with or without a value. Of two with the same name the first counts.
func (t *tag) attribute() bool {
	a := attribute{name: tagName(t.doc[t.pos:])}
	t.pos += len(a.name)
	t.space()
	if t.pos >= len(t.doc) {
		return false
	}
	if t.doc[t.pos] != '=' {
		t.defects |= badAttributes
		t.keep(a)
		return true
	}
	t.pos++
	t.space()
	if t.pos >= len(t.doc) {
		return false
	}
	ends := true
	if quote := t.doc[t.pos]; quote == '"' || quote == '\'' {
		t.pos++
		a.value, ends = t.quoted(quote)
	} else {
		t.defects |= badAttributes
		a.value, ends = t.bare()
	}
	t.keep(a)
	return ends
}

// keep adds an attribute.
func (t *tag) keep(a attribute) {
	t.count++
	for _, other := range t.attrs[:min(len(t.attrs), 16)] {
		if bytes.Equal(other.name, a.name) {
			t.defects |= badAttributes
			return
		}
	}
	if len(t.attrs) < maxAttributes {
		t.attrs = append(t.attrs, a)
	}
}

// quoted parses a value up to its closing quote. If the value would contain the end of a tag and the start of
// another, or the name of the next attribute, the quote is missing and the value ends earlier.
func (t *tag) quoted(quote byte) (value []byte, ends bool) {
	rest := t.doc[t.pos:]
	n := bytes.IndexByte(rest, quote)
	if n < 0 {
		t.defects |= badAttributes
		return t.bare()
	}
	value = rest[:n]
	end := bytes.IndexByte(value, '>')
	switch {
	case end >= 0 && bytes.IndexByte(value[end:], '<') > 0:
		t.defects |= badAttributes
		t.pos += end
		return bytes.TrimSuffix(value[:end], []byte(" /")), true
	case n > 0 && value[n-1] == '=' && n+1 < len(rest) && len(tagName(rest[n+1:n+2])) > 0 && bytes.ContainsAny(value, space) && bytes.IndexByte(rest[n+1:], quote) >= 0:
		t.defects |= badAttributes
		return t.bare()
	}
	if bytes.IndexByte(value, '<') >= 0 {
		t.defects |= bareLessThan
	}
	t.defects |= checkReferences(value)
	t.pos += n + 1
	return value, true
}

// bare parses a value without quotes, or with typographic quotes.
func (t *tag) bare() (value []byte, ends bool) {
	n := bytes.IndexAny(t.doc[t.pos:], space+">\"'<")
	if n < 0 {
		return nil, false
	}
	value = t.doc[t.pos : t.pos+n]
	t.pos += n
	if first := bytes.IndexAny(value, "“„”"); first == 0 {
		if last := bytes.LastIndexAny(value, "“”"); last > 0 {
			t.pos -= n - last - len("”")
			return value[len("“"):last], true
		}
	}
	return value, true
}

func (t *tag) space() {
	for t.pos < len(t.doc) && bytes.IndexByte([]byte(space), t.doc[t.pos]) >= 0 {
		t.pos++
	}
}
