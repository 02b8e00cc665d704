package feed

import (
	"bytes"
	"strings"
)

// A scanner reads an XML document into a tree. It is a parser of our own, for
// three reasons that were measured against gofeed (see BenchmarkParse and
// TestCorpusScoreboard): it refuses nothing that a reader of feeds can make sense of,
// where encoding/xml, on which gofeed stands, gives up at the first error; it
// keeps the complete items of a document that is cut off; and it costs a
// fraction, for gofeed keeps maps for each element and copies all namespaces
// in scope. Each thing that may be wrong is put right where it is met: in this
// file markup, in tag.go attributes, in section.go CDATA and comments, in
// nesting.go and closing.go what closes what, in reference.go characters.
type scanner struct {
	doc    []byte // starts with the root's '<'
	format format
	pos    int
	mark   int     // where the text before pos starts
	open   []*node // elements that are open at pos, outermost first
	item   *node   // the item that is open, or nil

	root  *node
	items []*node // in document order; they hang from nothing but know their parents

	names    map[spelling]string
	bindings []binding // that are in scope, innermost last
	nodes    []node    // room for the next ones
	attrs    []attribute

	elements, texts, bound, strays int
	sectionEnd, commentEnd         int   // where the next "]]>" and "-->" were found
	endless                        *node // an element whose end tag was looked for in vain
	wrong                          mend
}

// A scanned is what came of a document.
type scanned struct {
	root  *node
	items []*node // at most maxItems, all complete, except for the first if that is the only one
	after []byte  // what follows the root
	wrong mend
}

// scan reads doc, which starts at its root element, into a tree whose
// texts are parts of doc. It gives up only where reading on would cost too
// much, or where the document ends without an item.
func scan(doc []byte, f format) (scanned, error) {
	s := &scanner{doc: doc, format: f, names: make(map[spelling]string, 64)}
	s.sectionEnd, s.commentEnd = unsought, unsought
	for s.pos < len(doc) {
		i := bytes.IndexByte(doc[s.pos:], '<')
		if i < 0 {
			s.pos = len(doc)
			break
		}
		s.pos += i
		if s.literal(doc[s.pos:]) {
			s.wrong |= bareLessThan
			s.pos++
			continue
		}
		if err := s.text(s.pos); err != nil {
			return s.cut(err)
		}
		n, err := s.markup(doc[s.pos:])
		if err != nil {
			return s.cut(err)
		}
		if n < 0 {
			break // it does not end: the document is cut off here
		}
		s.pos += n
		s.mark = s.pos
		if s.root != nil && len(s.open) == 0 {
			return s.done(), nil
		}
	}
	return s.cut(nil)
}

func (s *scanner) done() scanned {
	return scanned{root: s.root, items: s.items, after: s.doc[s.pos:], wrong: s.wrong}
}

// literal reports whether the '<' that starts rest is just that.
func (s *scanner) literal(rest []byte) bool {
	if len(rest) < 2 {
		return false
	}
	switch c := rest[1]; c {
	case '!', '?':
		return false
	case '/':
		return len(rest) > 2 && len(tagName(bytes.TrimLeft(rest[2:min(len(rest), 64)], space))) == 0
	}
	name := tagName(rest[1:])
	if len(name) == 0 {
		return true
	}
	// A tag that another one starts in is none, unless it has a name we know.
	if n := bytes.IndexAny(rest[1:min(len(rest), maxWords)], "<>\"'"); n < 0 || rest[1+n] != '<' {
		return false
	}
	known := strings.ToLower(string(name))
	return len(s.open) > 0 && !inHTML(name) && !isField(known) && !isHolder(known) && !s.isItem(known)
}

// markup reads the markup that rest starts with and returns its length, or -1
// if it does not end.
func (s *scanner) markup(rest []byte) (int, *Error) {
	if n := sectionStart(rest); n > 0 {
		return s.section(rest, n)
	}
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return s.comment(rest), nil
	case len(rest) < 2:
		return -1, nil
	case rest[1] == '?', rest[1] == '!':
		return instruction(rest), nil
	case bytes.HasPrefix(rest, []byte("</")):
		return s.endTag(rest)
	}
	return s.startTag(rest)
}

