package fetch

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxDelay is the longest Crawl-delay that is honoured.
const maxDelay = time.Minute

// Rules are what a robots.txt file asks of us. The zero Rules ask nothing.
type Rules struct {
	// Delay is to be between the starts of two requests, at least. It is not in
	// RFC 9309, but in many files.
	Delay time.Duration

	nothing bool // may be fetched
	rules   []rule
}

// A rule allows or forbids what begins with a path.
type rule struct {
	path  string // normal; its asterisks stand for anything, and a dollar sign at its end for the end
	allow bool
}

// Allow reports whether an address of the site may be fetched: what the longest
// rule says that matches it, and of equal ones the kinder.
func (r *Rules) Allow(address *url.URL) bool {
	if r.nothing {
		return false
	}
	path := address.EscapedPath()
	if path == "" {
		path = "/"
	}
	if address.RawQuery != "" {
		path += "?" + address.RawQuery
	}
	// An asterisk or a dollar sign in an address is no more than that.
	path = strings.NewReplacer("*", "%2A", "$", "%24").Replace(normal(path))
	allow, longest := true, -1
	for _, rule := range r.rules {
		if n := len(rule.path); (n > longest || n == longest && rule.allow) && matches(rule.path, path) {
			allow, longest = rule.allow, n
		}
	}
	return allow
}

// size returns about how many bytes the rules take.
func (r *Rules) size() int {
	n := 64
	for _, rule := range r.rules {
		n += len(rule.path) + 32
	}
	return n
}

// matches reports whether a path begins as a rule's does. O(len(path)) for each
// asterisk, at most.
func matches(pattern, path string) bool {
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

// normal returns a path with each character written in one way, as RFC 9309
// compares them: letters, digits and "-._~" as they are, what is not ASCII as
// octets in hexadecimal.
func normal(path string) string {
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

// readRules returns what a robots.txt file asks of the product: what all groups
// say that name it, or else those for all. Lines that mean nothing are skipped.
func readRules(text []byte, product string) *Rules {
	var ours, all Rules
	named := false     // some group names us
	var group []*Rules // whose rules the present group's are
	begun := false     // it has some
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))) {
		record, _, _ := strings.Cut(string(line), "#")
		key, value, _ := strings.Cut(record, ":")
		key, value = strings.ToLower(strings.Trim(key, " \t\n\uFEFF")), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if begun {
				group, begun = nil, false
			}
			switch agent := token(value); {
			case strings.EqualFold(agent, product):
				group, named = append(group, &ours), true
			case agent == "" && strings.HasPrefix(value, "*"):
				group = append(group, &all)
			}
		case "allow", "disallow":
			begun = true
			if value == "" {
				continue // it says nothing
			}
			r := rule{pattern(value), key == "allow"}
			for _, g := range group {
				g.rules = append(g.rules, r)
			}
		case "crawl-delay":
			begun = true // many groups have nothing else
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

// token returns the product token that a User-agent line names, without the
// version that some write after it.
func token(value string) string {
	end := strings.IndexFunc(value, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-')
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// pattern returns the path of a rule in normal form. Only at its end is a dollar
// sign more than that.
func pattern(value string) string {
	if value[0] != '/' && value[0] != '*' {
		value = "/" + value
	}
	path, whole := strings.CutSuffix(normal(value), "$")
	path = strings.ReplaceAll(path, "$", "%24")
	if whole {
		path += "$"
	}
	return path
}
