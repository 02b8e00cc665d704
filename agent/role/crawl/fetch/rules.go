package fetch

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxDelay bounds the Crawl-delay that is honored.
const maxDelay = time.Minute

// Rules are the rules of a robots.txt file for this program. The zero value allows everything.
type Rules struct {
	// Delay is the minimum time between the starts of two requests. RFC 9309 does not define it, but many
	// files contain it.
	Delay time.Duration

	denyAll bool // nothing may be fetched
	rules   []rule
}

// A rule allows or forbids paths with a prefix.
type rule struct {
	path  string // normalized; an asterisk matches anything, a final dollar sign the end of the path
	allow bool
}

// Allow reports whether an address of the site may be fetched. The longest matching rule decides; of equally
// long rules allow precedes disallow.
func (r *Rules) Allow(address *url.URL) bool {
	if r.denyAll {
		return false
	}
	path := address.EscapedPath()
	if path == "" {
		path = "/"
	}
	if address.RawQuery != "" {
		path += "?" + address.RawQuery
	}
	// Asterisks and dollar signs of the address itself are literal.
	path = strings.NewReplacer("*", "%2A", "$", "%24").Replace(normalizePath(path))
	allow, longest := true, -1
	for _, rule := range r.rules {
		if n := len(rule.path); (n > longest || n == longest && rule.allow) && matchesPattern(rule.path, path) {
			allow, longest = rule.allow, n
		}
	}
	return allow
}

// size returns the approximate memory use of the rules, in bytes.
func (r *Rules) size() int {
	n := 64
	for _, rule := range r.rules {
		n += len(rule.path) + 32
	}
	return n
}

// matchesPattern reports whether the path matches a rule's pattern. It takes O(len(path)) for each asterisk.
func matchesPattern(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	first, rest, wild := strings.Cut(pattern, "*")
	path, begins := strings.CutPrefix(path, first)
	if !begins || !wild {
		return begins && (!whole || path == "")
	}
	for {
		var piece string
		piece, rest, wild = strings.Cut(rest, "*")
		if !wild && whole {
			return strings.HasSuffix(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 || !wild {
			return at >= 0
		}
		path = path[at+len(piece):]
	}
}

// normalizePath returns a path in the form that RFC 9309 compares: letters, digits and "-._~" unescaped,
// non-ASCII octets percent-encoded in hexadecimal.
func normalizePath(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				if i += 2; unreserved(byte(n)) {
					b.WriteByte(byte(n))
				} else {
					fmt.Fprintf(&b, "%%%02X", n)
				}
				continue
			}
		}
		if c > ' ' && c < 0x7F {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// parseRules returns the rules of a robots.txt file for the product: those of all groups that name it, or
// else those of the groups for all agents. Invalid lines are skipped.
func parseRules(text []byte, product string) *Rules {
	var ours, all Rules
	named := false     // a group names the product
	var group []*Rules // rule sets that the current group adds to
	begun := false     // the current group has rules
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))) {
		record, _, _ := strings.Cut(string(line), "#")
		key, value, _ := strings.Cut(record, ":")
		key, value = strings.ToLower(strings.Trim(key, " \t\n\uFEFF")), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if begun {
				group, begun = nil, false
			}
			switch agent := productToken(value); {
			case strings.EqualFold(agent, product):
				group, named = append(group, &ours), true
			case agent == "" && strings.HasPrefix(value, "*"):
				group = append(group, &all)
			}
		case "allow", "disallow":
			begun = true
			if value == "" {
				continue // an empty path has no effect
			}
			r := rule{normalizePattern(value), key == "allow"}
			for _, g := range group {
				g.rules = append(g.rules, r)
			}
		case "crawl-delay":
			begun = true // many groups contain nothing else
			if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
				for _, g := range group {
					g.Delay = max(g.Delay, time.Duration(min(s, maxDelay.Seconds())*float64(time.Second)))
				}
			}
		}
	}
	if named {
		return &ours
	}
	return &all
}

// productToken returns the product token of a User-agent line, without the version that some files append.
func productToken(value string) string {
	end := strings.IndexFunc(value, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-')
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// normalizePattern returns the path of a rule in normalized form. A dollar sign is special at its end only.
func normalizePattern(value string) string {
	if value[0] != '/' && value[0] != '*' {
		value = "/" + value
	}
	path, whole := strings.CutSuffix(normalizePath(value), "$")
	path = strings.ReplaceAll(path, "$", "%24")
	if whole {
		path += "$"
	}
	return path
}
