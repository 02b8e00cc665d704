package text

import (
	"net/url"
	"strings"
)

// maxLink is the longest address we keep, in bytes.
const maxLink = 2048

// link returns the absolute http(s) address that raw means on a page at base,
// which may be nil; or, if mail will do, a mailto address. Empty if there is
// none. Like browsers it ignores white space around and line breaks within.
func link(raw string, base *url.URL, mail bool) string {
	raw = strings.TrimSpace(raw)
	if raw == "" || len(raw) > maxLink {
		return ""
	}
	raw = breaks.Replace(raw)
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		u.User = nil // a name before the host is there to deceive
	case u.Scheme == "mailto" && mail && u.Opaque != "":
	default:
		return ""
	}
	s := u.String()
	// A few odd addresses read differently once written. They lead nowhere.
	if again, err := url.Parse(s); err != nil || again.String() != s || len(s) > maxLink {
		return ""
	}
	return s
}

var breaks = strings.NewReplacer("\t", "", "\n", "", " ", "%20")
