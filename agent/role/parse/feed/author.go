package feed

import (
	"slices"
	"strings"
)

// authorNames joins the authors in children of that name.
func authorNames(n *node, name string) string {
	var names []string
	for c := n.first; c != nil; c = c.next {
		if c.name == name {
			names = append(names, authorName(c))
		}
	}
	return joinNames(names)
}

// authorName returns the name of a person, or their address.
func authorName(n *node) string {
	if !n.hasElements() {
		return rssAuthorName(n.value())
	}
	if s := n.childText("name", "atom:name", "email", "atom:email"); s != "" {
		return s
	}
	for c := n.first; c != nil; c = c.next {
		if c.kind == tagNode && !isHTMLElement(c.raw) {
			return "" // only the address of a home page
		}
	}
	return n.value()
}

// rssAuthorName returns the name in an RSS author: an address with a name in parentheses, the reverse, or
// only one of them.
func rssAuthorName(s string) string {
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

// joinNames joins the different names of a list, at most maxTags.
func joinNames(all []string) string {
	var names []string
	for _, name := range all[:min(len(all), maxTags)] {
		if name = clip(name, maxAuthor); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return clip(strings.Join(names, ", "), maxAuthor)
}
