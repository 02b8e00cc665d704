package text

import (
	"strings"

	"golang.org/x/net/html"
)

// Title returns a title as one line of at most max bytes in whole characters, without markup. Entities are
// decoded at most twice, because many feeds escape twice. Text that merely resembles markup ("a < b", "<T> in
// Go", "the <video> element") stays. The result is text; callers must escape it for HTML.
func Title(markup string, max int) string {
	s := sanitizeUTF8(cut(strings.ToValidUTF8(markup, "\uFFFD"), 16*max+1024))
	s = unescape(untag(s, true))
	if strings.Contains(s, "&") || strings.Contains(s, "<") {
		s = unescape(untag(s, false))
	}
	var l lineBuffer
	l.add(sanitizeUTF8(s), false)
	return strings.TrimSpace(cut(l.String(), max))
}

// unescape decodes entities that end in a semicolon. Others are probably meant literally ("R&D",
// "?a=1&lt=2").
func unescape(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '&')
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		s = s[at:]
		end := strings.IndexByte(s, ';')
		if end < 0 || end > 32 || strings.ContainsAny(s[1:end], " &<>") {
			b.WriteByte('&')
			s = s[1:]
			continue
		}
		b.WriteString(html.UnescapeString(s[:end+1]))
		s = s[end+1:]
	}
}

// untag removes tags, scripts and styles from s, and inserts a space where a tag breaks the line. If lone is
// true, formatting tags without attributes and without an end tag are removed too.
func untag(s string, single bool) string {
	if !strings.Contains(s, "<") {
		return s
	}
	lower := asciiLower(s)
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '<' {
			b.WriteByte(s[i])
			i++
			continue
		}
		t := tagAt(lower[i:])
		if !t.isMarkup(s[i:], lower, single) {
			b.WriteByte('<')
			i++
			continue
		}
		i += t.size
		if elements[t.name] == droppedRaw && !t.end {
			if at := strings.Index(lower[i:], "</"+t.name); at >= 0 {
				i += at
			}
		}
		if k := elements[t.name]; k == block || k == tableCell || k == void {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// A tag is the text between < and >, if it may be a tag.
type tag struct {
	name  string // in lower case; empty if it is not a tag
	size  int
	end   bool // an end tag
	attrs bool // has attributes
}

// tagAt parses the tag that lower begins with.
func tagAt(lower string) tag {
	if strings.HasPrefix(lower, "<!--") {
		if at := strings.Index(lower, "-->"); at > 0 {
			return tag{name: "!--", size: at + len("-->"), attrs: true}
		}
		return tag{}
	}
	size := strings.IndexByte(lower, '>') + 1
	if size == 0 {
		return tag{}
	}
	inner, end := strings.CutPrefix(lower[1:size-1], "/")
	inner = strings.TrimSuffix(inner, "/")
	n := 0
	for n < len(inner) && (inner[n] >= 'a' && inner[n] <= 'z' || n > 0 && inner[n] >= '0' && inner[n] <= '9') {
		n++
	}
	rest := inner[n:]
	if n == 0 || rest != "" && !strings.ContainsAny(rest[:1], " \t\n/") {
		return tag{}
	}
	return tag{name: inner[:n], size: size, end: end, attrs: strings.Contains(rest, "=")}
}

// isMarkup reports whether t, which s begins with, formats the title rather than being a word of it.
func (t tag) isMarkup(s, all string, single bool) bool {
	k, found := elements[t.name]
	switch {
	case t.name == "!--":
		return true
	case !found && t.name != "font" && t.name != "span" && substitutes[t.name] == "" && !attackElements[t.name]:
		return false
	case t.attrs, k == void:
		return true
	case t.end:
		return strings.Contains(all, "<"+t.name)
	case strings.Contains(all, "</"+t.name):
		return true
	case len(t.name) == 1 && s[1] == t.name[0]-'a'+'A':
		return false // List<A>
	}
	return single && (k == inline || k == block && t.name == "p" || t.name == "font" || t.name == "span")
}

// attackElements are elements that occur only in attacks.
var attackElements = map[string]bool{
	"base": true, "body": true, "embed": true, "frame": true, "frameset": true, "html": true, "image": true,
	"input": true, "isindex": true, "keygen": true, "link": true, "marquee": true, "meta": true, "source": true,
}

// asciiLower lower-cases A to Z only, so that offsets stay the same.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
