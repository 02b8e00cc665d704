package feed

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxCompared bounds the items whose dates are compared, half of them at each end of the document: most
	// documents of more items are in the order of their dates.
	maxCompared = 100_000

	// maxCounted bounds the items of a JSON document. One with more is rejected, like one with too many values.
	maxCounted = 1_000_000
)

// A span is the range of an item in a document.
type span struct{ from, to int }

// newestItems returns an XML document with its newest maxItems items only, in their order, and the number of
// items left out. It finds items and dates without parsing anything else.
func newestItems(doc []byte, f format) (_ []byte, leftOut int) {
	name := "item"
	if f == atom {
		name = "entry"
	}
	n := bytes.Count(doc, []byte("<"+name))
	if n <= maxItems {
		return doc, 0
	}
	items := make([]span, 0, n)
	for from := range itemTags(doc, name) {
		if last := len(items) - 1; last >= 0 {
			items[last].to = from
		}
		items = append(items, span{from, len(doc)})
	}
	if len(items) <= maxItems {
		return doc, 0
	}
	last := &items[len(items)-1]
	if end := indexFold(doc[last.from:], "</", []byte(name+">")); end >= 0 {
		last.to = last.from + end + len("</>") + len(name)
	}
	return keepNewest(doc, items, xmlDate, "")
}

// itemTags yields the offsets of start tags of a name. It skips CDATA sections and comments.
func itemTags(doc []byte, name string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		skipped := [...]struct {
			start, end string
			next       int // offset of the next start; the length of the document if there is none
		}{{"<![CDATA[", "]]>", notSearched}, {"<!--", "-->", notSearched}}
	tags:
		for pos := 0; ; {
			at := indexFrom(doc, "<"+name, pos)
			for i := range skipped {
				s := &skipped[i]
				if s.next < pos {
					s.next = indexFrom(doc, s.start, pos)
				}
				if s.next >= at {
					continue
				}
				if end := indexFrom(doc, s.end, s.next); end < len(doc) {
					pos = end + len(s.end)
					continue tags
				}
				s.next = len(doc) // it has no end: its text counts
			}
			if at == len(doc) {
				return
			}
			pos = at + 1 + len(name)
			if pos < len(doc) && strings.IndexByte(space+"/>", doc[pos]) >= 0 && !yield(at) {
				return
			}
		}
	}
}

// indexFrom returns the offset of the first occurrence at or after from, or len(b).
func indexFrom(b []byte, what string, from int) int {
	if i := bytes.Index(b[from:], []byte(what)); i >= 0 {
		return from + i
	}
	return len(b)
}

// newestJSONItems is [newestItems] for a JSON Feed.
func newestJSONItems(doc []byte) (_ []byte, leftOut int) {
	if n := bytes.Count(doc, []byte("{")); n <= maxItems || n > maxCounted {
		return doc, 0
	}
	start := itemsArray(doc)
	if start < 0 {
		return doc, 0
	}
	var items []span
	depth, from := 0, 0
	for pos := start; pos < len(doc); pos++ {
		switch doc[pos] {
		case '"':
			pos = stringEnd(doc, pos)
		case '{', '[':
			if depth == 0 {
				from = pos
			}
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				items = append(items, span{from, pos + 1})
			}
			if depth < 0 {
				pos = len(doc) // the end of the array
			}
		}
	}
	if len(items) <= maxItems {
		return doc, 0
	}
	return keepNewest(doc, items, jsonDate, ",")
}

// itemsArray returns the offset after the bracket that opens the array of items, or -1.
func itemsArray(doc []byte) int {
	const key = `"items"`
	for pos := 0; ; {
		pos = indexFrom(doc, key, pos) + len(key)
		if pos >= len(doc) {
			return -1
		}
		rest := bytes.TrimLeft(doc[pos:], space)
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		if rest = bytes.TrimLeft(rest[1:], space); len(rest) > 0 && rest[0] == '[' {
			return len(doc) - len(rest) + 1
		}
	}
}

// stringEnd returns the offset of the quote that ends the string at pos, or the length of the document.
func stringEnd(doc []byte, pos int) int {
	for i := pos + 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(doc)
}

// A datedItem is an item with its date in Unix seconds; without a date it is older than all others.
type datedItem struct {
	span
	at int64
}

// keepNewest returns a document without all but its newest items, and the number of items left out. Items
// without a date are the oldest. Of items with equal dates the first are kept.
func keepNewest(doc []byte, items []span, dateOf func(item []byte) string, separator string) ([]byte, int) {
	all := len(items)
	compared := make([]datedItem, 0, min(all, maxCompared))
	for i, it := range items {
		if i < maxCompared/2 || i >= all-maxCompared/2 {
			compared = append(compared, datedItem{it, parseDate(dateOf(doc[it.from:it.to]), "").Unix()})
		}
	}
	slices.SortFunc(compared, func(a, b datedItem) int { return cmp.Or(cmp.Compare(b.at, a.at), a.from-b.from) })
	kept := compared[:maxItems]
	slices.SortFunc(kept, func(a, b datedItem) int { return a.from - b.from })
	size := items[0].from + len(doc) - items[all-1].to
	for _, it := range kept {
		size += it.to - it.from + len(separator)
	}
	out := append(make([]byte, 0, size), doc[:items[0].from]...)
	for k, it := range kept {
		if k > 0 {
			out = append(out, separator...)
		}
		out = append(out, doc[it.from:it.to]...)
	}
	return append(out, doc[items[all-1].to:]...), all - maxItems
}

// xmlDate returns the date of an item as written, or "".
func xmlDate(item []byte) string {
	for _, tag := range []string{"<pubDate", "<published", "<dc:date", "<updated"} {
		_, rest, found := bytes.Cut(item, []byte(tag))
		if !found {
			continue
		}
		_, rest, _ = bytes.Cut(rest[:min(len(rest), 2*maxDated)], []byte(">"))
		rest = bytes.TrimPrefix(bytes.TrimLeft(rest, space), []byte("<![CDATA["))
		if end := bytes.IndexAny(rest, "<]"); end >= 0 {
			return string(bytes.TrimSpace(rest[:end]))
		}
	}
	return ""
}

// jsonDate returns the date of an item as written, or "".
func jsonDate(item []byte) string {
	for _, key := range []string{`"date_published"`, `"date_modified"`} {
		_, rest, found := bytes.Cut(item, []byte(key))
		if !found {
			continue
		}
		_, rest, _ = bytes.Cut(rest[:min(len(rest), 2*maxDated)], []byte(`"`))
		if end := bytes.IndexByte(rest, '"'); end >= 0 {
			return string(rest[:end])
		}
	}
	return ""
}

// leftOutText describes in words for users how many items were left out because there are newer ones, and
// because the document exceeds other limits; "" for none. [subjects.SplitMalformed] recognizes it; it has no comma.
func leftOutText(kept, older, beyond int) string {
	reason := "the document is too large"
	switch {
	case older+beyond == 0:
		return ""
	case beyond == 0:
		reason = fmt.Sprintf("the newest %d are kept", kept)
	}
	return fmt.Sprintf("%d of its %d entries were left out: %s", older+beyond, kept+older+beyond, reason)
}
