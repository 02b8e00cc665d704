// Package discover finds the feeds of a web page: those it links to, those of its platform, and those at
// well-known paths. It only parses the given page, up to 4 MiB, and returns at most 64 candidates; the caller
// fetches them.
package discover

import (
	"bytes"
	"slices"
	"strings"
)

// A Candidate is an address of a possible feed.
type Candidate struct {
	URL    string // absolute, of http or https
	Title  string // on one line, as in the page; may be empty
	Source Source
}

// A Source is how a candidate was found.
type Source string

// The sources, most reliable first.
const (
	Linked   Source = "link"     // a link tag of the page
	Platform Source = "platform" // a known feed address of the page's platform
	Anchor   Source = "anchor"   // an anchor whose address looks like a feed
)

// Candidates returns the possible feeds of a page, best first without repetition, at most 64. address is the
// page's URL; contentType is its header and may be empty.
func Candidates(page []byte, contentType, address string) []Candidate {
	p, base := readPage(page, contentType, address)
	if base == nil {
		return nil
	}
	var found []Candidate
	add := func(way Source, l link) {
		u := resolve(base, l.href)
		if u == nil {
			return
		}
		c := Candidate{URL: u.String(), Title: l.title, Source: way}
		known := func(k Candidate) bool { return k.URL == c.URL }
		if len(found) < maxCandidates && !slices.ContainsFunc(found, known) {
			found = append(found, c)
		}
	}
	for _, l := range p.feeds {
		add(Linked, l)
	}
	for _, l := range append(ofPlatform(address, p.generator), ofPlatform(p.canonical, "")...) {
		add(Platform, l)
	}
	for _, l := range p.anchors {
		if u, err := base.Parse(webScheme(l.href)); err == nil && (isFeedType(l.kind) || looksLikeFeed(u)) {
			add(Anchor, l)
		}
	}
	return found
}

// webScheme converts an address of the feed scheme to http or https.
func webScheme(href string) string {
	switch lower := strings.ToLower(href); {
	case strings.HasPrefix(lower, "feed://"):
		return "http://" + href[len("feed://"):]
	case strings.HasPrefix(lower, "feed:http"):
		return href[len("feed:"):]
	}
	return href
}

// Format returns the format of a feed document: "JSON Feed", "Atom", "RDF" or "RSS".
func Format(document []byte) string {
	head := bytes.ToLower(bytes.TrimSpace(document[:min(len(document), 8<<10)]))
	first := "RSS"
	at := len(head)
	for _, root := range []struct{ mark, name string }{{"<rss", "RSS"}, {"<feed", "Atom"}, {"<atom:feed", "Atom"}, {"<rdf:rdf", "RDF"}} {
		if i := bytes.Index(head, []byte(root.mark)); i >= 0 && i < at {
			at, first = i, root.name
		}
	}
	if bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), []byte("{")) {
		return "JSON Feed"
	}
	return first
}
