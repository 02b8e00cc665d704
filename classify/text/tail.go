package text

import (
	"bytes"
	"strings"
)

// maxTail bounds the bytes of a tail's text.
const maxTail = 400

// addTailStart records the current position as a possible start of a tail. Empty elements before it belong to
// the tail.
func addTailStart(c *cleaner) {
	m := tailStart{html: len(c.html), text: len(c.text.b), first: c.contentEnd == 0}
	if c.text.atLineStart() {
		m.html = c.contentEnd
	}
	c.tailStarts = append(c.tailStarts, m)
}

// dropTailStart removes the last position.
func dropTailStart(c *cleaner) { c.tailStarts = c.tailStarts[:len(c.tailStarts)-1] }

// cutTail removes the text that publishing tools append to every item: "Read more", "The post X appeared
// first on Y". Text with nothing before it, or followed by an image, is not a tail.
func cutTail(c *cleaner) {
	if c.rules.tails == nil {
		return
	}
	at := -1
	for end := len(c.text.b); ; {
		m, ok := tailAfter(c, end)
		if !ok {
			break
		}
		at, end = m.html, m.text
		c.text.b = c.text.b[:end]
	}
	if at >= 0 {
		c.html = closed(c.html[:at])
	}
}

// tailAfter returns the start of a tail in the text up to end, and drops the positions from there on.
func tailAfter(c *cleaner, end int) (tailStart, bool) {
	seen := end
	for i := len(c.tailStarts) - 1; i >= 0; i-- {
		m := c.tailStarts[i]
		if end-m.text > maxTail || m.first || m.html < c.mediaEnd {
			break
		}
		if m.text == seen {
			continue
		}
		seen = m.text
		if !c.rules.tails.MatchString(strings.TrimSpace(string(c.text.b[m.text:end]))) {
			continue
		}
		// Other elements that begin at this position would be empty without the tail.
		for i > 0 && c.tailStarts[i-1].text == m.text && !c.tailStarts[i-1].first && c.tailStarts[i-1].html >= c.mediaEnd {
			i--
			m = c.tailStarts[i]
		}
		c.tailStarts = c.tailStarts[:i]
		return m, true
	}
	return tailStart{}, false
}

// closed appends missing end tags to our own markup, cut off between tags and text.
func closed(markup []byte) []byte {
	var open [][]byte
	for rest := markup; ; {
		at := bytes.IndexByte(rest, '<')
		if at < 0 {
			break
		}
		rest = rest[at+1:]
		size := bytes.IndexByte(rest, '>')
		name, _, _ := bytes.Cut(rest[:size], []byte(" "))
		rest = rest[size+1:]
		switch {
		case name[0] == '/':
			open = open[:len(open)-1]
		case elements[string(name)] != void:
			open = append(open, name)
		}
	}
	for len(open) > 0 {
		last := len(open) - 1
		markup = append(append(append(markup[:len(markup):len(markup)], "</"...), open[last]...), '>')
		open = open[:last]
	}
	return markup
}
