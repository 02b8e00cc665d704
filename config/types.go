package config

import (
	"fmt"
	"io"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"feedmesh/storage"
)

// A Secret is a string that is never printed.
type Secret string

// String returns a placeholder for the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// Format hides the secret from all verbs of fmt.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText hides the secret from JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An Address is a URL whose user and password are never printed.
type Address string

// String returns the address without its user and password.
func (a Address) String() string { return HideUser(string(a)) }

// Format hides the user and password from all verbs of fmt.
func (a Address) Format(f fmt.State, _ rune) { io.WriteString(f, a.String()) }

// MarshalText hides the user and password from JSON.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// HideUser returns a URL with its user and password hidden. A user without a password is hidden too: NATS
// uses it as a token.
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

// isURL reports whether the text is a URL with a host and one of the schemes.
func isURL[S ~string](raw S, schemes ...string) bool {
	u, err := url.Parse(string(raw))
	return err == nil && u.Hostname() != "" && slices.Contains(schemes, u.Scheme)
}

// isBaseURL reports whether the text is a web URL to which a path can be appended.
func isBaseURL(raw Address) bool {
	u, err := url.Parse(string(raw))
	return isURL(raw, "http", "https") && err == nil && u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(string(raw), "#")
}

// isOrigin reports whether the text is a web origin: scheme and host in lower case, without a path.
func isOrigin(raw string) bool {
	u, err := url.Parse(raw)
	return isURL(raw, "http", "https") && err == nil && raw == strings.ToLower(u.Scheme+"://"+u.Host)
}

// A Network is a range of addresses, written as 192.168.1.0/24, or one port of one address, written as
// 192.168.1.5:5432.
type Network struct {
	netip.Prefix
	Port uint16 // 0: all ports that may serve web content
}

// Networks returns networks without ports. It panics if one is invalid.
func Networks(prefixes ...string) []Network {
	list := make([]Network, len(prefixes))
	for i, p := range prefixes {
		list[i] = Network{Prefix: netip.MustParsePrefix(p)}
	}
	return list
}

// UnmarshalText parses a network.
func (n *Network) UnmarshalText(text []byte) error {
	if at, err := netip.ParseAddrPort(string(text)); err == nil && at.Port() > 0 {
		*n = Network{netip.PrefixFrom(at.Addr(), at.Addr().BitLen()), at.Port()}
		return nil
	}
	p, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a network; write 192.168.1.0/24, or 192.168.1.5:5432 for one port", text)
	}
	*n = Network{Prefix: p}
	return nil
}

// String returns the network as it is written.
func (n Network) String() string {
	if n.Port == 0 {
		return n.Prefix.String()
	}
	return netip.AddrPortFrom(n.Addr(), n.Port).String()
}

// MarshalText is [Network.String].
func (n Network) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// A Bytes is a size in bytes, written as "10MB".
type Bytes int64

var units = []struct {
	suffix string
	size   int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}}

// UnmarshalText parses a number of bytes, optionally with the unit KB, MB or GB.
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
		return fmt.Errorf("%q is not a size; write it as 10MB", text)
	}
	*b = Bytes(n * size)
	return nil
}

// String formats the size in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range units {
		if int64(b)%u.size == 0 && int64(b) >= u.size {
			return fmt.Sprintf("%d%s", int64(b)/u.size, u.suffix)
		}
	}
	return "0B"
}

// A TagKeep is how long items of the feeds with a tag are kept, written as TAG=LIMIT.
type TagKeep struct {
	Tag  string
	Keep storage.Keep
}

// UnmarshalText parses a tag and its limit.
func (k *TagKeep) UnmarshalText(text []byte) (err error) {
	tag, limit, found := strings.Cut(string(text), "=")
	if k.Tag = strings.Join(strings.Fields(tag), " "); !found || k.Tag == "" {
		return fmt.Errorf("%q is not a tag with a limit; write TAG=90d", text)
	}
	k.Keep, err = storage.ParseKeep(limit)
	return err
}

// String returns the tag and its limit.
func (k TagKeep) String() string { return k.Tag + "=" + k.Keep.String() }

// MarshalText returns the tag and its limit.
func (k TagKeep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
