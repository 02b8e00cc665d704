package fetch

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxLink bounds the URL of a Link header, in bytes.
const maxLink = 2 << 10

// linkValues matches the links of a Link header, each with its URL and its parameters. relParams matches the
// relation types in the parameters.
//
// Source: RFC 8288, section 3.
var (
	linkValues = regexp.MustCompile(`<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)`)
	relParams  = regexp.MustCompile(`(?i);\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]*))`)
)

// linkTarget returns the absolute URL of the first Link header with the given relation, or "".
func linkTarget(r *http.Response, relation string) string {
	for _, value := range r.Header.Values("Link") {
		for _, link := range linkValues.FindAllStringSubmatch(value, -1) {
			rel := relParams.FindStringSubmatch(link[2]) // only the first rel parameter counts
			if rel == nil || !slices.Contains(strings.Fields(strings.ToLower(rel[1]+rel[2])), relation) {
				continue
			}
			if address := webAddress(r.Request.URL, link[1]); address != "" {
				return address
			}
		}
	}
	return ""
}

// webAddress returns the absolute http or https URL of a reference, without credentials, or "".
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
