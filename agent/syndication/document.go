// Package syndication writes feeds of items and stories as RSS 2.0, Atom or JSON Feed 1.1. Its main type is [Document].
package syndication

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// A Document is the content of an output, independent of its format.
type Document struct {
	Title, Description string // plain text
	Home, Self         string // absolute addresses
	Hub                string // absolute address of the WebSub hub; or empty
	Updated            time.Time
	Entries            []Entry
}

// An Entry is an item or a story.
type Entry struct {
	ID                 string // urn:uuid:..., independent of the host name in the request
	URL                string // absolute http(s), or empty
	Title, Author      string // plain text
	Summary            string // plain text
	HTML               string // sanitized
	Published, Updated time.Time
	Tags               []string
	Enclosures         []storage.Enclosure
}

// Add appends an entry. The document's update time is that of its newest entry.
func (d *Document) Add(e Entry) {
	d.Entries = append(d.Entries, e)
	if e.Updated.After(d.Updated) {
		d.Updated = e.Updated
	}
}

// EntryOf converts an item of a feed with the given title.
func EntryOf(i storage.Item, feed string) Entry {
	e := Entry{ID: URN("item", i.ID), URL: storage.WebURL(i.URL), Title: cmp.Or(i.Title, i.Excerpt, i.URL, "Untitled"), Author: cmp.Or(i.Author, feed), Summary: i.Excerpt, HTML: i.HTML,
		Published: i.Published, Updated: i.Published, Tags: append(append([]string{}, i.Categories...), i.Tags...)}
	for _, at := range []time.Time{i.Updated, i.FirstSeen} {
		if at.After(e.Updated) {
			e.Updated = at
		}
	}
	for _, file := range i.Enclosures {
		if file.URL = storage.WebURL(file.URL); file.URL != "" && file.Player == "" { // programs download enclosures
			e.Enclosures = append(e.Enclosures, file)
		}
	}
	return e
}

// With returns the entry with a prefix of its title, and labels before its tags.
func (e Entry) With(prefix string, labels []string) Entry {
	e.Title, e.Tags = prefix+e.Title, slices.Concat(labels, e.Tags)
	return e
}

// URN returns a URN derived from an ID; all formats accept it as an identifier.
//
// Source: RFC 9562, section 5.8: a UUID of custom format.
func URN(kind, id string) string {
	b := sha256.Sum256([]byte("feedmesh " + kind + " " + id))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// clean returns the document without characters that XML forbids: the XML encoder passes them through in some
// places.
func (d Document) clean() Document {
	d.Title, d.Description, d.Home, d.Self, d.Hub = xmlText(d.Title), xmlText(d.Description), xmlText(d.Home), xmlText(d.Self), xmlText(d.Hub)
	entries := make([]Entry, len(d.Entries))
	for i, e := range d.Entries {
		for _, text := range []*string{&e.URL, &e.Title, &e.Author, &e.Summary, &e.HTML} {
			*text = xmlText(*text)
		}
		tags := make([]string, 0, len(e.Tags))
		for _, tag := range e.Tags {
			if tag = strings.TrimSpace(xmlText(tag)); tag != "" {
				tags = append(tags, tag)
			}
		}
		e.Tags = tags
		files := make([]storage.Enclosure, len(e.Enclosures))
		for i, file := range e.Enclosures {
			file.URL, file.Type = xmlText(file.URL), xmlText(file.Type)
			if file.Type == "" {
				file.Type = "application/octet-stream"
			}
			files[i] = file
		}
		e.Enclosures = files
		entries[i] = e
	}
	d.Entries = entries
	if d.Updated.IsZero() {
		d.Updated = time.Unix(0, 0) // a date is required; the current time would change the ETag on each request
	}
	return d
}

// xmlText returns text without characters that XML 1.0 forbids.
//
// Source: Extensible Markup Language 1.0, 5th edition, production 2.
func xmlText(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t', c == '\n', c == '\r', c >= 0x20 && c <= 0xD7FF, c >= 0xE000 && c <= 0xFFFD, c >= 0x10000:
			return c
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
