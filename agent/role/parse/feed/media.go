package feed

import (
	"slices"
	"strconv"
)

// An Enclosure is a file attached to an entry. It is an alias of an unnamed type, so that entries can be
// converted to types of other packages.
type Enclosure = struct {
	URL    string // absolute
	Type   string // as written: a MIME type, or only image, audio or video; "" if unknown
	Length int64  // in bytes; 0 if unknown
}

// inMedia yields the children of an item, of its media groups and of its media contents.
func inMedia(item *node) func(yield func(*node) bool) {
	return func(yield func(*node) bool) {
		var within func(n *node) bool
		within = func(n *node) bool {
			for c := n.first; c != nil; c = c.next {
				if !yield(c) || (c.name == "media:group" || c.name == "media:content") && !within(c) {
					return false
				}
			}
			return true
		}
		within(item)
	}
}

// addEnclosure adds a file to an entry, unless it is a duplicate or the list is full.
func addEnclosure(e *Entry, url, kind, length string) {
	same := func(f Enclosure) bool { return f.URL == url }
	if url == "" || len(e.Enclosures) == maxEnclosures || slices.ContainsFunc(e.Enclosures, same) {
		return
	}
	n, _ := strconv.ParseInt(length, 10, 64)
	e.Enclosures = append(e.Enclosures, Enclosure{URL: url, Type: clip(kind, maxTag), Length: max(n, 0)})
}
