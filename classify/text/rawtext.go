package text

import (
	"strings"

	"golang.org/x/net/html"
)

// isEmptyRaw reports whether a script or style has no contents: a self-closing one, which is not empty in HTML
// but in XHTML, or a script with an address, if no end tag of its own follows. rest is the markup after its
// start tag, z's current token.
func isEmptyRaw(z *html.Tokenizer, name string, selfClosing bool, rest string) bool {
	return (selfClosing || hasSource(z)) && !endsBeforeNext(rest, name)
}

// hasSource reports whether z's current tag has an address. It reads the attributes.
func hasSource(z *html.Tokenizer) bool {
	for more := true; more; {
		var key []byte
		if key, _, more = z.TagAttr(); string(key) == "src" {
			return true
		}
	}
	return false
}

// endsBeforeNext reports whether an end tag of that name follows before the next start tag of that name.
func endsBeforeNext(markup, name string) bool {
	for {
		_, after, ok := strings.Cut(markup, "<")
		if !ok {
			return false
		}
		tag, end := strings.CutPrefix(after, "/")
		if len(tag) >= len(name) && strings.EqualFold(tag[:len(name)], name) {
			return end
		}
		markup = after
	}
}

// endOfUnclosedRaw returns the offset in markup, the text after the start tag of a script or style without an
// end tag, at which its source ends: the next tag of a block outside of strings and comments, or the end.
func endOfUnclosedRaw(markup string) int {
	for i := 0; i < len(markup); {
		rest := markup[i:]
		switch n := 1; rest[0] {
		case '"', '\'', '`':
			if n = quotedLength(rest); n < 0 {
				return len(markup)
			}
			i += n
		case '<':
			if isBlockTag(rest) {
				return i
			}
			if strings.HasPrefix(rest, "<!--") {
				n = strings.Index(rest, "-->")
			}
			if n < 0 {
				return len(markup)
			}
			i += n
		case '/':
			if strings.HasPrefix(rest, "/*") {
				n = strings.Index(rest, "*/")
			}
			if n < 0 {
				return len(markup)
			}
			i += n
		default:
			i++
		}
	}
	return len(markup)
}

// quotedLength returns the length of the string that s begins with: 1 if it does not end on its line, as for an
// apostrophe in a comment, and -1 for a template without an end.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i + 1
		case s[i] == '\\':
			i++
		case s[i] == '\n' && s[0] != '`':
			return 1
		}
	}
	if s[0] == '`' {
		return -1
	}
	return 1
}

// isBlockTag reports whether s begins with a tag of a block element.
func isBlockTag(s string) bool {
	name, after := nameOf(strings.ToLower(strings.TrimPrefix(s[1:min(len(s), 16)], "/")))
	if after == "" || !strings.Contains(" \t\r\n/>", after[:1]) {
		return false
	}
	return elements[name] == block || substitutes[name] != ""
}
