package feed

import (
	"bytes"
	"regexp"
)

// format is the kind of an XML feed.
type format int

const (
	unknown format = iota
	rss            // and RDF
	atom
)

// findRoot returns where the root element of a feed starts in text, what kind
// of feed it is, and what was wrong up to there. Whatever precedes it within
// maxJunk is passed over: declarations, which say nothing any more once the text
// is UTF-8, warnings of PHP, comments. In a web page only what cannot be HTML is
// a root. A channel with items serves as one if no feed's is around it.
func findRoot(text []byte) (int, format, mend) {
	window := text[:min(len(text), maxJunk)]
	var wrong mend
	inPage := false
	channel := -1    // where the first one is
	endless := false // one was met that does not end: to look for the ends of more would cost too much
	for pos := 0; ; {
		i := bytes.IndexByte(window[pos:], '<')
		if i < 0 && channel >= 0 && bytes.Contains(text[channel:], []byte("<item")) {
			return channel, rss, noRoot
		}
		if i < 0 {
			return 0, unknown, 0
		}
		if len(bytes.TrimSpace(window[pos:pos+i])) > 0 {
			wrong |= junkBefore
		}
		pos += i
		rest := window[pos:]
		name := tagName(rest[1:])
		switch string(bytes.ToLower(local(name))) {
		case "html":
			inPage = true
		case "rss", "rdf":
			if !inPage || identified(rest[1+len(name):]) {
				return pos, rss, wrong
			}
		case "feed":
			if !inPage || identified(rest[1+len(name):]) {
				return pos, atom, wrong
			}
		case "channel":
			if channel < 0 && !inPage {
				channel = pos
			}
		}
		n := 1
		if !endless {
			n = prologue(rest)
		}
		if n == 1 {
			wrong |= junkBefore
			endless = endless || len(rest) > 1 && (rest[1] == '!' || rest[1] == '?')
		}
		pos += n
	}
}

// identified reports whether the attributes of a root begin as a feed's do.
func identified(attributes []byte) bool {
	attributes = bytes.TrimLeft(attributes, " \t\r\n")
	return bytes.HasPrefix(attributes, []byte("xmlns")) || bytes.HasPrefix(attributes, []byte("version"))
}

// prologue returns the length of the comment, instruction or document type
// that starts rest, or 1: then what starts there is a tag or no markup.
func prologue(rest []byte) int {
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return max(1, through(rest, "-->"))
	case bytes.HasPrefix(rest, []byte("<?")):
		return max(1, through(rest, ">"))
	case bytes.HasPrefix(rest, []byte("<!")):
		return max(1, doctype(rest))
	}
	return 1
}

// through returns the length of b up to and with the first end, or -1.
func through(b []byte, end string) int {
	i := bytes.Index(b, []byte(end))
	if i < 0 {
		return -1
	}
	return i + len(end)
}

// doctype returns the length of the declaration that starts b, with the
// declarations it may have in brackets, or -1 if it does not end.
func doctype(b []byte) int {
	depth := 0
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			return i + 1
		}
	}
	return -1
}

var (
	page      = regexp.MustCompile(`(?i)<!doctype html|<(html|head|body|script|title|meta)[\s>]`)
	challenge = regexp.MustCompile(`(?i)type=["']?password|captcha|cf-chl|cf_chl|just a moment\.\.\.|checking your browser`)
	element   = regexp.MustCompile(`<([A-Za-z_][\w:.-]*)`)
)

// notFeed says what text is instead of a feed.
func notFeed(text []byte) *Error {
	window := text[:min(len(text), maxJunk)]
	name := element.FindSubmatch(window)
	switch {
	case name != nil && bytes.EqualFold(name[1], []byte("opml")):
		return failed(OtherXML, "this is a list of feeds (OPML), not a feed: import it instead")
	case page.Match(window) && challenge.Match(window):
		return failed(Challenge, "this is a web page that asks for a login or a proof of being human, not a feed")
	case page.Match(window):
		return failed(WebPage, "this is a web page, not a feed")
	case name != nil:
		return failed(OtherXML, "this is XML but not a feed: its root is <%s>", name[1][:min(len(name[1]), 64)])
	case text[0] == '<':
		return failed(OtherXML, "this is XML but not a feed: it has no elements")
	}
	return failed(Other, "this is not a feed: neither XML nor JSON")
}
