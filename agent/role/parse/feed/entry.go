package feed

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/agent/role/parse/feed/encoding"
)

// An Entry is one entry of a feed as the publisher wrote it. All strings are valid UTF-8 without control
// characters and within the limits of this package. Addresses are absolute http or https URLs, unless neither
// the document nor its address provides a base.
type Entry struct {
	Key        string      // identifies the entry among those of its feed, over time
	Hash       string      // of all parts whose change a reader would notice
	GUID       string      // as written; "" if it is too long
	Link       string      // "" if missing
	Title      string      // may contain markup and entities
	HTML       string      // the content, or the summary if there is no content
	Summary    string      // HTML; only if different from the content
	Author     string      // names or addresses, joined by ", "
	Published  time.Time   // zero if missing or unreadable
	Updated    time.Time   // zero if missing or unreadable
	Dated      string      // the published date as written, "" if missing; separates missing from unreadable dates
	Image      string      // the image that the feed names for the entry, not an image of its HTML
	Enclosures []Enclosure // at most 20, with different addresses
	Comments   string      // address of the discussion
	Source     string      // title of the feed that the entry was taken from
	Language   string      // as written; "" if the entry has none of its own
	Tags       []string
}

// empty reports whether an entry has no content at all.
func (e *Entry) empty() bool {
	return e.GUID == "" && e.Link == "" && e.Title == "" && e.HTML == "" && e.Dated == "" && e.Updated.IsZero() &&
		e.Image == "" && len(e.Enclosures) == 0 && e.Comments == "" && e.Author == "" && e.Source == "" && len(e.Tags) == 0
}

// clip returns s without surrounding white space, as valid UTF-8 without control characters, truncated to
// limit bytes.
func clip(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = strings.Clone(s[:limit]) // releases the memory of the rest
	}
	if !utf8.ValidString(s) { // much cheaper than ToValidUTF8
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if len(s) > limit {
		return clip(s, limit) // U+FFFD is longer than the bytes it replaces
	}
	return encoding.WithoutControls(s)
}

// boundedAddress returns s, or "" if it exceeds maxAddress.
func boundedAddress(s string) string {
	if len(s) > maxAddress && len(strings.TrimSpace(s)) > maxAddress {
		return ""
	}
	return clip(s, maxAddress)
}

// tags returns the first maxTags different tags of a list.
func tags(all []string) []string {
	var kept []string
	for _, tag := range all {
		tag = clip(tag, maxTag)
		if tag != "" && !slices.Contains(kept, tag) {
			kept = append(kept, tag)
		}
		if len(kept) == maxTags {
			break
		}
	}
	return kept
}

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
