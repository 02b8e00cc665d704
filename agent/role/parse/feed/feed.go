// Package feed parses feed documents into entries: RSS, Atom, RDF and JSON Feed, sound or damaged.
//
// [Parse] repairs common damage, see scan.go, and gives every entry a key ([Entry].Key). Time and memory for
// a hostile document are bounded by the limits in limits.go. The package does not depend on HTTP, queues or
// storage. Its results are untrusted: bounded in size, but not sanitized.
package feed

import (
	"bytes"
	"net/url"

	"feedmesh/agent/role/parse/feed/encoding"
)

// A Document is the content of one feed document, as published: untrusted.
type Document struct {
	Title, Site, Language string
	Entries               []Entry // in document order, with different keys
	Hints
	Charset   string // encoding of the document, as in "utf-8"
	Malformed string // the repaired defects and the number of entries left out, in words; "" if the document is sound
}

// Parse parses a feed document. contentType is the Content-Type header of its response, may be empty. address
// is the URL of the document, "" if unknown; it is the base of relative links if the document states none. A
// document may have no entries. The error is always an [*Error].
//
// The result does not alias body, so that the caller may reuse its buffer. Concurrent workers may call Parse.
func Parse(body []byte, contentType, address string) (Document, error) {
	outer, err := url.Parse(address)
	if err != nil || outer.Host == "" {
		outer = nil
	}
	text, charset, damage := encoding.Decode(body, contentType)
	d, err := parse(text, outer)
	if err != nil {
		return Document{}, err
	}
	d.Charset, d.Malformed = charset, d.repairs(damage)
	if outer == nil {
		outer = &url.URL{} // relative links are compared as written
	}
	d.Hints.resolve(outer)
	d.Zone, d.ZoneKnown = mostCommonZone(d.dates)
	d.Entries = assignKeys(d.Entries, outer)
	return d.Document, nil
}

// A draft is a document before its keys, hints and zone are set.
type draft struct {
	Document
	dates   []string // as written, at most one for each entry, in document order
	defects defects

	kept, older, beyond int // number of items, and of those left out, see leftOutText
}

// repairs returns the entries left out and the defects, in words; "" for none.
func (d *draft) repairs(damage encoding.Damage) string {
	leftOut, repaired := leftOutText(d.kept, d.older, d.beyond), (d.defects | damageDefects(damage)).String()
	if leftOut != "" && repaired != "" {
		return leftOut + ", " + repaired
	}
	return leftOut + repaired
}

// parse parses text in the format that it appears to have. A panic is a bug; it makes the document fail, not
// the process.
func parse(text []byte, outer *url.URL) (d draft, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = draft{}, failed(Broken, "the parser failed: %v", p)
		}
	}()
	trimmed := bytes.TrimSpace(bytes.Trim(text, encoding.ByteOrderMark))
	switch {
	case len(trimmed) == 0:
		return draft{}, failed(Empty, "the document is empty")
	case trimmed[0] == '{' || trimmed[0] == '[':
		return parseJSON(trimmed, outer)
	}
	return parseXML(text, outer)
}
