package feed

import "bytes"

// endTag closes the element that the end tag names, if it is open.
func (s *scanner) endTag(rest []byte) (int, *Error) {
	n := bytes.IndexAny(rest[2:], "<>")
	if n < 0 {
		return -1, nil
	}
	n += 2
	if rest[n] == '>' {
		n++
	} else {
		s.defects |= badAttributes // its '>' is missing
	}
	name := tagName(bytes.TrimLeft(rest[2:n], space))
	i := s.findOpen(name)
	if i < 0 {
		s.defects |= strayEnds
		if s.strays++; s.strays > maxStrayEndTags {
			return 0, failed(Broken, "the document has more than %d end tags without a start tag", maxStrayEndTags)
		}
		return n, nil
	}
	if i == 0 && s.itemFollows(rest[n:]) {
		s.defects |= outsideChannel
		return n, nil
	}
	s.open[i].closed = true
	s.closeAll(i)
	return n, nil
}

// findOpen returns the index in the stack of open elements of the element that an end tag closes, or -1.
// Names are compared without case. The prefix is ignored only if the innermost element matches.
func (s *scanner) findOpen(name []byte) int {
	for i := len(s.open) - 1; i >= 0; i-- {
		if bytes.EqualFold(s.open[i].raw, name) {
			return i
		}
	}
	if top := len(s.open) - 1; top > 0 && bytes.EqualFold(local(s.open[top].raw), local(name)) {
		return top
	}
	return -1
}

// closeAll closes the elements of the stack from i.
func (s *scanner) closeAll(i int) {
	for _, n := range s.open[i:] {
		if !n.closed {
			s.defects |= neverClosed
		}
		if n == s.item {
			s.item = nil
		}
	}
	s.bindings = s.bindings[:s.open[i].scope]
	s.open = s.open[:i]
}

// itemFollows reports whether the feed continues with an item after the end of its root.
func (s *scanner) itemFollows(rest []byte) bool {
	rest = bytes.TrimLeft(rest, space)
	return len(rest) > 1 && rest[0] == '<' && s.isItem(s.name(tagName(rest[1:])))
}

// finishTruncated returns the complete part of a document that ends at pos or was rejected there.
func (s *scanner) finishTruncated(refused *Error) (scanResult, error) {
	if refused != nil && refused.Kind == TooDeep {
		return scanResult{}, refused
	}
	switch {
	case s.item == nil:
	case refused == nil && s.lastItemComplete():
	case len(s.items) > 1 || refused != nil:
		s.items = s.items[:len(s.items)-1]
	case s.open[len(s.open)-1] != s.item:
		s.item.dropLast() // its last part is incomplete
	}
	switch {
	case len(s.items) == 0 && refused != nil:
		return scanResult{}, refused
	case len(s.items) == 0:
		return scanResult{}, failed(Broken, "the document ends before its first item")
	}
	if refused != nil { // the item that exceeds the limit, and those after it
		s.leftOut = 1 + s.countItems(s.pos)
	}
	s.defects |= cutOff
	s.pos = len(s.doc)
	return s.done(), nil
}

// stopAtMaxItems ends the document because the limit of items is reached.
func (s *scanner) stopAtMaxItems() int {
	for _, n := range s.open {
		n.closed = true
	}
	s.closeAll(0)
	s.leftOut = s.countItems(s.pos)
	s.pos = len(s.doc)
	return 0
}

// countItems returns the number of items that start at pos or after it.
func (s *scanner) countItems(pos int) (n int) {
	for range itemTags(s.doc[pos:], string(s.items[0].raw)) {
		n++
	}
	return n
}

// lastItemComplete reports whether the item that is open at the end of the document lacks its end tag only:
// it ends after the same field as the item before it.
func (s *scanner) lastItemComplete() bool {
	if s.pos < len(s.doc) || s.open[len(s.open)-1] != s.item || len(bytes.Trim(s.doc[s.textStart:], space)) > 0 {
		return false
	}
	if len(s.items) == 1 {
		return true
	}
	last, before := s.item.last, s.items[len(s.items)-2].last
	return last != nil && before != nil && last.name == before.name
}
