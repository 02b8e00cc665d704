package feed

import (
	"bytes"
	"regexp"
)

// format is the format of an XML feed.
type format int

const (
	unknown format = iota
	rss            // and RDF
	atom
	atomEntry // an Atom entry document: one entry without a feed
)

// findRoot returns the offset of a feed's root element in text, the feed's format, and the defects before it.
// It skips everything before the root within maxJunk: declarations, which have no effect on UTF-8 text, PHP
// warnings, comments. Within a web page only an element that cannot be HTML is a root. A channel with items
// is accepted if no feed element surrounds it.
func findRoot(text []byte) (int, format, defects) {
	window := text[:min(len(text), maxJunk)]
	var wrong defects
	inPage := false
	channel := -1    // offset of the first channel
	endless := false // an unterminated declaration was found: more searches for an end would take quadratic time
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
			if !inPage || hasFeedAttributes(rest[1+len(name):]) {
				return pos, rss, wrong
			}
		case "feed":
			if !inPage || hasFeedAttributes(rest[1+len(name):]) {
				return pos, atom, wrong
			}
		case "entry":
			if attributes := rest[1+len(name):]; bytes.Contains(attributes[:max(0, bytes.IndexByte(attributes, '>'))], []byte("http://www.w3.org/2005/Atom")) {
				return pos, atomEntry, wrong
			}
		case "channel":
			if channel < 0 && !inPage {
				channel = pos
			}
		}
		n := 1
		if !endless {
			n = prologueLength(rest)
		}
		if n == 1 {
			wrong |= junkBefore
			endless = endless || len(rest) > 1 && (rest[1] == '!' || rest[1] == '?')
		}
		pos += n
	}
}

// hasFeedAttributes reports whether a root's attributes begin as those of a feed.
func hasFeedAttributes(attributes []byte) bool {
	attributes = bytes.TrimLeft(attributes, " \t\r\n")
	return bytes.HasPrefix(attributes, []byte("xmlns")) || bytes.HasPrefix(attributes, []byte("version"))
}

// prologueLength returns the length of the comment, instruction or document type that starts rest, or 1 if
// rest starts with a tag or with text.
func prologueLength(rest []byte) int {
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return max(1, lengthThrough(rest, "-->"))
	case bytes.HasPrefix(rest, []byte("<?")):
		return max(1, lengthThrough(rest, ">"))
	case bytes.HasPrefix(rest, []byte("<!")):
		return max(1, doctype(rest))
	}
	return 1
}

// lengthThrough returns the length of b up to and including the first end, or -1.
func lengthThrough(b []byte, end string) int {
	i := bytes.Index(b, []byte(end))
	if i < 0 {
		return -1
	}
	return i + len(end)
}

// doctype returns the length of the document type that starts b, with its internal subset in brackets, or -1
// if it is unterminated.
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

// notFeed returns an error that describes a text that is not a feed.
func notFeed(text []byte) *Error {
	window := text[:min(len(text), maxJunk)]
	name := element.FindSubmatch(window)
	switch {
	case name != nil && bytes.EqualFold(name[1], []byte("opml")):
		return failed(OtherXML, "this is a list of feeds (OPML), not a feed: import it instead")
	case page.Match(window) && challenge.Match(window):
		return failed(Challenge, "this is a login page or a bot check, not a feed")
	case page.Match(window):
		return failed(WebPage, "this is a web page, not a feed")
	case name != nil:
		return failed(OtherXML, "this is XML, not a feed: its root element is <%s>", name[1][:min(len(name[1]), 64)])
	case text[0] == '<':
		return failed(OtherXML, "this is XML, not a feed: it has no elements")
	}
	return failed(Other, "this is not a feed: neither XML nor JSON")
}
