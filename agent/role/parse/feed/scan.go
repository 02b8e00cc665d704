package feed

import (
	"bytes"
	"strings"
)

// A scanner parses an XML document into a tree. It exists for three reasons, measured against gofeed (see
// BenchmarkParse and TestCorpusScoreboard). It accepts every document that a person could make sense of,
// while encoding/xml, on which gofeed is built, stops at the first error. It keeps the complete items of a
// truncated document. And it costs a fraction: gofeed allocates maps for each element and copies all
// namespaces in scope.
//
// Each defect is repaired where it is found: markup in this file, attributes in tag.go, CDATA and comments in
// section.go, implied ends in nesting.go and closing.go, characters in reference.go.
type scanner struct {
	doc       []byte // starts with the root's '<'
	format    format
	pos       int
	textStart int     // start of the text before pos
	open      []*node // elements that are open at pos, outermost first
	item      *node   // the open item, or nil

	root  *node
	items []*node // in document order; not children of their parents, but with a parent pointer

	names    map[nameKey]string // cache of normalized names
	bindings []binding          // namespaces in scope, innermost last
	nodes    []node             // a batch allocated for the next elements
	attrs    []attribute        // buffer for the attributes of the next elements

	elements, texts, bound, strays int
	leftOut                        int   // items that exceed the limits
	sectionEnd, commentEnd         int   // cached offsets of the next "]]>" and "-->", see [scanner.nextEnd]
	endless                        *node // an element whose end tag was searched for without success
	defects                        defects
}

// A scanResult is the tree of a document.
type scanResult struct {
	root    *node
	items   []*node // at most maxItems, all complete, except for the first if it is the only one
	leftOut int     // items after the last of items, which exceed the limits
	after   []byte  // bytes after the root
	defects defects
}

// scan parses doc, which starts at its root element, into a tree whose texts alias doc. It fails only if the
// document exceeds the limits or ends before its first item.
func scan(doc []byte, f format) (scanResult, error) {
	s := &scanner{doc: doc, format: f, names: make(map[nameKey]string, 64)}
	s.sectionEnd, s.commentEnd = notSearched, notSearched
	for s.pos < len(doc) {
		i := bytes.IndexByte(doc[s.pos:], '<')
		if i < 0 {
			s.pos = len(doc)
			break
		}
		s.pos += i
		if s.isLiteral(doc[s.pos:]) {
			s.defects |= bareLessThan
			s.pos++
			continue
		}
		if err := s.text(s.pos); err != nil {
			return s.finishTruncated(err)
		}
		n, err := s.markup(doc[s.pos:])
		if err != nil {
			return s.finishTruncated(err)
		}
		if n < 0 {
			break // unterminated: the document is truncated here
		}
		s.pos += n
		s.textStart = s.pos
		if s.root != nil && len(s.open) == 0 {
			return s.done(), nil
		}
	}
	return s.finishTruncated(nil)
}

func (s *scanner) done() scanResult {
	return scanResult{root: s.root, items: s.items, leftOut: s.leftOut, after: s.doc[s.pos:], defects: s.defects}
}

// isLiteral reports whether the '<' that starts rest is text.
func (s *scanner) isLiteral(rest []byte) bool {
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
	// A tag in which another tag starts is text, unless its name is registered.
	if n := bytes.IndexAny(rest[1:min(len(rest), maxLookahead)], "<>\"'"); n < 0 || rest[1+n] != '<' {
		return false
	}
	lower := strings.ToLower(string(name))
	return len(s.open) > 0 && !isHTMLElement(name) && !isField(lower) && !isContainer(lower) && !s.isItem(lower)
}

// markup parses the markup that rest starts with and returns its length, or -1 if it is unterminated.
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

// text adds the text between textStart and end. Text between the fields of an item or of the channel is
// ignored.
func (s *scanner) text(end int) *Error {
	raw := s.doc[s.textStart:end]
	if len(raw) == 0 || len(s.open) == 0 {
		return nil
	}
	top := s.open[len(s.open)-1]
	if top == s.item || isContainer(top.name) {
		// An HTML parser has rewritten the document and treated link as an empty element.
		if link := top.last; link == nil || link.name != "link" || link.first != nil || !bytes.HasPrefix(bytes.TrimLeft(raw, space), []byte("http")) {
			return nil
		}
		top = top.last
		s.defects |= neverClosed
	}
	s.defects |= checkReferences(raw)
	return s.addText(top, textNode, raw)
}

// addText adds a piece of text to an element.
func (s *scanner) addText(to *node, kind nodeKind, raw []byte) *Error {
	s.texts++
	if s.texts > maxElements {
		return failed(TooLarge, "the document has too many pieces of text")
	}
	n := s.new()
	n.kind, n.raw = kind, raw[:min(len(raw), maxText)]
	to.add(n)
	return nil
}

// new returns a node. Nodes are allocated in batches.
func (s *scanner) new() *node {
	if len(s.nodes) == 0 {
		s.nodes = make([]node, 256)
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	return n
}

// startTag parses a start tag and opens its element.
func (s *scanner) startTag(rest []byte) (int, *Error) {
	raw := tagName(rest[1:])
	if len(s.attrs) < 32 {
		s.attrs = make([]attribute, 256)
	}
	t := tag{doc: rest, pos: 1 + len(raw), attrs: s.attrs[:0]}
	if !t.attributes() {
		return -1, nil
	}
	s.defects |= t.defects
	n := s.new()
	n.raw, n.attrs, n.scope = raw, t.attrs[:len(t.attrs):len(t.attrs)], len(s.bindings)
	s.attrs = s.attrs[min(len(t.attrs), len(s.attrs)):]
	s.bind(n.attrs, isContainerName(raw))
	n.name = s.name(raw)

	isItem := s.isItem(n.name)
	if isItem && t.selfClosing {
		s.bindings = s.bindings[:n.scope]
		return t.pos, nil // an empty item, not the end of the surrounding item
	}
	if isItem && len(s.items) == maxItems {
		return s.stopAtMaxItems(), nil
	}
	if s.closeImplied(n, isItem, rest[t.pos:]) {
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
	return t.pos, s.checkBudget(t.count)
}

// attach adds an element to the tree. Items are not linked as children, so that a search for a field of the
// channel does not iterate over all items.
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

// checkBudget counts an element with that many attributes and returns an error if the document exceeds a
// limit.
func (s *scanner) checkBudget(attributes int) *Error {
	s.elements++
	s.bound += len(s.bindings)
	switch {
	case len(s.open) > maxDepth:
		return failed(TooDeep, "elements are nested more than %d levels deep", maxDepth)
	case attributes > maxAttributes:
		return failed(TooLarge, "an element has more than %d attributes", maxAttributes)
	case len(s.bindings) > maxNamespaces:
		return failed(TooLarge, "more than %d namespaces are in scope", maxNamespaces)
	case s.elements > maxElements || s.bound > maxBindings:
		return failed(TooLarge, "the document has too many elements")
	}
	return nil
}

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
