package feed

import (
	"bytes"
	"net/url"
	"strings"
)

// A nodeKind is the kind of a node.
type nodeKind uint8

const (
	tagNode   nodeKind = iota
	textNode           // contains references
	cdataNode          // without references
)

// A node is an element or a piece of text of a document.
type node struct {
	kind   nodeKind
	closed bool   // by an end tag of its own
	name   string // of an element, as in "title" or "dc:date"; see [scanner.name]
	raw    []byte // the name or the text as written
	attrs  []attribute
	scope  int // number of namespaces bound outside

	parent, first, last, next *node
}

// An attribute is an attribute as written, with unresolved references in its value.
type attribute struct{ name, value []byte }

// add appends c to the children of n.
func (n *node) add(c *node) {
	c.parent = n
	if n.last == nil {
		n.first = c
	} else {
		n.last.next = c
	}
	n.last = c
}

// dropLast removes the last child of n.
func (n *node) dropLast() {
	if n.first == n.last {
		n.first, n.last = nil, nil
		return
	}
	c := n.first
	for c.next != n.last {
		c = c.next
	}
	c.next, n.last = nil, c
}

// attr returns an attribute's value, "" if absent. It ignores the case of the name: publishers write
// isPermalink.
func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if len(a.name) == len(name) && strings.EqualFold(string(a.name), name) {
			return strings.TrimSpace(unescape(a.value))
		}
	}
	return ""
}

// child returns the first child with the first of these names that occurs, or nil.
func (n *node) child(names ...string) *node {
	for _, name := range names {
		for c := n.first; c != nil; c = c.next {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// childText returns the first text of a child with one of these names, in the order of the names.
func (n *node) childText(names ...string) string {
	for _, name := range names {
		for c := n.first; c != nil; c = c.next {
			if c.name != name {
				continue
			}
			if s := c.value(); s != "" {
				return s
			}
		}
	}
	return ""
}

// hasContent reports whether an element contains text or attributes.
func (n *node) hasContent() bool {
	for c := n.first; c != nil; c = c.next {
		if c.kind == tagNode && (len(c.attrs) > 0 || c.hasContent()) || c.kind != tagNode && len(bytes.TrimSpace(c.raw)) > 0 {
			return true
		}
	}
	return false
}

// base returns the base of relative addresses in n by xml:base, or nil if none is in scope. xml:base may
// itself be relative to the address of the document.
func (n *node) base(document *url.URL) *url.URL {
	if n == nil {
		return nil
	}
	outer := n.parent.base(document)
	own := n.attr("xml:base")
	if own == "" {
		return outer
	}
	if outer == nil {
		outer = document
	}
	if u, err := url.Parse(resolve(outer, own)); err == nil && u.Host != "" {
		return u
	}
	return outer
}
