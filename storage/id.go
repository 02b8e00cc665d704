package storage

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// MaxURL is the maximum length of stored URLs, in bytes.
const MaxURL = 2048

// FeedID returns the ID of the feed with the given canonical URL ([CanonicalURL]): 26 characters of a-z and
// 2-7, the same on every machine.
func FeedID(canonicalURL string) string { return id("feed", canonicalURL) }

// ItemID returns the ID of the item with the given key in a feed: 26 characters of a-z and 2-7, the same on
// every machine.
func ItemID(feedID, key string) string { return id("item", feedID, key) }

// EventID returns the ID of the event that started with an item.
func EventID(itemID string) string { return id("event", itemID) }

// StoryID returns the ID of the story that started with an event.
func StoryID(eventID string) string { return id("story", eventID) }

// id hashes the parts to 128 bits. Each part ends with NUL, so that different parts cannot produce the same
// input. At a billion items, a collision has odds of 1 in 10^21.
func id(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return lowerBase32.EncodeToString(h.Sum(nil)[:16])
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// CanonicalURL normalizes an http or https URL, so that all its spellings become equal: lower-case scheme,
// punycode host, no default port, no user, no fragment, a path, and only visible ASCII. A missing scheme
// becomes https ("example.org/feed"), and feed: becomes http:. The error describes the fault for the author
// of the URL.
func CanonicalURL(raw string) (string, error) {
	s := strings.TrimSpace(raw)
	switch lower := strings.ToLower(s); {
	case s == "":
		return "", errors.New("the address is empty")
	case len(s) > MaxURL:
		return "", errTooLong
	case strings.HasPrefix(lower, "feed:http"):
		s = s[len("feed:"):]
	case strings.HasPrefix(lower, "feed://"):
		s = "http://" + s[len("feed://"):]
	case !strings.Contains(s, "://") && startsWithHost(s):
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return "", invalidAddress(raw, err.Error())
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", invalidAddress(raw, "it must start with http:// or https://")
	}
	if u.Host, err = canonicalHost(u); err != nil {
		return "", invalidAddress(raw, err.Error())
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery = escapeQuery(u.RawQuery)
	if u.Path == "" {
		u.Path = "/"
	}
	if s = u.String(); len(s) > MaxURL {
		return "", errTooLong
	}
	return s, nil
}

// WebURL returns the address unchanged if it is an absolute http or https URL that a browser may follow;
// otherwise "".
func WebURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}

var errTooLong = fmt.Errorf("the address is longer than %d bytes", MaxURL)

func invalidAddress(raw, reason string) error {
	return fmt.Errorf("%q is not a web address: %s", raw, reason)
}

// startsWithHost reports whether an address without a scheme starts with a host name. Email addresses do not.
func startsWithHost(s string) bool {
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		s = s[:end]
	}
	return strings.Contains(s, ".") && !strings.Contains(s, "@")
}

var defaultPort = map[string]string{"http": "80", "https": "443"}

// canonicalHost returns the host, with the port unless it is the scheme's default.
func canonicalHost(u *url.URL) (string, error) {
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		host = addr.String()
	} else if host, err = canonicalName(host); err != nil {
		return "", err
	}
	port := u.Port()
	if port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return "", errors.New("the port is not between 1 and 65535")
		}
		port = strconv.FormatUint(number, 10)
	}
	switch {
	case port != "" && port != defaultPort[u.Scheme]:
		return net.JoinHostPort(host, port), nil
	case strings.Contains(host, ":"):
		return "[" + host + "]", nil
	}
	return host, nil
}

// canonicalName returns a host name in lower case and punycode.
func canonicalName(host string) (string, error) {
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		name = strings.ToLower(host) // IDNA rejects underscores, but some real hosts contain them
	}
	name = strings.TrimSuffix(name, ".")
	if name == "" {
		return "", errors.New("the host name is missing")
	}
	sound := len(name) <= 253 && utf8.ValidString(host) &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
	for label := range strings.SplitSeq(name, ".") {
		sound = sound && label != "" && len(label) <= 63
	}
	if !sound {
		return "", errors.New("the host name is invalid")
	}
	return name, nil
}

// escapeQuery percent-escapes the characters of a query that must not appear in one. Package url escapes the
// other parts of a URL.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c > '~' || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
