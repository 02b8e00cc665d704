package feed

import "bytes"

// A tag reads the attributes of a start tag.
type tag struct {
	doc   []byte // starts with the tag's '<'
	pos   int    // in doc: at first behind the name, at last behind the tag
	at    int    // where doc starts in the document
	edits []edit

	count, namespaces int
	selfClosing       bool
}

// attributes reads all attributes. It returns false if the tag does not end.
// A '<' in it is taken for the next tag: the '>' of this one is missing.
func (t *tag) attributes() bool {
	for t.pos < len(t.doc) {
		switch c := t.doc[t.pos]; {
		case c == '>':
			t.pos++
			return true
		case c == '<':
			t.edit(t.pos, t.pos, ">")
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
		default: // a stray character, which encoding/xml would refuse
			t.edit(t.pos, t.pos+1, " ")
			t.pos++
		}
	}
	return false
}

// attribute reads one attribute, with or without a value.
func (t *tag) attribute() bool {
	name := tagName(t.doc[t.pos:])
	t.count++
	if string(name) == "xmlns" || bytes.HasPrefix(name, []byte("xmlns:")) {
		t.namespaces++
	}
	t.pos += len(name)
	t.space()
	if t.pos >= len(t.doc) || t.doc[t.pos] != '=' {
		return t.pos < len(t.doc)
	}
	t.pos++
	t.space()
	if t.pos >= len(t.doc) {
		return false
	}
	if quote := t.doc[t.pos]; quote == '"' || quote == '\'' {
		return t.quoted(quote)
	}
	return t.bare()
}

// quoted reads a value in quotes.
func (t *tag) quoted(quote byte) bool {
	n := bytes.IndexByte(t.doc[t.pos+1:], quote)
	if n < 0 {
		return false
	}
	value := t.doc[t.pos+1 : t.pos+1+n]
	for i, c := range value {
		if c == '<' {
			t.edit(t.pos+1+i, t.pos+2+i, "&lt;")
		}
	}
	t.edits = mendReferences(t.edits, value, t.at+t.pos+1)
	t.pos += n + 2
	return true
}

// bare reads a value without quotes and puts it in quotes.
func (t *tag) bare() bool {
	n := bytes.IndexAny(t.doc[t.pos:], " \t\r\n>\"'<")
	if n < 0 {
		return false
	}
	t.edit(t.pos, t.pos, `"`)
	t.edit(t.pos+n, t.pos+n, `"`)
	t.pos += n
	return true
}

func (t *tag) space() {
	for t.pos < len(t.doc) && bytes.IndexByte([]byte(" \t\r\n"), t.doc[t.pos]) >= 0 {
		t.pos++
	}
}

func (t *tag) edit(from, to int, with string) {
	t.edits = append(t.edits, edit{t.at + from, t.at + to, with})
}
