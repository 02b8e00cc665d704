package feed

import "bytes"

// endTag closes the element it names, if that is open.
func (s *scanner) endTag(rest []byte) (int, *Error) {
	n := bytes.IndexAny(rest[2:], "<>")
	if n < 0 {
		return -1, nil
	}
	n += 2
	if rest[n] == '>' {
		n++
	} else {
		s.wrong |= badAttributes // its '>' is missing
	}
	name := tagName(bytes.TrimLeft(rest[2:n], space))
	i := s.opened(name)
	if i < 0 {
		s.wrong |= strayEnds
		if s.strays++; s.strays > maxStrays {
			return 0, failed(Broken, "the document has more than %d end tags of nothing", maxStrays)
		}
		return n, nil
	}
	if i == 0 && s.continues(rest[n:]) {
		s.wrong |= outsideChannel
		return n, nil
	}
	s.open[i].closed = true
	s.closeAll(i)
	return n, nil
}

// opened returns where in the stack of open elements the one is that an end tag
// means, or -1. The case of names does not count; the prefix only if the
// innermost element does not make it clear.
func (s *scanner) opened(name []byte) int {
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
			s.wrong |= neverClosed
		}
		if n == s.item {
			s.item = nil
		}
	}
	s.bindings = s.bindings[:s.open[i].scope]
	s.open = s.open[:i]
}

// continues reports whether the feed goes on behind the end of its root: with
// an item.
func (s *scanner) continues(rest []byte) bool {
	rest = bytes.TrimLeft(rest, space)
	return len(rest) > 1 && rest[0] == '<' && s.isItem(s.name(tagName(rest[1:])))
}

// cut returns what is complete of a document that ends at pos, or that was
// refused there.
func (s *scanner) cut(refused *Error) (scanned, error) {
	if refused != nil && refused.Kind == TooDeep {
		return scanned{}, refused
	}
	switch {
	case s.item == nil:
	case refused == nil && s.seemsWhole():
	case len(s.items) > 1 || refused != nil:
		s.items = s.items[:len(s.items)-1]
	case s.open[len(s.open)-1] != s.item:
		s.item.dropLast() // what is open in it is its last part
	}
	switch {
	case len(s.items) == 0 && refused != nil:
		return scanned{}, refused
	case len(s.items) == 0:
		return scanned{}, failed(Broken, "the document ends before its first item")
	}
	s.wrong |= cutOff
	s.pos = len(s.doc)
	return s.done(), nil
}

// full ends the document: there is no room for more items.
func (s *scanner) full() int {
	for _, n := range s.open {
		n.closed = true
	}
	s.closeAll(0)
	s.pos = len(s.doc)
	return 0
}

// seemsWhole reports whether of the item that is open at the end of the document
// only the end tag is missing: it ends behind a field, the one that the item
// before it ends with.
func (s *scanner) seemsWhole() bool {
	if s.pos < len(s.doc) || s.open[len(s.open)-1] != s.item || len(bytes.Trim(s.doc[s.mark:], space)) > 0 {
		return false
	}
	if len(s.items) == 1 {
		return true
	}
	last, before := s.item.last, s.items[len(s.items)-2].last
	return last != nil && before != nil && last.name == before.name
}
