// Package feed turns the bytes of a feed document into entries: RSS, Atom, RDF
// and JSON Feed, as publishers write them, which is often not as they should:
// see scan.go. Neither damage nor malice in a document costs more than that
// document, and every entry has a key. It knows nothing of HTTP, queues or
// storage. What it returns is what strangers wrote: bounded, but not clean.
package feed

import (
	"bytes"
	"net/url"
)

// A Document is what one feed document says, as published: untrusted.
type Document struct {
	Title, Site, Language string
	Entries               []Entry // in document order, with different keys
	Hints
	Charset   string // that it was read in, as in "utf-8"
	Malformed string // what was put right, in words; "" if it is sound
}

// Parse reads a feed document. contentType is the header it came with, which
// may be empty, and address where it came from, "" if nobody knows: what
// relative links are relative to where the document does not say. A document may
// have no entries. The error is always an [*Error].
func Parse(body []byte, contentType, address string) (Document, error) {
	outer, err := url.Parse(address)
	if err != nil || outer.Host == "" {
		outer = nil
	}
	text, charset, wrong := decode(body, contentType)
	d, err := parse(text, outer)
	if err != nil {
		return Document{}, err
	}
	d.Charset, d.Malformed = charset, (wrong | d.wrong).String()
	if outer == nil {
		outer = &url.URL{} // relative links are then compared as they are
	}
	d.Hints.resolve(outer)
	d.Zone, d.ZoneKnown = zone(d.dates)
	d.Entries = identify(d.Entries, outer)
	return d.Document, nil
}

// A draft is a document that is not finished.
type draft struct {
	Document
	dates []string // as written, one of each entry that has any, in their order
	wrong mend
}

// parse reads text as whatever kind of feed it looks like. Input must never
// panic: if it does, that costs the document only.
func parse(text []byte, outer *url.URL) (d draft, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = draft{}, failed(Broken, "the document broke the parser: %v", p)
		}
	}()
	trimmed := bytes.TrimSpace(bytes.Trim(text, mark))
	switch {
	case len(trimmed) == 0:
		return draft{}, failed(Empty, "the document is empty")
	case trimmed[0] == '{' || trimmed[0] == '[':
		return parseJSON(trimmed, outer)
	}
	return parseXML(text, outer)
}
