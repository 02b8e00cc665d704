package feed

import (
	"bytes"
	"strings"
)

// maxLookahead bounds the bytes after a start tag that are searched to decide whether it is one.
const maxLookahead = 4 << 10

// isItem reports whether an element of that name at this position is an item of the feed. Item names of the
// other format count only in a container.
func (s *scanner) isItem(name string) bool {
	switch {
	case name == "item" && s.format == rss, name == "entry" && s.format == atom:
		return s.item == nil || !isForeign(s.open[len(s.open)-1].name)
	case name == "item", name == "entry", name == "atom:entry":
		return len(s.open) > 0 && isContainer(s.open[len(s.open)-1].name)
	}
	return false
}

// isForeign reports whether a name belongs to an unregistered vocabulary. Such elements may contain items of
// their own, as in Simple Sharing Extensions.
func isForeign(name string) bool {
	prefix, _, ok := strings.Cut(name, ":")
	_, registered := prefixes[prefix]
	return ok && !registered
}

// isContainer reports whether elements of that name contain items.
func isContainer(name string) bool {
	switch name {
	case "channel", "rss", "rdf:rdf", "rdf", "feed", "atom:feed":
		return true
	}
	return false
}

// isContainerName is isContainer for a name as written.
func isContainerName(raw []byte) bool { return isContainer(strings.ToLower(string(local(raw)))) }

// closeImplied closes open elements that cannot contain n, whose start tag was just read: an item belongs to
// the channel, and a field to the item, not to a field whose end tag is missing. rest follows the start tag.
// It reports whether it closed any element.
func (s *scanner) closeImplied(n *node, isItem bool, rest []byte) bool {
	from := len(s.open)
	if isItem {
		for from > 1 && !isContainer(s.open[from-1].name) {
			from--
		}
	} else if i := s.openField(); i > 0 && endTagMissing(s.open[i], n, rest) {
		from = i
	}
	if from == len(s.open) {
		return false
	}
	s.closeAll(from)
	return true
}

// openField returns the index of the open field in the stack, or 0.
func (s *scanner) openField() int {
	for i := 1; i < len(s.open) && i <= 4; i++ {
		if outer := s.open[i-1]; (outer == s.item || isContainer(outer.name)) && s.open[i] != s.item && !isContainer(s.open[i].name) {
			return i
		}
	}
	return 0
}

// endTagMissing reports whether the end tag of a field must be missing because n starts in it.
func endTagMissing(field, n *node, rest []byte) bool {
	prefixed := bytes.IndexByte(n.raw, ':') > 0
	window := rest[:min(len(rest), maxLookahead)]
	switch {
	case isLeafField(field.name):
		return prefixed || isField(n.name) || !isHTMLElement(n.raw)
	case !isField(n.name):
		return false
	case isShortField(field.name):
		// If the next end tag is the field's own, then n is in a text about markup.
		end := bytes.Index(window, []byte("</"))
		return end < 0 || !bytes.EqualFold(tagName(rest[end+2:]), field.raw)
	case isTextField(field.name) && !prefixed && isHTMLElement(n.raw):
		return (n.name == "title" || n.name == "link") && indexFold(window, "</", field.raw) < 0
	case isTextField(field.name):
		return !strings.Contains(field.attr("type"), "xml")
	}
	return false
}

// isLeafField reports whether a field of that name never contains elements.
func isLeafField(name string) bool {
	switch name {
	case "link", "guid", "id", "pubdate", "published", "updated", "issued", "modified", "lastbuilddate", "dc:date", "atom:link":
		return true
	}
	return false
}

// isShortField reports whether a field of that name contains a few words and no markup.
func isShortField(name string) bool {
	switch name {
	case "title", "link", "guid", "id", "pubdate", "comments", "category", "published", "updated", "issued", "modified",
		"lastbuilddate", "language", "ttl", "dc:date", "dc:creator", "dc:subject", "dc:title", "enclosure", "itunes:image", "atom:link":
		return true
	}
	return false
}

// isTextField reports whether a field of that name contains a text.
func isTextField(name string) bool {
	switch name {
	case "description", "summary", "content", "content:encoded", "subtitle", "itunes:summary":
		return true
	}
	return false
}

// isField reports whether elements of that name are fields of items or channels.
func isField(name string) bool {
	if isShortField(name) || isTextField(name) {
		return true
	}
	switch name {
	case "author", "source", "image":
		return true
	}
	prefix, _, ok := strings.Cut(name, ":")
	return ok && (prefix == "dc" || prefix == "itunes" || prefix == "media" || prefix == "slash" || prefix == "dcterms")
}

// isHTMLElement reports whether HTML defines elements of that name.
func isHTMLElement(raw []byte) bool { return htmlNames[strings.ToLower(string(local(raw)))] }

var htmlNames = func() map[string]bool {
	names := make(map[string]bool)
	for name := range strings.FieldsSeq(`a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button
		canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset
		figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins kbd
		label legend li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol optgroup option
		output p param picture plaintext pre progress q rp rt ruby s samp script section select slot small source span strike
		strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr`) {
		names[name] = true
	}
	return names
}()
