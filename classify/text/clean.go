package text

import (
	"bytes"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

const (
	maxMarkup = 1 << 20 // bytes of markup we read, and write
	maxDepth  = 100     // elements inside one another; x/net/html parses 512 at most
	maxImages = 16
	endTags   = 2 << 10 // bytes that the end tags of maxDepth elements fit in
)

// Cleaned is what [Rules.Clean] makes of markup.
type Cleaned struct {
	HTML   string   // safe to show as it is; balanced
	Text   string   // what a reader sees of it, a line for each block
	Images []string // absolute http(s) addresses, in order, each once; at most 16
}

// Clean makes a stranger's markup, an item of the feed at feedURL, safe to show.
// It keeps the parts that the feed's own rules pick and do not cut; of tags and
// attributes those that give text its form. Links and images become absolute
// by base (which may be nil) or lose their address; images that scripts would
// load get it back, those that count readers go, and so does the tail. Markup
// beyond 1 MB is cut off. Elements more than 100 deep lose their tags, never
// their text. Cleaning what is clean changes nothing, feeds' own rules apart.
//
// One pass over the tokens writes the clean form; bluemonday, with a policy of
// the same tables, then has the last word on it.
func (r *Rules) Clean(markup string, base *url.URL, feedURL string) Cleaned {
	markup = cut(legible(markup), maxMarkup)
	if rules := r.feedRules(feedURL); len(rules) > 0 {
		markup = cut(choose(markup, rules), maxMarkup)
	}
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	c := cleaner{rules: r, base: base, html: b.html[:0], text: lines{b: b.text[:0]}}
	c.read(markup)
	c.cutTail()
	b.keep(c.html, c.text.b)
	return Cleaned{HTML: r.sanitized(c.html), Text: c.text.String(), Images: c.images}
}

// sanitized returns markup of our own as bluemonday lets it pass.
func (r *Rules) sanitized(markup []byte) string {
	var out strings.Builder
	out.Grow(len(markup))
	if err := r.policy.SanitizeReaderToWriter(bytes.NewReader(markup), &out); err != nil {
		return "" // not from memory to memory
	}
	return strings.TrimSpace(out.String())
}

// A buffer is where a cleaner writes, one after another.
type buffer struct{ html, text []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxKept is how large, in bytes, what a cleaner wrote may be for its memory to be
// kept: nearly all items are smaller.
const maxKept = 64 << 10

// keep keeps the memory of what a cleaner wrote for the next one.
func (b *buffer) keep(html, text []byte) {
	if cap(html) <= maxKept && cap(text) <= maxKept {
		*b = buffer{html, text}
	}
}

// Plain returns the text that a reader would see of markup, its tail included. It
// is quick where [Rules.Clean] wrote the markup, as it did that of all items.
func Plain(markup string) string {
	markup = cut(legible(markup), maxMarkup)
	if !strings.ContainsAny(markup, "<&") {
		t := lines{b: make([]byte, 0, len(markup))}
		t.add(markup, false)
		return t.String()
	}
	if plain, ok := reread(markup); ok {
		return plain
	}
	c := cleaner{rules: Default()}
	c.read(markup)
	return c.text.String()
}

// A cleaner writes markup in its clean form. What it writes next depends only
// on what it has written so far, so its output, read again, stays as it is.
type cleaner struct {
	rules  *Rules
	base   *url.URL
	html   []byte
	text   lines
	images []string

	open []string // the elements we are in, outermost first
	pre  int      // how many of them are pre
	attr []attribute

	content  int    // where in html the last text, image or document ends
	solid    int    // where the last image or document ends
	marks    []mark // where a tail may begin
	link     span   // the start tag of the last link, in html
	noscript int    // how many of them we are in
	last     shown  // the last image

	skip  string          // the element whose content is going, if any
	depth int             // how many of that name we are in
	never map[string]bool // elements not to skip, for they do not end
	full  bool            // the output has reached its limit
}

// A span is the bytes [start, end).
type span struct{ start, end int }

// read cleans all of the markup. Where an element that goes with its content
// never ends, reading starts again behind its start tag, with its content
// kept: one forgotten end tag must not cost us the rest of an item.
func (c *cleaner) read(markup string) {
	if strings.Contains(markup, cdataBegin) || strings.Contains(markup, cdataEnd) {
		markup = cdata.Replace(markup)
	}
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
var cdata = strings.NewReplacer(cdataBegin, "", cdataEnd, "")

const (
	cdataBegin = "<![CDATA["
	cdataEnd   = "]]>"
)

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
