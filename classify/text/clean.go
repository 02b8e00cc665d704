package text

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxMarkup = 1 << 20 // bytes of markup we read, and write
	maxDepth  = 100     // elements inside one another; x/net/html parses 512 at most
	maxImages = 16
	endTags   = 2 << 10 // bytes that the end tags of maxDepth elements fit in
)

// Cleaned is what [Clean] makes of markup.
type Cleaned struct {
	HTML   string   // safe to show as it is; balanced
	Text   string   // what a reader sees of it, a line for each block
	Images []string // absolute http(s) addresses, in order, each once; at most 16
}

// Clean makes a stranger's markup safe to show. Of tags and attributes it keeps
// those that give text its form; links and images become absolute by base
// (which may be nil) or lose their address; images of one pixel go. Markup
// beyond 1 MB is cut off. Elements more than 100 deep lose their tags, never
// their text. Cleaning what is clean changes nothing.
//
// One pass over the tokens writes the clean form; bluemonday, with a policy of
// the same tables, then has the last word on it.
func Clean(markup string, base *url.URL) Cleaned {
	c := cleaner{base: base, html: make([]byte, 0, len(markup)+len(markup)/4)}
	c.read(cut(legible(markup), maxMarkup))
	return Cleaned{
		HTML:   strings.TrimSpace(string(policy.SanitizeBytes(c.html))),
		Text:   c.text.String(),
		Images: c.images,
	}
}

// Plain returns the text that a reader would see of markup, as [Clean] does.
func Plain(markup string) string {
	if !strings.ContainsAny(markup, "<&") {
		var t lines
		t.add(cut(legible(markup), maxMarkup), false)
		return t.String()
	}
	c := cleaner{}
	c.read(cut(legible(markup), maxMarkup))
	return c.text.String()
}

// A cleaner writes markup in its clean form. What it writes next depends only
// on what it has written so far, so its output, read again, stays as it is.
type cleaner struct {
	base   *url.URL
	html   []byte
	text   lines
	images []string

	open []string // the elements we are in, outermost first
	pre  int      // how many of them are pre
	attr []attribute

	skip  string          // the element whose content is going, if any
	depth int             // how many of that name we are in
	never map[string]bool // elements not to skip, for they do not end
	full  bool            // the output has reached its limit
}

// read cleans all of the markup. Where an element that goes with its content
// never ends, reading starts again behind its start tag, with its content
// kept: one forgotten end tag must not cost us the rest of an item.
func (c *cleaner) read(markup string) {
	markup = cdata.Replace(markup)
	for {
		resume := c.tokens(markup)
		if c.skip == "" || elements[c.skip] == code {
			break
		}
		if c.never == nil {
			c.never = make(map[string]bool)
		}
		c.never[c.skip] = true
		c.skip = ""
		markup = markup[resume:]
	}
	c.closeTo(0)
}

// cdata removes the marks that some feeds leave around their markup, which
// HTML would take for comments.
var cdata = strings.NewReplacer("<![CDATA[", "", "]]>", "")

// tokens cleans markup to its end, and returns the offset behind the start tag
// of the element it skips at that point, if any.
func (c *cleaner) tokens(markup string) (resume int) {
	z := html.NewTokenizer(strings.NewReader(markup))
	pos := 0
	for !c.full {
		token := z.Next()
		pos += len(z.Raw())
		switch token {
		case html.ErrorToken:
			return resume
		case html.TextToken:
			if c.skip == "" {
				c.writeText(legible(string(z.Text())))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if c.start(z, token == html.SelfClosingTagToken) {
				resume = pos
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			c.end(string(name))
		}
	}
	return resume
}

// start cleans one start tag, and reports whether skipping begins with it.
func (c *cleaner) start(z *html.Tokenizer, selfClosing bool) (skips bool) {
	tag, _ := z.TagName()
	name := string(tag)
	if to, ok := renamed[name]; ok {
		name = to
	}
	k := elements[name]
	if c.skip != "" {
		if name == c.skip && !selfClosing {
			c.depth++
		}
		return false
	}
	switch {
	case k == code || k == dropped && !selfClosing && !c.never[name]:
		c.skip, c.depth = name, 1
		return true
	case k == dropped || k == 0:
		// What is raw text to a browser (noscript with its images) is not to
		// us: we keep the content, and it must be cleaned as well.
		z.NextIsNotRawText()
		return false
	}
	c.begin(z, name, k)
	return false
}

// begin writes the start tag of an element we keep, if there is any sense in it.
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
	if s := implied(name); len(s.closes) > 0 {
		c.closeImplied(s)
	}
	if len(c.open) >= maxDepth {
		return
	}
	if !c.writeTag(name, c.attr) {
		return
	}
	c.separate(k, name)
	if k == void {
		return
	}
	c.open = append(c.open, name)
	if name == "pre" {
		c.pre++
	}
}

// end cleans one end tag. One that ends nothing goes, but for those two that
// browsers take for a break.
func (c *cleaner) end(name string) {
	if to, ok := renamed[name]; ok {
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
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i] == name {
			c.closeTo(i)
			return
		}
		if isTable(c.open[i]) && !isTable(name) {
			break // an end tag inside a cell ends nothing outside of it
		}
	}
	if (name == "p" || name == "br") && c.writeTag(name, nil) {
		c.separate(elements[name], name)
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

// closeImplied ends the innermost element that s closes, and all within it.
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
		c.separate(elements[name], name)
		c.html = append(c.html, "</"...)
		c.html = append(c.html, name...)
		c.html = append(c.html, '>')
	}
}

// separate keeps the words before a tag apart from those behind it.
func (c *cleaner) separate(k kind, name string) {
	switch {
	case k == block || name == "br" || name == "hr":
		c.text.line()
	case k == cell:
		c.text.space()
	}
}
