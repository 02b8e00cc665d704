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

// MaxURL is the longest URL we keep, in bytes.
const MaxURL = 2048

// FeedID returns the ID of the feed with the given canonical URL
// ([CanonicalURL]): 26 characters of a-z and 2-7, the same on every machine.
func FeedID(canonicalURL string) string { return id("feed", canonicalURL) }

// ItemID returns the ID of the item that a feed lists under key: 26 characters
// of a-z and 2-7, the same on every machine.
func ItemID(feedID, key string) string { return id("item", feedID, key) }

// EventID returns the ID of the event that began with an item.
func EventID(itemID string) string { return id("event", itemID) }

// StoryID returns the ID of the story that began with an event.
func StoryID(eventID string) string { return id("story", eventID) }

// id hashes the parts, each ended by a NUL so that they cannot run together,
// to 128 bits: at a billion items a chance collision has odds of 1 in 10^21.
func id(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return lowerBase32.EncodeToString(h.Sum(nil)[:16])
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// CanonicalURL returns the one form of an http or https URL that all its
// spellings share: lower-case scheme and punycode host, no default port, no
// user, no fragment, a path, and nothing but visible ASCII. A scheme is assumed
// where there is none ("example.org/feed"), and feed: is read as http:. The
// error says what is wrong with the URL in words for its author.
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
	case !strings.Contains(s, "://") && namesHost(s):
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return "", noAddress(raw, err.Error())
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", noAddress(raw, "it must start with http:// or https://")
	}
	if u.Host, err = canonicalHost(u); err != nil {
		return "", noAddress(raw, err.Error())
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery = visible(u.RawQuery)
	if u.Path == "" {
		u.Path = "/"
	}
	if s = u.String(); len(s) > MaxURL {
		return "", errTooLong
	}
	return s, nil
}

// WebURL returns an address as it is if it is absolute and of the web, so that a
// browser may follow it; else "".
func WebURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}

var errTooLong = fmt.Errorf("the address is longer than %d bytes", MaxURL)

func noAddress(raw, why string) error { return fmt.Errorf("%q is no web address: %s", raw, why) }

// namesHost reports whether an address without a scheme begins with a host's
// name, and is not that of a person.
func namesHost(s string) bool {
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		s = s[:end]
	}
	return strings.Contains(s, ".") && !strings.Contains(s, "@")
}

var defaultPort = map[string]string{"http": "80", "https": "443"}

// canonicalHost returns the host, and the port unless it is the scheme's own.
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
			return "", errors.New("its port is not between 1 and 65535")
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

// canonicalName returns a host's name in lower case and punycode.
func canonicalName(host string) (string, error) {
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		name = strings.ToLower(host) // an underscore, say: not for IDNA, but there are such hosts
	}
	name = strings.TrimSuffix(name, ".")
	if name == "" {
		return "", errors.New("it names no host")
	}
	sound := len(name) <= 253 && utf8.ValidString(host) &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
	for label := range strings.SplitSeq(name, ".") {
		sound = sound && label != "" && len(label) <= 63
	}
	if !sound {
		return "", errors.New("its host's name is not one")
	}
	return name, nil
}

// visible returns a query with what has no place in one escaped: the rest of a
// URL is escaped by package url.
func visible(query string) string {
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
