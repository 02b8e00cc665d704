package feed

import (
	"cmp"
	"strings"
	"time"

	"feedmesh/agent/feed/date"
)

// entry returns an item as an entry without key. Where several elements say
// the same the format's own come first, then those of modules.
func (r *reader) entry(item *node, language string) Entry {
	e := Entry{
		GUID:     address(item.say("guid", "id", "atom:id")),
		Title:    clip(r.html(item, "title", "dc:title", "atom:title", "media:title", "itunes:title"), maxTitle),
		Author:   r.author(item),
		Tags:     tags(categories(item)),
		Language: clip(cmp.Or(item.say("dc:language", "language"), item.attr("xml:lang")), maxTag),
		Source:   clip(source(item), maxTitle),
	}
	r.texts(&e, item)
	written := r.links(&e, item)
	r.media(&e, item)
	r.moments(&e, item, cmp.Or(e.Language, language))
	hashed := e
	hashed.Link = written // so that it does not change with where the document came from
	e.Hash = contentHash(hashed)
	return e
}

// texts sets the content, and the summary if there is one besides.
func (r *reader) texts(e *Entry, item *node) {
	content := r.html(item, "content:encoded", "content", "atom:content", "encoded", "html:body", "body")
	summary := r.html(item, "description", "summary", "dc:description", "itunes:summary", "atom:summary")
	if content == "" && summary == "" {
		content = clip(r.mediaText(item), maxHTML)
	}
	e.HTML = strings.TrimSpace(content) // where it was clipped may be white space
	switch {
	case content == "":
		e.HTML = strings.TrimSpace(summary)
	case summary != content:
		e.Summary = clip(summary, maxSummary)
	}
}

// html returns the first text there is under one of these names, as HTML with
// its addresses resolved if an xml:base says from where. It is clipped to maxHTML.
func (r *reader) html(item *node, names ...string) string {
	for _, name := range names {
		for c := item.first; c != nil; c = c.next {
			if c.name != name {
				continue
			}
			s := clip(c.body(), maxHTML)
			if base := c.base(r.outer); base != nil {
				s = clip(r.resolveHTML(base, s), maxHTML)
			}
			if s != "" {
				return s
			}
		}
	}
	return ""
}

// links sets the entry's address and that of its discussion, and returns the
// former as written.
func (r *reader) links(e *Entry, item *node) (written string) {
	written = item.say("feedburner:origlink")
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
	if e.Comments = r.resolve(item, item.say("comments")); e.Comments == "" {
		_, e.Comments = r.link(item, "replies")
	}
	return written
}

// isPermalink reports whether an item's GUID is its address, by its word or
// because it looks so and nothing is said.
func isPermalink(item *node, guid string) bool {
	n := item.child("guid")
	if n == nil || guid == "" {
		return false
	}
	said := strings.ToLower(n.attr("isPermaLink"))
	return said == "true" || said != "false" && strings.HasPrefix(guid, "http")
}

// contentSource returns where the content of an Atom entry is, if it is not in it.
func contentSource(item *node) string {
	if c := item.child("content"); c != nil {
		return c.attr("src")
	}
	return ""
}

// moments sets the dates: the first of each kind that can be read.
func (r *reader) moments(e *Entry, item *node, language string) {
	for _, name := range []string{"pubdate", "published", "dc:date", "atom:published", "dcterms:issued", "dcterms:created", "issued", "created", "date", "dcterms:date"} {
		said := item.say(name)
		e.Dated = cmp.Or(e.Dated, clip(said, maxDated))
		if e.Published = moment(said, language); !e.Published.IsZero() {
			break
		}
	}
	updated := ""
	for _, name := range []string{"updated", "atom:updated", "dcterms:modified", "modified", "dc:date"} {
		said := item.say(name)
		updated = cmp.Or(updated, said)
		if e.Updated = moment(said, language); !e.Updated.IsZero() {
			break
		}
	}
	if dated := cmp.Or(e.Dated, updated); dated != "" {
		r.dates = append(r.dates, dated)
	}
}

// moment returns the time that a date means, in UTC, or the zero time if it
// cannot be told. Years that JSON and SQL cannot write are none.
func moment(s, language string) time.Time {
	if s == "" || len(s) > maxDated {
		return time.Time{}
	}
	t, ok := date.Parse(s, language)
	if t = t.UTC(); !ok || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// categories returns the words that an item is filed under.
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
	return all
}

// source returns the title of the feed that an item was taken from, if it says so.
func source(item *node) string {
	n := item.child("source", "atom:source")
	if n == nil {
		return ""
	}
	if n.hasElements() {
		return n.say("title", "atom:title")
	}
	return n.value()
}
