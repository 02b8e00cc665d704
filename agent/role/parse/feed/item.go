package feed

import (
	"cmp"
	"strings"
	"time"

	"feedmesh/agent/role/parse/feed/date"
	"feedmesh/classify/text/picture"
)

// entry returns an item as an entry without a key. The format's own elements precede those of modules.
func (r *builder) entry(item *node, language string) Entry {
	e := Entry{
		GUID:     boundedAddress(item.childText("guid", "id", "atom:id")),
		Title:    clip(r.html(item, "title", "dc:title", "atom:title", "media:title", "itunes:title"), maxTitle),
		Author:   r.author(item),
		Tags:     tags(categories(item)),
		Language: clip(cmp.Or(item.childText("dc:language", "language"), item.attr("xml:lang")), maxTag),
		Source:   clip(source(item), maxTitle),
	}
	r.setContent(&e, item)
	written := r.setLinks(&e, item)
	r.setMedia(&e, item)
	r.setDates(&e, item, cmp.Or(e.Language, language))
	hashed := e
	hashed.Link = written // so that the hash does not depend on the document's address
	e.Hash = contentHash(hashed)
	return e
}

// setContent sets the content, and the summary if the item has both.
func (r *builder) setContent(e *Entry, item *node) {
	content := r.content(item, "content:encoded", "content", "atom:content", "encoded", "html:body", "body")
	summary := r.content(item, "description", "summary", "dc:description", "itunes:summary", "atom:summary")
	if content == "" && summary == "" {
		content = clip(r.mediaText(item), maxHTML)
	}
	if content == "" && summary == "" {
		summary = r.html(item, "itunes:subtitle")
	}
	e.HTML = strings.TrimSpace(content) // clipping may leave white space at the end
	switch {
	case content == "":
		e.HTML = strings.TrimSpace(summary)
	case summary != content:
		e.Summary = clip(summary, maxSummary)
	}
}

// html returns the first text under one of these names as HTML, clipped to maxHTML. It resolves addresses if
// an xml:base is in scope.
func (r *builder) html(item *node, names ...string) string {
	return r.firstHTML(item, (*node).body, names)
}

// content is [builder.html] for elements whose HTML may be escaped twice.
func (r *builder) content(item *node, names ...string) string {
	return r.firstHTML(item, (*node).content, names)
}

func (r *builder) firstHTML(item *node, body func(*node) string, names []string) string {
	for _, name := range names {
		for c := item.first; c != nil; c = c.next {
			if c.name != name {
				continue
			}
			s := clip(body(c), maxHTML)
			if base := c.base(r.documentURL); base != nil {
				s = clip(r.resolveHTML(base, s), maxHTML)
			}
			if s != "" {
				return s
			}
		}
	}
	return ""
}

// setLinks sets the entry's address and that of its discussion, and returns the former as written.
func (r *builder) setLinks(e *Entry, item *node) (written string) {
	written = item.childText("feedburner:origlink")
	e.Link = r.resolve(item, written)
	if e.Link == "" {
		written, e.Link = r.link(item, "alternate")
	}
	if e.Link == "" && isPermalink(item, e.GUID) {
		written, e.Link = e.GUID, r.resolve(item, e.GUID)
	}
	if e.Link == "" {
		written, e.Link = r.link(item, "self")
	}
	for _, other := range []string{contentSource(item), item.attr("rdf:about"), e.GUID} {
		if e.Link == "" && strings.HasPrefix(other, "http") {
			written, e.Link = other, r.resolve(item, other)
		}
	}
	if e.Comments = r.resolve(item, item.childText("comments")); e.Comments == "" {
		_, e.Comments = r.link(item, "replies")
	}
	return written
}

// isPermalink reports whether an item's GUID is its address: by its isPermaLink attribute, or without one by
// its form.
func isPermalink(item *node, guid string) bool {
	n := item.child("guid")
	if n == nil || guid == "" {
		return false
	}
	value := strings.ToLower(n.attr("isPermaLink"))
	return value == "true" || value != "false" && strings.HasPrefix(guid, "http")
}

// contentSource returns the address of an Atom entry's external content, or "".
func contentSource(item *node) string {
	if c := item.child("content"); c != nil {
		return c.attr("src")
	}
	return ""
}

