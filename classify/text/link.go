package text

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxLink is the maximum length of a URL in bytes.
const maxLink = 2048

// cleanedLink returns the absolute http(s) URL for raw on a page at base, which may be nil; for the target of a link
// (href) also a URL of another allowed scheme. It returns "" for an invalid URL. Like browsers, it ignores
// surrounding white space and line breaks. Tracking parameters are removed.
func cleanedLink(r *Rules, raw string, base *url.URL, href bool) string {
	raw = strings.TrimSpace(raw)
	if raw == "" || len(raw) > maxLink {
		return ""
	}
	if strings.ContainsAny(raw, "\t\n ") {
		raw = breaks.Replace(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	if base != nil && u.Scheme == "" {
		u = base.ResolveReference(u)
	}
	if !r.schemes[u.Scheme] {
		return ""
	}
	u.User = nil // user names in URLs serve to deceive
	u.Host = ASCIIHost(u.Host)
	var s string
	switch web := u.Scheme == "http" || u.Scheme == "https"; {
	case web && u.Host != "":
		s = r.CleanLink(u.String())
	case !web && href && (u.Host != "" || u.Opaque != "" || u.Scheme == "magnet" && u.RawQuery != ""):
		s = u.String()
	default:
		return ""
	}
	// A few malformed URLs change when parsed again. They are dropped.
	if reparsed, err := url.Parse(s); err != nil || reparsed.String() != s || len(s) > maxLink {
		return ""
	}
	return s
}

// ASCIIHost returns the host of a URL, with or without a port, in punycode. A host that is no valid name is
// returned unchanged.
func ASCIIHost(host string) string {
	if !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return host
	}
	name, port, found := strings.Cut(host, ":")
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return host
	}
	if found {
		return ascii + ":" + port
	}
	return ascii
}

var breaks = strings.NewReplacer("\t", "", "\n", "", " ", "%20")

func compileTracking(c *documentParser, list []string) tracking {
	t := tracking{names: make(map[string][]string)}
	for i, s := range list {
		name, value, valued := strings.Cut(strings.ToLower(s), "=")
		prefix, isPrefix := strings.CutSuffix(name, "*")
		switch {
		case prefix == "" || strings.ContainsAny(prefix, "*&?#;% ") || strings.ContainsAny(value, "&?#;% ") || valued && (isPrefix || value == ""):
			c.report(fmt.Sprintf("links.tracking[%d]", i), "%q is not of the form name, begin*, name=value or name=begin*", s)
		case isPrefix:
			t.prefixes = append(t.prefixes, prefix)
		default:
			t.names[name] = append(t.names[name], value)
		}
	}
	return t
}

// strip removes tracking parameters from a URL.
func (t tracking) strip(address string) string {
	query := strings.IndexByte(address, '?')
	if query < 0 {
		return address
	}
	end := len(address)
	if fragment := strings.IndexByte(address, '#'); fragment >= 0 {
		if fragment < query {
			return address
		}
		end = fragment
	}
	var kept []string
	all := 0
	for pair := range strings.SplitSeq(address[query+1:end], "&") {
		all++
		if !t.is(trimAmp(pair)) {
			kept = append(kept, pair)
		}
	}
	switch {
	case len(kept) == all:
		return address
	case len(kept) == 0:
		return address[:query] + address[end:]
	}
	kept[0] = trimAmp(kept[0])
	return address[:query+1] + strings.Join(kept, "&") + address[end:]
}

// trimAmp removes "amp;" before a name, left by feeds that escape twice.
func trimAmp(pair string) string {
	for strings.HasPrefix(pair, "amp;") {
		pair = pair[len("amp;"):]
	}
	return pair
}

// is reports whether the query parameter name=value tracks readers.
func (t tracking) is(pair string) bool {
	name, value, _ := strings.Cut(pair, "=")
	name, value = strings.ToLower(name), strings.ToLower(value)
	for _, must := range t.names[name] {
		prefix, open := strings.CutSuffix(must, "*")
		if must == "" || must == value || open && strings.HasPrefix(value, prefix) {
			return true
		}
	}
	for _, prefix := range t.prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var (
	isHost          = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:[0-9]{1,5})?$`).MatchString
	isName          = regexp.MustCompile(`^[a-z0-9]{1,10}$`).MatchString
	isDataAttribute = regexp.MustCompile(`^data-[a-z0-9-]{1,60}$`).MatchString
)