// text keeps the text between mark and end. Between the fields of an item or of
// the channel there is none that means anything.
func (s *scanner) text(end int) *Error {
	raw := s.doc[s.mark:end]
	if len(raw) == 0 || len(s.open) == 0 {
		return nil
	}
	top := s.open[len(s.open)-1]
	if top == s.item || isHolder(top.name) {
		// An HTML parser has been at it: to it a link is empty and ends at once.
		if link := top.last; link == nil || link.name != "link" || link.first != nil || !bytes.HasPrefix(bytes.TrimLeft(raw, space), []byte("http")) {
			return nil
		}
		top = top.last
		s.wrong |= neverClosed
	}
	s.wrong |= references(raw)
	return s.keep(top, textNode, raw)
}

// keep adds a piece of text to an element.
func (s *scanner) keep(to *node, kind nodeKind, raw []byte) *Error {
	s.texts++
	if s.texts > maxElements {
		return failed(TooLarge, "the document's texts are in too many pieces")
	}
	n := s.new()
	n.kind, n.raw = kind, raw[:min(len(raw), maxText)]
	to.add(n)
	return nil
}

// new returns a node. They are made many at a time.
func (s *scanner) new() *node {
	if len(s.nodes) == 0 {
		s.nodes = make([]node, 256)
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	return n
}

// startTag reads a start tag and opens its element.
func (s *scanner) startTag(rest []byte) (int, *Error) {
	raw := tagName(rest[1:])
	if len(s.attrs) < 32 {
		s.attrs = make([]attribute, 256)
	}
	t := tag{doc: rest, pos: 1 + len(raw), attrs: s.attrs[:0]}
	if !t.attributes() {
		return -1, nil
	}
	s.wrong |= t.wrong
	n := s.new()
	n.raw, n.attrs, n.scope = raw, t.attrs[:len(t.attrs):len(t.attrs)], len(s.bindings)
	s.attrs = s.attrs[min(len(t.attrs), len(s.attrs)):]
	s.bind(n.attrs, isHolderName(raw))
	n.name = s.name(raw)

	isItem := s.isItem(n.name)
	if isItem && t.selfClosing {
		s.bindings = s.bindings[:n.scope]
		return t.pos, nil // an empty item, not the end of the one around it
	}
	if isItem && len(s.items) == maxItems {
		return s.full(), nil
	}
	if s.makeRoom(n, isItem, rest[t.pos:]) {
		n.scope = len(s.bindings)
		s.bind(n.attrs, false)
	}
	s.attach(n, isItem)
	if t.selfClosing {
		n.closed = true
		s.bindings = s.bindings[:n.scope]
	} else {
		s.open = append(s.open, n)
	}
	return t.pos, s.afford(t.count)
}

// attach puts an element where it belongs in the tree. Items hang from
// nothing, so that looking for a field of the channel does not pass them all.
func (s *scanner) attach(n *node, isItem bool) {
	switch {
	case s.root == nil:
		s.root = n
	case isItem:
		n.parent = s.open[len(s.open)-1]
		s.items = append(s.items, n)
		s.item = n
	default:
		s.open[len(s.open)-1].add(n)
	}
}

// afford accounts for an element with that many attributes.
func (s *scanner) afford(attributes int) *Error {
	s.elements++
	s.bound += len(s.bindings)
	switch {
	case len(s.open) > maxDepth:
		return failed(TooDeep, "elements are nested more than %d deep", maxDepth)
	case attributes > maxAttributes:
		return failed(TooLarge, "an element has more than %d attributes", maxAttributes)
	case len(s.bindings) > maxNamespaces:
		return failed(TooLarge, "more than %d namespaces are in use at once", maxNamespaces)
	case s.elements > maxElements || s.bound > maxBindings:
		return failed(TooLarge, "the document has too many elements")
	}
	return nil
}
