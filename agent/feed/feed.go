// Package feed turns the bytes of a feed document into entries: RSS, Atom, RDF
// and JSON Feed. gofeed reads them; this package stands before it, so that
// neither damage nor malice in a document costs more than that document, and
// behind it, so that every entry has a key. It knows nothing of HTTP, queues
// or storage. What it returns is what strangers wrote: bounded, but not clean.
package feed

import (
	"bytes"
	"net/url"
	"time"

	"github.com/mmcdole/gofeed"
)

// A Document is what one feed document says, as published: untrusted.
type Document struct {
	Title, Site, Language string
	Entries               []Entry // in document order, with different keys
	Hints
}

// An Entry is what the publisher wrote. All strings are valid UTF-8 without
// U+0000 and no longer than the limits of this package.
type Entry struct {
	Key       string    // what tells the entry from the others of its feed, over time
	Hash      string    // of everything in it that a reader would see change
	GUID      string    // as written; "" if it is too long
	Link      string    // as written, resolved only against xml:base
	Title     string    // may have markup and entities in it
	HTML      string    // the content, or the summary where there is none
	Author    string    // names or addresses, joined by ", "
	Published time.Time // zero where missing or unreadable
	Updated   time.Time // zero where missing or unreadable
	Dated     string    // the published date as written, "" if none: tells missing from unreadable
	Image     string    // what the feed names as the entry's image, not what its HTML shows
	Tags      []string
}

// Parse reads a feed document. contentType is the header it came with, which
// may be empty, and address where it came from: links of entries are compared
// by what they mean there. A document may have no entries. The error is
// always an [*Error].
func Parse(body []byte, contentType, address string) (Document, error) {
	f, hints, err := parse(decode(body, contentType))
	if err != nil {
		return Document{}, err
	}
	base, err := url.Parse(address)
	if err != nil {
		base = &url.URL{} // relative links are then compared as they are
	}
	hints.resolve(base)
	hints.Zone, hints.ZoneKnown = zone(f.Items)
	d := document(f, base)
	d.Hints = hints
	return d, nil
}

// parse reads text as whatever kind of feed it looks like; addresses in the
// hints are as written. Input must never panic, but gofeed's parsers have done
// so; that costs the document only.
func parse(text []byte) (f *gofeed.Feed, h Hints, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, h, err = nil, Hints{}, failed(Broken, "the document broke the parser: %v", p)
		}
	}()
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return nil, Hints{}, failed(Empty, "the document is empty")
	case trimmed[0] == '{' || trimmed[0] == '[':
		return parseJSON(trimmed)
	}
	root, format := findRoot(text)
	if format == unknown {
		return nil, Hints{}, notFeed(trimmed)
	}
	mended, err := scan(text[root:], format)
	if err != nil {
		return nil, Hints{}, err
	}
	if format == atom {
		f, h, err = parseAtom(mended)
	} else {
		f, h, err = parseRSS(mended)
	}
	if err != nil {
		return nil, Hints{}, broken(err, bytes.Count(text[:root], []byte("\n")))
	}
	return f, h, nil
}
