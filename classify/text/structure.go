package text

import (
	"slices"

	"golang.org/x/net/html"
)

// start cleans a start tag, and reports whether its element's contents are dropped. rest is the markup after
// the tag.
func (c *cleaner) start(z *html.Tokenizer, selfClosing bool, rest string) (skips bool) {
	tag, _ := z.TagName()
	name := string(tag)
	if to, ok := substitutes[name]; ok {
		name = to
	}
	k := c.rules.kinds[name]
	if c.skip != "" {
		switch {
		case c.math.reads:
			c.startFormula(z, name)
		case c.embedding.name != "":
			c.readEmbedding(z, name)
		}
		if selfClosing {
			z.NextIsNotRawText()
		} else if name == c.skip {
			c.depth++
		}
		return false
	}
	switch {
	case k == droppedRaw && isEmptyRaw(z, name, selfClosing, rest):
		z.NextIsNotRawText()
		return false
	case k == droppedRaw || k == dropped && !selfClosing && !c.unclosed[name]:
		switch {
		case isEmbedding(name):
			c.beginEmbedding(z, name)
		case name == "math" && !repeatsFormula(rest):
			c.startFormula(z, name)
		}
		c.skip, c.depth = name, 1
		return true
	case k == embed && !c.unclosed[name]:
		c.embed(z)
		if selfClosing {
			c.endEmbedding()
			z.NextIsNotRawText()
			return false
		}
		c.skip, c.depth = name, 1
		return true
	case k == dropped || k == embed || k == 0:
		// Contents that browsers treat as raw text (noscript with its images) are kept here and must be
		// cleaned too.
		z.NextIsNotRawText()
		if isEmbedding(name) {
			c.beginEmbedding(z, name)
			c.endEmbedding()
		}
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

// begin writes the start tag of a kept element unless it is useless, such as a link without href that is no anchor.
func (c *cleaner) begin(z *html.Tokenizer, name string, k kind) {
	c.attr = c.readAttributes(c.attr[:0], z, name)
	switch name {
	case "a":
		if !c.hasAttribute("href") {
			if c.attr = slices.DeleteFunc(c.attr, func(a attribute) bool { return a.name != "id" }); len(c.attr) == 0 {
				return
			}
		}
	case "img":
		if !c.image() {
			return
		}
	}
	c.beginWith(name, k)
}

// beginWith writes the start tag of a kept element with the current attributes, and reports whether its end
// tag is to be written.
func (c *cleaner) beginWith(name string, k kind) (opened bool) {
	if s := implied(name, k); s.closes != 0 {
		c.closeImplied(s)
	}
	if len(c.open) >= maxDepth {
		return false
	}
	start := len(c.html)
	if name == "a" {
		addTailStart(c)
	}
	if !c.writeTag(name, c.attr) {
		return false
	}
	c.text.separate(k, name)
	switch {
	case name == "img":
		c.noteImage(c.value("src"))
		return false
	case k == void:
		return false
	case name == "a":
		c.link = span{start, len(c.html)}
	}
	c.open = append(c.open, openElement{name, elementSets[name]})
	if name == "pre" {
		c.pre++
	}
	return true
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
				c.endFormula()
				c.endEmbedding()
			}
		} else {
			c.math.element = ""
		}
		return
	}
	if name == "noscript" && c.noscript > 0 {
		c.noscript--
	}
	set := elementSets[name]
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i].name == name {
			c.closeTo(i)
			return
		}
		if c.open[i].set&tableParts != 0 && set&tableParts == 0 {
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

// closeImplied ends the innermost element that s closes, and all elements within it.
func (c *cleaner) closeImplied(s scope) {
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i].set&s.closes != 0 {
			c.closeTo(i)
			return
		}
		if c.open[i].set&s.within != 0 {
			return
		}
	}
}

// closeTo writes end tags until only n elements are open.
func (c *cleaner) closeTo(n int) {
	for len(c.open) > n {
		last := len(c.open) - 1
		name := c.open[last].name
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
