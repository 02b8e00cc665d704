package feed

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// resolve returns the absolute http or https address of ref at base, or "" if it has none. Without a base a
// relative address is returned as written. Absolute addresses do not depend on base.
func resolve(base *url.URL, ref string) string {
	ref = cleanAddress(ref)
	if ref == "" {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		ref = strings.ReplaceAll(ref, "%", "%25") // at least one percent sign is not an escape
		if u, err = url.Parse(ref); err != nil {
			return ""
		}
	}
	switch {
	case isWeb(u):
		return boundedAddress(ref)
	case u.Scheme != "":
		return ""
	case base != nil && base.Host != "" && strings.HasPrefix(ref, base.Host+"/"): // the base's host without a scheme
		return boundedAddress(base.Scheme + "://" + ref)
	case base != nil && base.Host != "":
		if u = base.ResolveReference(u); isWeb(u) {
			return boundedAddress(u.String())
		}
		return ""
	case u.Host != "": // no scheme, as in //a.example/
		return boundedAddress("https:" + ref)
	}
	return boundedAddress(ref)
}

func isWeb(u *url.URL) bool { return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" }

// cleanAddress removes line breaks and surrounding white space, escapes spaces, and adds a scheme to
// addresses that begin with www.
func cleanAddress(ref string) string {
	ref = strings.TrimSpace(ref)
	if strings.ContainsAny(ref, "\t\r\n") {
		ref = strings.Join(strings.FieldsFunc(ref, func(r rune) bool { return r == '\t' || r == '\r' || r == '\n' }), "")
	}
	ref = strings.ReplaceAll(ref, " ", "%20")
	if len(ref) > len("www.") && strings.EqualFold(ref[:len("www.")], "www.") {
		return "http://" + ref
	}
	return ref
}

// resolveAttributes makes addresses in attributes absolute and reports whether any changed.
func resolveAttributes(base *url.URL, attrs []html.Attribute) bool {
	changed := false
	for i, a := range attrs {
		switch a.Key {
		case "href", "src", "poster", "cite":
			if abs := resolve(base, a.Val); abs != "" && abs != a.Val && !strings.HasPrefix(a.Val, "#") {
				attrs[i].Val, changed = abs, true
			}
		}
	}
	return changed
}
