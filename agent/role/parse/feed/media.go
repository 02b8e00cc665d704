package feed

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// An Enclosure is a file attached to an entry. It is an alias of an unnamed type, so that entries can be
// converted to types of other packages.
type Enclosure = struct {
	URL    string // absolute
	Type   string // as written: a MIME type, or only image, audio or video; "" if unknown
	Length int64  // in bytes; 0 if unknown
}

// setMedia sets the enclosures and the image of an item.
func (r *builder) setMedia(e *Entry, item *node) {
	var thumbnail string
	for c := range inMedia(item) {
		switch c.name {
		case "enclosure":
			addEnclosure(e, r.resolve(c, cmp.Or(c.attr("url"), c.attr("href"))), c.attr("type"), c.attr("length"))
		case "media:content":
			addEnclosure(e, r.resolve(c, c.attr("url")), cmp.Or(c.attr("type"), c.attr("medium")), c.attr("fileSize"))
		case "link", "atom:link":
			if strings.EqualFold(c.attr("rel"), "enclosure") {
				addEnclosure(e, r.resolve(c, cmp.Or(c.attr("href"), c.value())), c.attr("type"), c.attr("length"))
			}
		case "itunes:image":
			e.Image = cmp.Or(r.resolve(c, cmp.Or(c.attr("href"), c.attr("url"), c.value())), e.Image)
		case "media:thumbnail":
			thumbnail = cmp.Or(thumbnail, r.resolve(c, cmp.Or(c.attr("url"), c.value())))
		case "image":
			thumbnail = cmp.Or(thumbnail, r.resolve(c, cmp.Or(c.childText("url"), c.attr("href"))))
		}
	}
	for _, f := range e.Enclosures {
		if e.Image == "" && strings.HasPrefix(f.Type, "image") {
			e.Image = f.URL
		}
	}
	e.Image = cmp.Or(e.Image, thumbnail)
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

// mediaText returns the Media RSS description of an item, as HTML.
func (r *builder) mediaText(item *node) string {
	for c := range inMedia(item) {
		if c.name != "media:description" {
			continue
		}
		if s := c.value(); s != "" && strings.EqualFold(c.attr("type"), "html") {
			return s
		} else if s != "" {
			return plain(s)
		}
	}
	return ""
}
