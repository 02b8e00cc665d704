package feed

import (
	"bytes"
	"strings"
)

// maxWords is how far a start tag may be from what tells whether it is one.
const maxWords = 4 << 10

// isItem reports whether an element of that name here is an item of the feed.
// Those of the other format count where only items can be.
func (s *scanner) isItem(name string) bool {
	switch {
	case name == "item" && s.format == rss, name == "entry" && s.format == atom:
		return s.item == nil || !isForeign(s.open[len(s.open)-1].name)
	case name == "item", name == "entry", name == "atom:entry":
		return len(s.open) > 0 && isHolder(s.open[len(s.open)-1].name)
	}
	return false
}

// isForeign reports whether an element of that name is of a vocabulary that we
// do not know. It may have items of its own, as Simple Sharing Extensions do.
func isForeign(name string) bool {
	prefix, _, ok := strings.Cut(name, ":")
	_, known := prefixes[prefix]
	return ok && !known
}

// isHolder reports whether items are found in elements of that name.
func isHolder(name string) bool {
	switch name {
	case "channel", "rss", "rdf:rdf", "rdf", "feed", "atom:feed":
		return true
	}
	return false
}

// isHolderName is isHolder for a name as written.
func isHolderName(raw []byte) bool { return isHolder(strings.ToLower(string(local(raw)))) }

// makeRoom closes what an element that is about to start cannot be in: an item
// is in the channel, and a field in an item, not in a field before it, whose
// end tag is missing then. rest follows the start tag. It returns whether there
// was something to close.
func (s *scanner) makeRoom(n *node, isItem bool, rest []byte) bool {
	from := len(s.open)
	if isItem {
		for from > 1 && !isHolder(s.open[from-1].name) {
			from--
		}
	} else if i := s.field(); i > 0 && missesEnd(s.open[i], n, rest) {
		from = i
	}
	if from == len(s.open) {
		return false
	}
	s.closeAll(from)
	return true
}

// field returns where in the stack the field is that is open, or 0.
func (s *scanner) field() int {
	for i := 1; i < len(s.open) && i <= 4; i++ {
		if outer := s.open[i-1]; (outer == s.item || isHolder(outer.name)) && s.open[i] != s.item && !isHolder(s.open[i].name) {
			return i
		}
	}
	return 0
}

// missesEnd reports whether the end tag of a field must be missing, because n
// starts in it.
func missesEnd(field, n *node, rest []byte) bool {
	prefixed := bytes.IndexByte(n.raw, ':') > 0
	window := rest[:min(len(rest), maxWords)]
	switch {
	case holdsNone(field.name):
		return prefixed || isField(n.name) || !inHTML(n.raw)
	case !isField(n.name):
		return false
	case isWord(field.name):
		// Unless the next end tag is its own: then n is in a text about markup.
		end := bytes.Index(window, []byte("</"))
		return end < 0 || !bytes.EqualFold(tagName(rest[end+2:]), field.raw)
	case isText(field.name) && !prefixed && inHTML(n.raw):
		return (n.name == "title" || n.name == "link") && indexFold(window, "</", field.raw) < 0
	case isText(field.name):
		return !strings.Contains(field.attr("type"), "xml")
	}
	return false
}

// holdsNone reports whether a field of that name never has elements in it.
func holdsNone(name string) bool {
	switch name {
	case "link", "guid", "id", "pubdate", "published", "updated", "issued", "modified", "lastbuilddate", "dc:date", "atom:link":
		return true
	}
	return false
}

// isWord reports whether a field of that name holds a few words, and no markup.
func isWord(name string) bool {
	switch name {
	case "title", "link", "guid", "id", "pubdate", "comments", "category", "published", "updated", "issued", "modified",
		"lastbuilddate", "language", "ttl", "dc:date", "dc:creator", "dc:subject", "dc:title", "enclosure", "itunes:image", "atom:link":
		return true
	}
	return false
}

// isText reports whether a field of that name holds a text.
func isText(name string) bool {
	switch name {
	case "description", "summary", "content", "content:encoded", "subtitle", "itunes:summary":
		return true
	}
	return false
}

// isField reports whether elements of that name are fields of items or channels.
func isField(name string) bool {
	if isWord(name) || isText(name) {
		return true
	}
	switch name {
	case "author", "source", "image":
		return true
	}
	prefix, _, ok := strings.Cut(name, ":")
	return ok && (prefix == "dc" || prefix == "itunes" || prefix == "media" || prefix == "slash" || prefix == "dcterms")
}

// inHTML reports whether HTML has elements of that name.
func inHTML(raw []byte) bool { return htmlNames[strings.ToLower(string(local(raw)))] }

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
