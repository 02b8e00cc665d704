package text

import (
	"bytes"
	"strings"
)

// maxTail is how many bytes of text a tail may have.
const maxTail = 400

// A mark is where a tail may begin: at a line or a link.
type mark struct {
	html, text int  // offsets in what was written
	first      bool // nothing stands before it
}

// mark notes that a tail may begin here. What is empty before it goes with it.
func (c *cleaner) mark() {
	m := mark{html: len(c.html), text: len(c.text.b), first: c.content == 0}
	if c.text.ended() {
		m.html = c.content
	}
	c.marks = append(c.marks, m)
}

// unmark forgets the last mark.
func (c *cleaner) unmark() { c.marks = c.marks[:len(c.marks)-1] }

// cutTail removes what publishers' tools put at the end of every item: "Read
// more", "The post X appeared first on Y". What has nothing before it is no
// tail, and what has an image behind it neither.
func (c *cleaner) cutTail() {
	if c.rules.tails == nil {
		return
	}
	at := -1
	for end := len(c.text.b); ; {
		m, ok := c.tail(end)
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

// tail returns where the text up to end has its tail, and forgets the marks
// from there on.
func (c *cleaner) tail(end int) (mark, bool) {
	seen := end
	for i := len(c.marks) - 1; i >= 0; i-- {
		m := c.marks[i]
		if end-m.text > maxTail || m.first || m.html < c.solid {
			break
		}
		if m.text == seen {
			continue
		}
		seen = m.text
		if !c.rules.tails.MatchString(strings.TrimSpace(string(c.text.b[m.text:end]))) {
			continue
		}
		// What else begins there is empty without it.
		for i > 0 && c.marks[i-1].text == m.text && !c.marks[i-1].first && c.marks[i-1].html >= c.solid {
			i--
			m = c.marks[i]
		}
		c.marks = c.marks[:i]
		return m, true
	}
	return mark{}, false
}

// closed appends the end tags that are missing from markup of our own, which
// was cut off between tags and text.
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
