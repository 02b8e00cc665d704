package storage

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

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
// user, no fragment, a path. A scheme is assumed where there is none
// ("example.org/feed"), and feed: is read as http:. The error says what is
// wrong with the URL in words for its author.
func CanonicalURL(raw string) (string, error) {
	s := strings.TrimSpace(raw)
	switch lower := strings.ToLower(s); {
	case s == "":
		return "", errors.New("the address is empty")
	case len(s) > MaxURL:
		return "", fmt.Errorf("the address is longer than %d bytes", MaxURL)
	case strings.HasPrefix(lower, "feed:http"):
		s = s[len("feed:"):]
	case strings.HasPrefix(lower, "feed://"):
		s = "http://" + s[len("feed://"):]
	case !strings.Contains(s, "://") && !strings.HasPrefix(s, "/") && strings.Contains(hostOf(s), "."):
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return "", fmt.Errorf("%q is no web address: %w", raw, err)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no web address: it must start with http:// or https://", raw)
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil {
		// An underscore or an IPv6 literal: not for IDNA, but fit to be dialled.
		host = strings.ToLower(u.Hostname())
	}
	if host == "" || strings.ContainsAny(host, " <>\"") {
		return "", fmt.Errorf("%q is no web address: it names no host", raw)
	}
	switch port := u.Port(); {
	case port == "", u.Scheme == "http" && port == "80", u.Scheme == "https" && port == "443":
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		u.Host = host
	default:
		u.Host = net.JoinHostPort(host, port)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

func hostOf(s string) string {
	host, _, _ := strings.Cut(s, "/")
	return host
}
