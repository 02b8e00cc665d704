package work

import (
	"net/url"
	"strings"

	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// MaxTitle bounds the titles of items and feeds, in characters.
const MaxTitle = 300

// BaseOf returns the base of a document's relative links: its site, or its own URL without user and query, which may
// be a password and a key.
func BaseOf(d subjects.Document) *url.URL {
	if u, err := url.Parse(d.Site); err == nil && u.Host != "" {
		return u
	}
	u, err := url.Parse(d.URL)
	if err != nil || u.Host == "" {
		return nil
	}
	u.User, u.RawQuery = nil, ""
	return u
}

// withoutQueryOf returns a link without its query if it leads to the document itself: the query may be a key.
func withoutQueryOf(link, document string) string {
	l, err := url.Parse(link)
	d, wrong := url.Parse(document)
	if err != nil || wrong != nil || l.Host != d.Host || l.Path != d.Path || l.RawQuery != d.RawQuery {
		return link
	}
	l.RawQuery = ""
	return l.String()
}

// Link returns the absolute address of an entry of a document, or "". Without a link, a GUID that is a URL is used.
func Link(d subjects.Document, e subjects.Entry) string {
	base := BaseOf(d)
	l := Absolute(base, e.Link)
	if l == "" && (strings.HasPrefix(e.GUID, "http://") || strings.HasPrefix(e.GUID, "https://")) {
		l = Absolute(base, e.GUID)
	}
	return withoutQueryOf(l, d.URL)
}

// Absolute resolves ref at base and returns it if it is an http or https URL, otherwise "".
func Absolute(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.User, u.Host = nil, text.ASCIIHost(u.Host)
	if s := u.String(); len(s) <= storage.MaxURL {
		return s
	}
	return ""
}
