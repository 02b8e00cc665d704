package feed

import (
	"bytes"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// value returns the text of an element, trimmed, with references resolved. Most texts are escaped HTML;
// unescaped child elements are written as HTML too.
func (n *node) value() string {
	if c := n.first; c != nil && c == n.last { // the common case
		switch c.kind {
		case textNode:
			return trimCDATA(strings.TrimSpace(unescape(c.raw)))
		case cdataNode:
			return string(bytes.TrimSpace(c.raw))
		}
	}
	var b []byte
	for c := n.first; c != nil; c = c.next {
		b = c.write(b, false)
	}
	return trimCDATA(string(bytes.TrimSpace(b)))
}

// trimCDATA removes the delimiters of a CDATA section that was escaped like its text, or whose start lacks a
// character.
func trimCDATA(s string) string {
	for _, start := range []string{"<![CDATA[", "<[CDATA[", "![CDATA["} {
		if inner, ok := strings.CutPrefix(s, start); ok {
			return strings.TrimSpace(strings.TrimSuffix(inner, "]]>"))
		}
	}
	return s
}

// xhtml returns an element's contents as HTML, without the div that Atom requires around them.
//
// Source: RFC 4287, section 3.1.1.3.
func (n *node) xhtml() string {
	if div := n.onlyChild(); div != nil && strings.EqualFold(string(local(div.raw)), "div") {
		n = div
	}
	var b []byte
	for c := n.first; c != nil; c = c.next {
		b = c.write(b, true)
	}
	return string(bytes.TrimSpace(b))
}

// onlyChild returns the only element in n, or nil if n contains text or other elements.
func (n *node) onlyChild() *node {
	var only *node
	for c := n.first; c != nil; c = c.next {
		switch {
		case c.kind != tagNode && len(bytes.TrimSpace(c.raw)) == 0:
		case c.kind != tagNode || only != nil:
			return nil
		default:
			only = c
		}
	}
	return only
}

// write appends n as HTML. Texts are plain in XHTML and are escaped; elsewhere they are HTML already. An
// unclosed tag with a name that HTML does not define is text, as in "a List<String>".
func (n *node) write(b []byte, plain bool) []byte {
	switch {
	case n.kind == textNode && plain:
		return append(b, escape(unescape(n.raw))...)
	case n.kind == textNode:
		return append(b, unescape(n.raw)...)
	case n.kind == cdataNode && plain:
		return append(b, escape(string(n.raw))...)
	case n.kind == cdataNode:
		return append(b, n.raw...)
	}
	tag := n.raw
	if !strings.Contains(n.name, ":") || strings.HasPrefix(n.name, "html:") {
		tag = local(tag)
	}
	void, words := isVoid(tag), !n.closed && !isHTMLElement(tag)
	if words {
		b = append(append(b, "&lt;"...), tag...)
	} else {
		b = append(append(b, '<'), tag...)
	}
	for _, a := range n.attrs {
		if bytes.HasPrefix(a.name, []byte("xmlns")) {
			continue
		}
		b = append(append(b, ' '), a.name...)
		if a.value != nil {
			b = append(b, `="`...)
			b = append(b, quote.Replace(unescape(a.value))...)
			b = append(b, '"')
		}
	}
	switch {
	case words:
		b = append(b, "&gt;"...)
	case void:
		b = append(b, "/>"...)
	default:
		b = append(b, '>')
	}
	for c := n.first; c != nil; c = c.next {
		b = c.write(b, plain)
	}
	if !void && !words {
		b = append(append(append(b, "</"...), tag...), '>')
	}
	return b
}

var (
	escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	quote  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
)

// body returns the text of an element as HTML, according to its type attribute. Types are those of Atom 0.3
// and 1.0; elements of RSS have none.
//
// Source: RFC 4287, sections 3.1 and 4.1.3; the Atom Syndication Format 0.3.
func (n *node) body() string {
	kind, mode := strings.ToLower(n.attr("type")), strings.ToLower(n.attr("mode"))
	switch {
	case strings.Contains(kind, "xhtml") && n.hasElements(), mode == "xml" && n.hasElements():
		return n.xhtml()
	case mode == "base64", isBinary(kind):
		return decodeBase64(n.value())
	case kind == "text" || kind == "text/plain":
		if s := n.value(); !n.hasElements() && strings.Contains(s, "<") {
			return escape(s)
		}
	}
	return n.value()
}

// content is [node.body] for a content or a summary. HTML that is escaped once too often is unescaped.
func (n *node) content() string {
	s := n.body()
	if !isEscapedTwice(s) {
		return s
	}
	if kind := strings.ToLower(n.attr("type")); kind == "text" || kind == "text/plain" {
		return s
	}
	return html.UnescapeString(s)
}

// isEscapedTwice reports whether its publisher escaped HTML twice. Such HTML has no tags, but escaped tags: it
// begins with one, or has links or images. A text about HTML differs in both.
func isEscapedTwice(s string) bool {
	return strings.IndexByte(s, '<') < 0 && strings.Contains(s, "&lt;") && (escapedStart.MatchString(s) || escapedLink.MatchString(s))
}

var (
	escapedStart = regexp.MustCompile(`(?is)^(&lt;(p|div|span|b|i|strong|em|h[1-6]|ul|ol|table|blockquote|section|article|figure|a)(\s.*?)?&gt;.*&lt;/(p|div|span|b|i|strong|em|h[1-6]|ul|ol|table|blockquote|section|article|figure|a)&gt;|&lt;(img|br|hr)(\s.*?)?/?&gt;.)`)
	escapedLink  = regexp.MustCompile(`(?is)&lt;a\s[^&]*href=(&quot;|&#34;|&#39;|["'])https?://.*&lt;/a&gt;|&lt;img\s[^&]*src=(&quot;|&#34;|&#39;|["'])https?://`)
)

func (n *node) hasElements() bool {
	for c := n.first; c != nil; c = c.next {
		if c.kind == tagNode {
			return true
		}
	}
	return false
}

// isBinary reports whether content of that type is encoded in base64.
func isBinary(kind string) bool {
	switch major, _, _ := strings.Cut(kind, "/"); major {
	case "image", "audio", "video":
		return !strings.Contains(kind, "xml")
	}
	return kind == "application/octet-stream" || kind == "application/pdf" || kind == "application/zip"
}

// decodeBase64 returns the decoded text, "" if the decoded bytes are not text, and s itself if s is not
// base64.
func decodeBase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return s
	}
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// isVoid reports whether HTML elements of that name have no end tag.
func isVoid(name []byte) bool {
	switch strings.ToLower(string(name)) {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}
