package feed

import (
	"slices"
	"strings"
)

// author returns who wrote an item, several joined: those it names, else, in
// Atom, those of the feed it was taken from or of this one.
//
// Source: RFC 4287, section 4.2.1.
func (r *reader) author(item *node) string {
	for _, name := range []string{"author", "dc:author", "dc:creator", "itunes:author", "atom:author"} {
		if s := people(item, name); s != "" {
			return s
		}
	}
	if r.format != atom {
		return ""
	}
	if n := item.child("source"); n != nil {
		if s := people(n, "author"); s != "" {
			return s
		}
	}
	return people(r.heads[0], "author")
}

// people joins the people that children of that name tell of.
func people(n *node, name string) string {
	var names []string
	for c := n.first; c != nil; c = c.next {
		if c.name == name {
			names = append(names, person(c))
		}
	}
	return join(names)
}

// person returns the name of somebody, or their address.
func person(n *node) string {
	if !n.hasElements() {
		return nameOf(n.value())
	}
	if s := n.say("name", "atom:name", "email", "atom:email"); s != "" {
		return s
	}
	for c := n.first; c != nil; c = c.next {
		if c.kind == tagNode && !inHTML(c.raw) {
			return "" // an address of their pages
		}
	}
	return n.value()
}

// nameOf returns the name in what RSS has for an author: an address with a
// name in parentheses, the other way round, or one of them.
func nameOf(s string) string {
	s = clip(s, maxAuthor)
	before, inside, ok := strings.Cut(s, " (")
	inside, closed := strings.CutSuffix(inside, ")")
	switch {
	case !ok || !closed || strings.ContainsAny(inside, "()"):
		return s
	case strings.Contains(before, "@") && !strings.Contains(inside, "@"):
		return strings.TrimSpace(inside)
	case strings.Contains(inside, "@") && !strings.Contains(before, "@"):
		return strings.TrimSpace(before)
	}
	return s
}

// join returns the different names among these, at most maxTags of them.
func join(all []string) string {
	var names []string
	for _, name := range all[:min(len(all), maxTags)] {
		if name = clip(name, maxAuthor); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return clip(strings.Join(names, ", "), maxAuthor)
}
