package fetch

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxLink is the longest address that is taken from a Link header, in bytes.
const maxLink = 2 << 10

// links match the links of a Link header, each with its address and all that
// follows it; relations, in the latter, those it stands for.
//
// Source: RFC 8288, section 3.
var (
	links     = regexp.MustCompile(`<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)`)
	relations = regexp.MustCompile(`(?i);\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]*))`)
)

// linked returns the first web address that the answer's Link headers have for a
// relation, absolute; "" if there is none.
func linked(r *http.Response, relation string) string {
	for _, value := range r.Header.Values("Link") {
		for _, link := range links.FindAllStringSubmatch(value, -1) {
			of := relations.FindStringSubmatch(link[2]) // later ones do not count
			if of == nil || !slices.Contains(strings.Fields(strings.ToLower(of[1]+of[2])), relation) {
				continue
			}
			if address := webAddress(r.Request.URL, link[1]); address != "" {
				return address
			}
		}
	}
	return ""
}

// webAddress returns a reference as an absolute web address; "" if it is none.
func webAddress(base *url.URL, reference string) string {
	u, err := base.Parse(strings.TrimSpace(reference))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if u.User = nil; len(u.String()) > maxLink {
		return ""
	}
	return u.String()
}
