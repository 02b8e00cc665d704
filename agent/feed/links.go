package feed

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// resolve returns the http or https address that ref means at base, or "" if it
// means none. Without a base a relative one stays as it is written, and so does
// an absolute one with any.
func resolve(base *url.URL, ref string) string {
	ref = tidy(ref)
	if ref == "" {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		ref = strings.ReplaceAll(ref, "%", "%25") // of which one began no escape
		if u, err = url.Parse(ref); err != nil {
			return ""
		}
	}
	switch {
	case isWeb(u):
		return address(ref)
	case u.Scheme != "":
		return ""
	case base != nil && base.Host != "" && strings.HasPrefix(ref, base.Host+"/"): // a host's name without what precedes it
		return address(base.Scheme + "://" + ref)
	case base != nil && base.Host != "":
		if u = base.ResolveReference(u); isWeb(u) {
			return address(u.String())
		}
		return ""
	case u.Host != "": // no scheme, as in //a.example/
		return address("https:" + ref)
	}
	return address(ref)
}

func isWeb(u *url.URL) bool { return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" }

// tidy returns an address without the white space that publishers break it
// with, and with a scheme if it begins with a host's name.
func tidy(ref string) string {
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

// resolveHTML makes the addresses in HTML absolute, of a document no more than
// maxAddresses. What has none it returns as it is.
func (r *reader) resolveHTML(base *url.URL, s string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if b.Len() == 0 {
				return s
			}
			return b.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			if r.addresses == maxAddresses {
				b.WriteString(raw)
				continue
			}
			token := z.Token()
			if resolveAttributes(base, token.Attr) {
				raw = token.String()
				r.addresses++
			}
			b.WriteString(raw)
		default:
			b.Write(z.Raw())
		}
	}
}

// resolveAttributes makes addresses among attributes absolute and returns
// whether one was not.
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
