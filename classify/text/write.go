package text

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"feedmesh/classify/text/player"
)

// readAttributes appends to list the kept attributes of z's current tag, with URLs made absolute; for an
// image also attributes that help to identify it. Fixed attributes come last.
func (c *cleaner) readAttributes(list []attribute, z *html.Tokenizer, name string) []attribute {
	allowed, general := c.rules.attributes[name], c.rules.attributes["*"]
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if k := string(key); k == "id" || k == "name" && name == "a" {
			if id := c.anchor(string(value)); id != "" && !slices.ContainsFunc(list, func(a attribute) bool { return a.name == "id" }) {
				list = append(list, attribute{"id", id})
			}
			continue
		}
		must, ok := allowed[string(key)]
		if !ok {
			must, ok = general[string(key)]
		}
		ok = ok || name == "img" && c.isHint(string(key))
		if !ok || slices.ContainsFunc(list, func(a attribute) bool { return a.name == string(key) }) {
			continue
		}
		a := attribute{name: string(key), value: sanitizeUTF8(string(value))}
		switch {
		case a.name == "src" && c.rules.isDataImage(a.value) && name == "img":
		case a.name == "href" || a.name == "src" || a.name == "cite":
			a.value = cleanedLink(c.rules, a.value, c.base, a.name == "href")
			ok = a.value != ""
		case a.name == "width" || a.name == "height":
			a.value = strings.TrimSuffix(strings.TrimSpace(a.value), "px")
			ok = size.MatchString(a.value)
		case must != nil:
			ok = must.MatchString(a.value)
		}
		if ok {
			list = append(list, a)
		}
	}
	if a, ok := fixedAttributes[name]; ok {
		list = append(list, a)
	}
	return list
}

func (c *cleaner) hasAttribute(name string) bool { return c.value(name) != "" }

// value returns the value of an attribute of the current tag, or "".
func (c *cleaner) value(name string) string {
	for _, a := range c.attr {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

func (c *cleaner) setValue(name, value string) {
	for i := range c.attr {
		if c.attr[i].name == name {
			c.attr[i].value = value
		}
	}
}

// embed writes z's current iframe if its document comes from an allowed host, or begins to replace it by a link.
// Contents between its tags are dropped.
func (c *cleaner) embed(z *html.Tokenizer) {
	c.attr = c.readAttributes(c.attr[:0], z, "iframe")
	u, err := url.Parse(c.value("src"))
	if err == nil && player.IsYouTube(u.Host) && c.rules.embeds[player.PrivateYouTube] {
		u.Scheme, u.Host = "https", player.PrivateYouTube
		c.setValue("src", u.String())
	}
	if err != nil || u.Scheme != "https" || u.Path == "" || !c.rules.embeds[u.Host] {
		c.embedding = embedding{name: "iframe", address: c.value("src"), title: mediaTitle(c.value("title")), hidden: isTiny(c.value("width"), c.value("height"), "")}
		return
	}
	if c.writeTag("iframe", c.attr) {
		c.html = append(c.html, "</iframe>"...)
		c.contentEnd, c.mediaEnd = len(c.html), len(c.html)
	}
}

// space keeps the words before and after a dropped tag separate.
func (c *cleaner) space() {
	if n := len(c.html); n > 0 && c.html[n-1] != ' ' {
		c.writeText(" ")
	}
}

// writeTag writes a start tag, and reports whether it was within the limit.
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

// writeText writes as much of s as the limit allows.
func (c *cleaner) writeText(s string) {
	if room := maxMarkup - endTags - len(c.html); len(s)*len("&#34;") > room {
		s, c.full = fitEscaped(s, room)
	}
	words := len(c.text.b)
	if c.text.atLineStart() && strings.TrimSpace(s) != "" {
		addTailStart(c)
	}
	c.html = append(c.html, html.EscapeString(s)...)
	if c.text.add(s, c.pre > 0); len(c.text.b) > words {
		c.contentEnd = len(c.html)
	}
}

// fitEscaped returns the prefix of s that takes at most room bytes when escaped, and whether anything is
// missing.
func fitEscaped(s string, room int) (string, bool) {
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
