package text

import (
	"slices"

	"golang.org/x/net/html"
)

// start cleans a start tag, and reports whether its element's contents are dropped.
func (c *cleaner) start(z *html.Tokenizer, selfClosing bool) (skips bool) {
	tag, _ := z.TagName()
	name := string(tag)
	if to, ok := substitutes[name]; ok {
		name = to
	}
	k := c.rules.kinds[name]
	if c.skip != "" {
		if name == c.skip && !selfClosing {
			c.depth++
		}
		return false
	}
	switch {
	case k == droppedRaw || k == dropped && !selfClosing && !c.unclosed[name]:
		c.skip, c.depth = name, 1
		return true
	case k == embed && !c.unclosed[name]:
		c.embed(z)
		if selfClosing {
			z.NextIsNotRawText()
			return false
		}
		c.skip, c.depth = name, 1
		return true
	case k == dropped || k == embed || k == 0:
		// Contents that browsers treat as raw text (noscript with its images) are kept here and must be
		// cleaned too.
		z.NextIsNotRawText()
		if name == "noscript" && !selfClosing {
			c.noscript++
		}
		return false
	case k == separator:
		c.space()
		return false
	}
	c.begin(z, name, k)
	return false
}

// begin writes the start tag of a kept element unless it is useless, such as a link without href.
func (c *cleaner) begin(z *html.Tokenizer, name string, k kind) {
	c.attr = c.readAttributes(c.attr[:0], z, name)
	switch name {
	case "a":
		if !c.hasAttribute("href") {
			return
		}
	case "img":
		if !c.image() {
			return
		}
	}
	if s := implied(name, k); len(s.closes) > 0 {
		c.closeImplied(s)
	}
	if len(c.open) >= maxDepth {
		return
	}
	start := len(c.html)
	if name == "a" {
		addTailStart(c)
	}
	if !c.writeTag(name, c.attr) {
		return
	}
	c.text.separate(k, name)
	switch {
	case name == "img":
		c.noteImage(c.value("src"))
		return
	case k == void:
		return
	case name == "a":
		c.link = span{start, len(c.html)}
	}
	c.open = append(c.open, name)
	if name == "pre" {
		c.pre++
	}
}

// end cleans an end tag. An unmatched end tag is dropped, except </p> and </br>, which browsers treat as
// breaks.
func (c *cleaner) end(name string) {
	if to, ok := substitutes[name]; ok {
		name = to
	}
	if c.skip != "" {
		if name == c.skip {
			if c.depth--; c.depth == 0 {
				c.skip = ""
			}
		}
		return
	}
	if name == "noscript" && c.noscript > 0 {
		c.noscript--
	}
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i] == name {
			c.closeTo(i)
			return
		}
		if isTable(c.open[i]) && !isTable(name) {
			break // an end tag inside a cell does not end elements outside of it
		}
	}
	k := c.rules.kinds[name]
	if k == separator {
		c.space()
	} else if (name == "p" || name == "br") && c.writeTag(name, nil) {
		c.text.separate(k, name)
		if name == "p" {
			c.html = append(c.html, "</p>"...)
		}
	}
}

func isTable(name string) bool {
	switch name {
	case "table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption":
		return true
	}
	return false
}

// closeImplied ends the innermost element that s closes, and all elements within it.
func (c *cleaner) closeImplied(s scope) {
	for i := len(c.open) - 1; i >= 0; i-- {
		if slices.Contains(s.closes, c.open[i]) {
			c.closeTo(i)
			return
		}
		if slices.Contains(s.within, c.open[i]) {
			return
		}
	}
}

// closeTo writes end tags until only n elements are open.
func (c *cleaner) closeTo(n int) {
	for len(c.open) > n {
		last := len(c.open) - 1
		name := c.open[last]
		c.open = c.open[:last]
		if name == "pre" {
			c.pre--
		}
		c.text.separate(elements[name], name)
		if name == "a" && len(c.html) == c.link.end {
			dropTailStart(c) // a link without contents, for example around a removed pixel
			c.html = c.html[:c.link.start]
			continue
		}
		c.html = append(c.html, "</"...)
		c.html = append(c.html, name...)
		c.html = append(c.html, '>')
	}
}
