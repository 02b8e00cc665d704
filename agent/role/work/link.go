package work

import (
	"net/url"
	"strings"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// MaxTitle bounds the titles of items and feeds, in characters.
const MaxTitle = 300

// BaseOf returns the base of a document's relative links: its site, or its own URL.
func BaseOf(d subjects.Document) *url.URL {
	for _, s := range []string{d.Site, d.URL} {
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			return u
		}
	}
	return nil
}

// Link returns the absolute address of an entry, or "". Without a link, a GUID that is a URL is used.
func Link(base *url.URL, e subjects.Entry) string {
	if l := Absolute(base, e.Link); l != "" {
		return l
	}
	if strings.HasPrefix(e.GUID, "http://") || strings.HasPrefix(e.GUID, "https://") {
		return Absolute(base, e.GUID)
	}
	return ""
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
	u.User = nil
	if s := u.String(); len(s) <= storage.MaxURL {
		return s
	}
	return ""
}
