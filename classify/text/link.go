package text

import (
	"fmt"
	"net/url"
	"strings"
)

// maxLink is the longest address we keep, in bytes.
const maxLink = 2048

// link returns the absolute http(s) address that raw means on a page at base,
// which may be nil; or, if it is where a link leads, one of another scheme that
// the rules allow. Empty if there is none. Like browsers it ignores white space
// around and line breaks within. Parameters that track readers go.
func (r *Rules) link(raw string, base *url.URL, href bool) string {
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
	u.User = nil // a name before the host is there to deceive
	var s string
	switch web := u.Scheme == "http" || u.Scheme == "https"; {
	case web && u.Host != "":
		s = r.Link(u.String())
	case !web && href && (u.Host != "" || u.Opaque != "" || u.Scheme == "magnet" && u.RawQuery != ""):
		s = u.String()
	default:
		return ""
	}
	// A few odd addresses read differently once written. They lead nowhere.
	if again, err := url.Parse(s); err != nil || again.String() != s || len(s) > maxLink {
		return ""
	}
	return s
}

var breaks = strings.NewReplacer("\t", "", "\n", "", " ", "%20")

// Link returns an absolute address with its beginning rewritten where the
// rules say so, and without the parameters that track readers. Everything else
// stays as it is, to the byte, the fragment as well.
func (r *Rules) Link(address string) string {
	for _, w := range r.document.Links.Rewrite {
		if rest, ok := strings.CutPrefix(address, w.From); ok {
			address = w.To + rest
			break
		}
	}
	return r.tracking.strip(address)
}

// tracking tells the parameters that tell where a reader comes from. It knows
// them by name, in lower case.
type tracking struct {
	names    map[string][]string // what the value must be: "" for any, "a*" for those that begin so
	prefixes []string            // of names
}

func (c *compiler) tracking(list []string) tracking {
	t := tracking{names: make(map[string][]string)}
	for i, s := range list {
		name, value, valued := strings.Cut(strings.ToLower(s), "=")
		prefix, isPrefix := strings.CutSuffix(name, "*")
		switch {
		case prefix == "" || strings.ContainsAny(prefix, "*&?#;% ") || strings.ContainsAny(value, "&?#;% ") || valued && (isPrefix || value == ""):
			c.fault(fmt.Sprintf("links.tracking[%d]", i), "%q is not of the form name, begin*, name=value or name=begin*", s)
		case isPrefix:
			t.prefixes = append(t.prefixes, prefix)
		default:
			t.names[name] = append(t.names[name], value)
		}
	}
	return t
}

// strip returns an address without its parameters that track.
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
		if !t.is(unamp(pair)) {
			kept = append(kept, pair)
		}
	}
	switch {
	case len(kept) == all:
		return address
	case len(kept) == 0:
		return address[:query] + address[end:]
	}
	kept[0] = unamp(kept[0])
	return address[:query+1] + strings.Join(kept, "&") + address[end:]
}

// unamp removes what feeds that escape once too often leave before a name.
func unamp(pair string) string {
	for strings.HasPrefix(pair, "amp;") {
		pair = pair[len("amp;"):]
	}
	return pair
}

// is reports whether the parameter name=value, as in a query, tracks.
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
