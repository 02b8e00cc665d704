package feed

import (
	"bytes"
	"strings"
)

// A scanner reads the markup of a document just far enough to know what
// gofeed would spend on it, and notes edits where a small one makes the
// difference between a document that encoding/xml reads and one it refuses.
// It follows encoding/xml in being lenient: an end tag closes all that is
// still open within its element.
type scanner struct {
	doc   []byte // starts with the root's '<'
	pos   int
	open  []node // elements that are open at pos, outermost first
	edits []edit // in document order

	item     string // lower-case local name of this format's items
	items    int
	elements int
	bindings int
	joined   int
}

// A node is an element that is open.
type node struct {
	name  []byte
	start int  // where its tag starts
	inner int  // where its content starts
	item  bool // an item of the feed, not just an element called so
	bound int  // namespace declarations in scope
	text  int  // bytes of the text directly in it, so far
}

// scan returns doc, which starts at its root element, in a form that
// encoding/xml reads at a bearable cost. It is doc itself where nothing is
// wrong with it.
func scan(doc []byte, f format) ([]byte, error) {
	s := &scanner{doc: doc, item: "item"}
	if f == atom {
		s.item = "entry"
	}
	for s.pos < len(doc) {
		if len(s.edits) > maxEdits {
			return s.cut(failed(Broken, "the document is damaged in more than %d places", maxEdits))
		}
		i := bytes.IndexByte(doc[s.pos:], '<')
		if i < 0 {
			break
		}
		if err := s.text(doc[s.pos : s.pos+i]); err != nil {
			return s.cut(err)
		}
		s.pos += i
		n, err := s.markup(doc[s.pos:])
		if err != nil {
			return s.cut(err)
		}
		if n < 0 {
			break // it does not end: the document is cut off here
		}
		s.pos += n
		if len(s.open) == 0 {
			return apply(doc[:s.pos], s.edits, nil), nil
		}
	}
	return s.cut(nil)
}

// text accounts for the text that starts at pos.
func (s *scanner) text(t []byte) *Error {
	if len(t) == 0 || len(s.open) == 0 {
		return nil
	}
	s.edits = mendText(s.edits, t, s.pos)
	return s.join(len(t))
}

// join accounts for n more bytes of text in the innermost element: gofeed
// copies all that it has of it for each piece.
func (s *scanner) join(n int) *Error {
	top := &s.open[len(s.open)-1]
	s.joined += top.text
	top.text += n
	if s.joined > maxJoined {
		return failed(TooLarge, "the document's texts are in too many pieces")
	}
	return nil
}

// markup reads the markup that rest starts with and returns its length, or -1
// if it does not end.
func (s *scanner) markup(rest []byte) (int, *Error) {
	switch {
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		n := through(rest, "]]>")
		if n < 0 {
			return -1, nil
		}
		return n, s.join(n)
	case bytes.HasPrefix(rest, []byte("<!--")):
		n, bad := comment(rest)
		if bad {
			s.edit(0, n, "")
		}
		return n, nil
	case bytes.HasPrefix(rest, []byte("<?")):
		// A second declaration would make encoding/xml decode twice.
		return s.drop(through(rest, "?>")), nil
	case bytes.HasPrefix(rest, []byte("<!")):
		return s.drop(through(rest, ">")), nil
	case bytes.HasPrefix(rest, []byte("</")):
		return s.endTag(rest), nil
	case len(tagName(rest[1:])) > 0:
		return s.startTag(rest)
	}
	s.edit(0, 1, "&lt;")
	return 1, nil
}

// drop notes that the next n bytes are left out, if there are any.
func (s *scanner) drop(n int) int {
	if n > 0 {
		s.edit(0, n, "")
	}
	return n
}

// endTag closes the element it names, if that is open.
func (s *scanner) endTag(rest []byte) int {
	n := through(rest, ">")
	if n < 0 {
		return -1
	}
	name := tagName(rest[2:])
	for i := len(s.open) - 1; i >= 0; i-- {
		if !bytes.EqualFold(s.open[i].name, name) {
			continue
		}
		s.closeAll(s.open[i+1:])
		s.shorten(s.open[i:])
		if !bytes.Equal(s.open[i].name, name) {
			s.edit(2, 2+len(name), string(s.open[i].name))
		}
		s.open = s.open[:i]
		return n
	}
	return s.drop(n)
}

// startTag reads a start tag and opens its element. It returns -1 as markup.
func (s *scanner) startTag(rest []byte) (int, *Error) {
	name := tagName(rest[1:])
	t := tag{doc: rest, pos: 1 + len(name), at: s.pos, edits: s.edits}
	if !t.attributes() {
		return -1, nil
	}
	s.edits = t.edits
	if t.selfClosing && strings.EqualFold(string(local(name)), s.item) {
		return s.drop(t.pos), nil // an empty item, not the end of the one around it
	}
	isItem := s.startsItem(name)
	if isItem {
		if s.items == maxItems {
			return -1, nil // all that we keep: as if the document ended here
		}
		s.items++
	}
	n := node{name: name, start: s.pos, inner: s.pos + t.pos, item: isItem, bound: t.namespaces}
	if len(s.open) > 0 {
		n.bound += s.open[len(s.open)-1].bound
	}
	if !t.selfClosing {
		s.open = append(s.open, n)
	}
	return t.pos, s.afford(t.count, n.bound)
}

// afford accounts for an element with that many attributes and namespaces in
// scope.
func (s *scanner) afford(attributes, bound int) *Error {
	s.elements++
	s.bindings += bound
	switch {
	case len(s.open) > maxDepth:
		return failed(TooDeep, "elements are nested more than %d deep", maxDepth)
	case attributes > maxAttributes:
		return failed(TooLarge, "an element has more than %d attributes", maxAttributes)
	case bound > maxNamespaces:
		return failed(TooLarge, "more than %d namespaces are in use at once", maxNamespaces)
	case s.elements > maxElements || s.bindings > maxBindings:
		return failed(TooLarge, "the document has too many elements")
	}
	return nil
}
