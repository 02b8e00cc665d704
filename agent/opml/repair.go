package opml

import (
	"bytes"
	"regexp"
)

var (
	// outlineTag matches the start of an outline element.
	outlineTag = regexp.MustCompile(`(?i)<outline\s`)

	// attribute matches an attribute's name up to the opening quote of its value.
	attribute = regexp.MustCompile(`^\s*[A-Za-z_][\w:.-]*\s*=\s*["']`)

	// afterValue matches after the quote that ends a value: the next attribute, or the end of the tag before
	// another tag. Any other quote belongs to the value: the author of the list did not escape it.
	afterValue = regexp.MustCompile(`(?i)^\s*(?:[a-z_][\w:.-]*\s*=\s*["']|/?>\s*(?:</?outline|</body|</opml|<!--|$))`)

	// reference matches a valid character or entity reference.
	reference = regexp.MustCompile(`^&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
)

// repair escapes the attribute values of outlines and removes control characters, up to maxQuotes. Line numbers
// do not change.
func repair(body []byte) []byte {
	body = withoutControls(body)
	out := make([]byte, 0, len(body)+len(body)/8)
	for quotes := maxQuotes; ; {
		tag := outlineTag.FindIndex(body)
		if tag == nil || quotes <= 0 {
			return append(out, body...)
		}
		out = append(out, body[:tag[1]]...)
		body = body[tag[1]:]
		for {
			start := attribute.FindIndex(lookahead(body))
			if start == nil || quotes <= 0 {
				break
			}
			out = append(out, body[:start[1]]...)
			quote := body[start[1]-1]
			body = body[start[1]:]
			end := valueEnd(body, quote, &quotes)
			out = append(appendValue(out, body[:end]), quote)
			body = body[min(end+1, len(body)):]
		}
	}
}

// valueEnd returns the index of the quote that ends the value at the start of b. It subtracts the quotes that it
// examines from those left.
func valueEnd(b []byte, quote byte, left *int) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], quote)
		if n < 0 || *left <= 0 {
			return len(b)
		}
		*left--
		if i += n; afterValue.Match(lookahead(b[i+1:])) {
			return i
		}
	}
}

// lookahead returns the start of b: regular expressions cost time in proportion to their input.
func lookahead(b []byte) []byte { return b[:min(len(b), 512)] }

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