// setDates sets the first readable date of each kind.
func (r *builder) setDates(e *Entry, item *node, language string) {
	for _, name := range []string{"pubdate", "published", "dc:date", "atom:published", "dcterms:issued", "dcterms:created", "issued", "created", "date", "dcterms:date"} {
		text := item.childText(name)
		e.Dated = cmp.Or(e.Dated, clip(text, maxDated))
		if e.Published = parseDate(text, language); !e.Published.IsZero() {
			break
		}
	}
	updated := ""
	for _, name := range []string{"updated", "atom:updated", "dcterms:modified", "modified", "dc:date"} {
		text := item.childText(name)
		updated = cmp.Or(updated, text)
		if e.Updated = parseDate(text, language); !e.Updated.IsZero() {
			break
		}
	}
	if dated := cmp.Or(e.Dated, updated); dated != "" {
		r.dates = append(r.dates, dated)
	}
}

// parseDate returns the time of a date in UTC, or the zero time if it is unreadable. Years outside the range
// of JSON and SQL are rejected.
func parseDate(s, language string) time.Time {
	if s == "" || len(s) > maxDated {
		return time.Time{}
	}
	t, ok := date.Parse(s, language)
	if t = t.UTC(); !ok || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// categories returns the categories and keywords of an item, or those of its media if it has none.
func categories(item *node) []string {
	var all []string
	for c := item.first; c != nil; c = c.next {
		switch c.name {
		case "category", "atom:category":
			all = append(all, cmp.Or(c.attr("label"), c.attr("term"), c.value(), c.attr("text")))
		case "dc:subject":
			all = append(all, c.value())
		case "itunes:keywords":
			all = append(all, strings.Split(c.value(), ",")...)
		}
	}
	if len(all) > 0 {
		return all
	}
	for c := range inMedia(item) {
		switch c.name {
		case "media:category":
			all = append(all, cmp.Or(c.attr("label"), c.value()))
		case "media:keywords":
			all = append(all, strings.Split(c.value(), ",")...)
		}
	}
	return all
}

// source returns the title of the feed that an item was taken from, or "".
func source(item *node) string {
	n := item.child("source", "atom:source")
	if n == nil {
		return ""
	}
	if n.hasElements() {
		return n.childText("title", "atom:title")
	}
	return n.value()
}

// setMedia sets the enclosures and the image of an item.
func (r *builder) setMedia(e *Entry, item *node) {
	var thumbnail string
	for c := range inMedia(item) {
		switch c.name {
		case "enclosure":
			addEnclosure(e, r.resolve(c, cmp.Or(c.attr("url"), c.attr("href"))), c.attr("type"), c.attr("length"))
		case "media:content":
			if picture.IsAvatar(c.attr("url")) { // WordPress.com lists the author before the item's pictures
				continue
			}
			addEnclosure(e, r.resolve(c, c.attr("url")), cmp.Or(c.attr("type"), c.attr("medium")), c.attr("fileSize"))
		case "link", "atom:link":
			if strings.EqualFold(c.attr("rel"), "enclosure") {
				addEnclosure(e, r.resolve(c, cmp.Or(c.attr("href"), c.value())), c.attr("type"), c.attr("length"))
			}
		case "itunes:image":
			e.Image = cmp.Or(r.resolve(c, cmp.Or(c.attr("href"), c.attr("url"), c.value())), e.Image)
		case "media:thumbnail":
			if address := r.resolve(c, cmp.Or(c.attr("url"), c.value())); !picture.IsAvatar(address) {
				thumbnail = cmp.Or(thumbnail, address)
			}
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

// author returns the authors of an item, joined: its own, else, in Atom, those of the feed it was taken from
// or of this feed.
//
// Source: RFC 4287, section 4.2.1.
func (r *builder) author(item *node) string {
	for _, name := range []string{"author", "dc:author", "dc:creator", "itunes:author", "atom:author"} {
		if s := authorNames(item, name); s != "" {
			return s
		}
	}
	if r.format != atom {
		return ""
	}
	if n := item.child("source"); n != nil {
		if s := authorNames(n, "author"); s != "" {
			return s
		}
	}
	return authorNames(r.heads[0], "author")
}
