package text

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

type attribute struct{ name, value string }

// readAttributes appends to list the attributes of the tag that z is at which
// we keep, with addresses made absolute; of an image also those that tell what
// it is. A link gets our rel, always last.
func (c *cleaner) readAttributes(list []attribute, z *html.Tokenizer, name string) []attribute {
	allowed := attributes[name]
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		must, ok := allowed[string(key)]
		if !ok {
			must, ok = attributes[""][string(key)]
		}
		ok = ok || name == "img" && imageHints[string(key)]
		if !ok || string(key) == "rel" || slices.ContainsFunc(list, func(a attribute) bool { return a.name == string(key) }) {
			continue
		}
		a := attribute{name: string(key), value: legible(string(value))}
		switch {
		case a.name == "href" || a.name == "src" || a.name == "cite":
			a.value = link(a.value, c.base, a.name == "href")
			ok = a.value != ""
		case must != nil:
			ok = must.MatchString(a.value)
		}
		if ok {
			list = append(list, a)
		}
	}
	if name == "a" {
		list = append(list, attribute{"rel", rel})
	}
	return list
}

func (c *cleaner) hasAttribute(name string) bool { return c.value(name) != "" }

// value returns the value of the current tag's attribute; empty if there is none.
func (c *cleaner) value(name string) string {
	for _, a := range c.attr {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// imageHints are attributes of images that we read, but do not keep: where
// scripts would load the image from later, and how large it would be.
var imageHints = map[string]bool{"data-src": true, "data-lazy-src": true, "data-original": true, "style": true}

// image completes the attributes of an image and notes its address. It reports
// whether a reader would see an image there.
func (c *cleaner) image() bool {
	src := c.value("src")
	for _, a := range c.attr {
		if src == "" && strings.HasPrefix(a.name, "data-") {
			src = link(a.value, c.base, false)
			c.attr = append(c.attr, attribute{"src", src})
		}
	}
	if src == "" || c.tracks(src) {
		return false
	}
	c.attr = slices.DeleteFunc(c.attr, func(a attribute) bool { return imageHints[a.name] || a.value == "" && a.name == "src" })
	if len(c.images) < maxImages && !slices.Contains(c.images, src) {
		c.images = append(c.images, src)
	}
	return true
}

// tracks reports whether the image is there to count readers: it is at most a
// pixel large, or comes from where only such images are.
func (c *cleaner) tracks(src string) bool {
	width, height := c.value("width"), c.value("height")
	tiny := func(s string) bool {
		n, err := strconv.Atoi(s)
		return err == nil && n <= 1
	}
	if tiny(width) && (tiny(height) || height == "") || tiny(height) && width == "" {
		return true
	}
	style := strings.ToLower(strings.ReplaceAll(c.value("style"), " ", ""))
	for _, hidden := range []string{"width:1px", "width:0", "display:none"} {
		if at := strings.Index(style, hidden); at == 0 || at > 0 && style[at-1] == ';' {
			return true
		}
	}
	for _, counter := range []string{"://pixel.wp.com/", "://feeds.feedburner.com/~r/", "://medium.com/_/stat?"} {
		if strings.Contains(src, counter) {
			return true
		}
	}
	return false
}

// writeTag writes a start tag, and reports whether there was room for it.
func (c *cleaner) writeTag(name string, list []attribute) bool {
	before := len(c.html)
	c.html = append(append(c.html, '<'), name...)
	for _, a := range list {
		c.html = append(append(append(c.html, ' '), a.name...), `="`...)
		c.html = append(c.html, html.EscapeString(a.value)...)
		c.html = append(c.html, '"')
	}
	c.html = append(c.html, '>')
	if len(c.html) > maxMarkup-endTags {
		c.html, c.full = c.html[:before], true
	}
	return !c.full
}

// writeText writes text, as much as there is room for.
func (c *cleaner) writeText(s string) {
	if room := maxMarkup - endTags - len(c.html); len(s)*len("&#34;") > room {
		s, c.full = fit(s, room)
	}
	c.html = append(c.html, html.EscapeString(s)...)
	c.text.add(s, c.pre > 0)
}

// fit returns what of s takes at most room bytes when escaped, and whether
// anything is missing.
func fit(s string, room int) (string, bool) {
	for i, r := range s {
		n := len(string(r))
		if strings.ContainsRune(`&'<>"`, r) {
			n = len("&#34;")
		}
		if room -= n; room < 0 {
			return s[:i], true
		}
	}
	return s, false
}
