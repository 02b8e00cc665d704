package opml

import (
	"bytes"
	"regexp"
)

var (
	// outlineTag is where an outline starts.
	outlineTag = regexp.MustCompile(`(?i)<outline\s`)

	// attribute is where an attribute's value starts, quote included.
	attribute = regexp.MustCompile(`^\s*[A-Za-z_][\w:.-]*\s*=\s*["']`)

	// afterValue is what follows the quote that ends a value: an attribute, or
	// the end of the tag before the next one. After any other quote the value
	// goes on: whoever wrote the list forgot to escape it.
	afterValue = regexp.MustCompile(`(?i)^\s*(?:[a-z_][\w:.-]*\s*=\s*["']|/?>\s*(?:</?outline|</body|</opml|<!--|$))`)

	// reference is what may follow an & that means one.
	reference = regexp.MustCompile(`^&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
)

// mend returns an OPML document with the attributes of its outlines escaped
// as they should have been, and without control characters. Lines stay lines.
func mend(body []byte) []byte {
	body = withoutControls(body)
	out := make([]byte, 0, len(body)+len(body)/8)
	for {
		tag := outlineTag.FindIndex(body)
		if tag == nil {
			return append(out, body...)
		}
		out = append(out, body[:tag[1]]...)
		body = body[tag[1]:]
		for {
			start := attribute.FindIndex(near(body))
			if start == nil {
				break
			}
			out = append(out, body[:start[1]]...)
			quote := body[start[1]-1]
			body = body[start[1]:]
			end := valueEnd(body, quote)
			out = append(appendValue(out, body[:end]), quote)
			body = body[min(end+1, len(body)):]
		}
	}
}

// valueEnd returns where the quote is that ends the value b starts with.
func valueEnd(b []byte, quote byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], quote)
		if n < 0 {
			return len(b)
		}
		if i += n; afterValue.Match(near(b[i+1:])) {
			return i
		}
	}
}

// near returns as much of b as an expression at its start needs to see: they
// cost more the longer their input is.
func near(b []byte) []byte { return b[:min(len(b), 512)] }

// appendValue appends an attribute's value, escaped.
func appendValue(out, value []byte) []byte {
	for i, c := range value {
		switch {
		case c == '<':
			out = append(out, "&lt;"...)
		case c == '"':
			out = append(out, "&quot;"...)
		case c == '\'':
			out = append(out, "&#39;"...)
		case c == '&' && !reference.Match(value[i:]):
			out = append(out, "&amp;"...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// withoutControls returns b without the control characters that XML forbids.
func withoutControls(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c >= ' ' || c == '\t' || c == '\n' || c == '\r' {
			out = append(out, c)
		}
	}
	return out
}
