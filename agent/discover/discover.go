// Package discover finds the feeds of a web page: those it links to, those of
// the platform it is on, and where feeds usually are. It only reads what it is
// given; whether a feed is there is for whoever fetches.
package discover

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
)

// A Candidate is an address that may be that of a feed.
type Candidate struct {
	URL   string // absolute, of http or https
	Title string // as the page has it, in one line; "" if it has none
	Found Way
}

// A Way says how a candidate was found.
type Way string

// The ways, best first.
const (
	Linked   Way = "link"     // the page names it as its feed
	Platform Way = "platform" // the platform the page is on has feeds there
	Anchor   Way = "anchor"   // a link for readers that looks like one to a feed
)

// Bounds of what is read of a page and found in it.
const (
	maxPage       = 4 << 20 // bytes
	maxCandidates = 64
	maxTitle      = 200 // bytes
	maxURL        = 2048
)

// Feeds returns what may be feeds of the page that came from an address, the
// best first and each once: at most 64. contentType is the header it came with
// and may be empty.
func Feeds(page []byte, contentType, address string) []Candidate {
	base, err := url.Parse(address)
	if err != nil {
		return nil
	}
	p := read(decoded(page[:min(len(page), maxPage)], contentType))
	if p.base != "" {
		if b, err := base.Parse(p.base); err == nil {
			base = b
		}
	}
	var found []Candidate
	add := func(way Way, l link) {
		u, err := base.Parse(webScheme(l.href))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return
		}
		u.Fragment, u.RawFragment = "", ""
		c := Candidate{URL: u.String(), Title: l.title, Found: way}
		known := func(k Candidate) bool { return k.URL == c.URL }
		if len(c.URL) <= maxURL && len(found) < maxCandidates && !slices.ContainsFunc(found, known) {
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

// webScheme returns an address of the web for one of the feed scheme.
func webScheme(href string) string {
	switch lower := strings.ToLower(href); {
	case strings.HasPrefix(lower, "feed://"):
		return "http://" + href[len("feed://"):]
	case strings.HasPrefix(lower, "feed:http"):
		return href[len("feed:"):]
	}
	return href
}

// Format returns what kind of feed a document is that was read as one: "JSON
// Feed", "Atom", "RDF" or "RSS".
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
