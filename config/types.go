package config

import (
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Secret is never printed.
type Secret string

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// Format hides the secret from all of fmt's verbs.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText hides the secret from JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An Address is a URL whose user and password are never printed.
type Address string

// String returns the address without its user and password.
func (a Address) String() string { return HideUser(string(a)) }

// Format hides the user from all of fmt's verbs.
func (a Address) Format(f fmt.State, _ rune) { io.WriteString(f, a.String()) }

// MarshalText hides the user from JSON.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// HideUser returns a URL with the user and password in it hidden: NATS takes a
// user without a password for a token.
func HideUser(raw string) string {
	_, after, is := strings.Cut(raw, "@")
	if !is {
		return raw
	}
	scheme, _, is := strings.Cut(raw, "://")
	if !is {
		return "(hidden)@" + after
	}
	return scheme + "://(hidden)@" + after
}

// isURL reports whether the text is an address of a host, by one of the schemes.
func isURL[S ~string](raw S, schemes ...string) bool {
	u, err := url.Parse(string(raw))
	return err == nil && u.Hostname() != "" && slices.Contains(schemes, u.Scheme)
}

// isBase reports whether the text is a web address that a path can follow.
func isBase(raw Address) bool {
	u, err := url.Parse(string(raw))
	return isURL(raw, "http", "https") && err == nil && u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(string(raw), "#")
}

// isOrigin reports whether the text is what a browser calls a site: a scheme and
// a host in lower case, and nothing after them.
func isOrigin(raw string) bool {
	u, err := url.Parse(raw)
	return isURL(raw, "http", "https") && err == nil && raw == strings.ToLower(u.Scheme+"://"+u.Host)
}

// A Bytes is a size in bytes, written as "10MB".
type Bytes int64

var units = []struct {
	suffix string
	size   int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}}

// UnmarshalText reads a number with KB, MB or GB behind it, or of bytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	size := int64(1)
	for _, u := range units {
		if number, is := strings.CutSuffix(s, u.suffix); is {
			s, size = strings.TrimSpace(number), u.size
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/size {
		return fmt.Errorf("%q is no size; write it as 10MB", text)
	}
	*b = Bytes(n * size)
	return nil
}

// String returns the size in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range units {
		if int64(b)%u.size == 0 && int64(b) >= u.size {
			return fmt.Sprintf("%d%s", int64(b)/u.size, u.suffix)
		}
	}
	return "0B"
}
