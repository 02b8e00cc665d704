package text

import (
	"bytes"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Cleaned is the result of [Rules.Clean].
type Cleaned struct {
	HTML   string   // safe to display unchanged; balanced
	Text   string   // visible text, a line for each block
	Images []string // absolute http(s) URLs in order, without repetition; at most 16
	Media  []Media  // embedded video and audio in order, without repetition; at most 16
}

// Clean makes untrusted markup, an item of the feed at feedURL, safe to display. It applies the feed's own
// pick and cut rules and keeps only tags and attributes that format text. Links and images become absolute by
// base, which may be nil, or lose their URL. Lazily loaded images get their URL back; tracking pixels and the
// tail are removed. Of ids, only those that links of the markup lead to are kept, see [AnchorPrefix].
// Embedded documents, video and audio become links, unless the rules embed their host. Markup beyond 1 MB is
// cut off. Elements nested more than 100 deep lose their tags, not their text. Cleaning clean markup changes
// nothing, except for the feed's own rules.
//
// One pass over the tokens writes the clean form. Then bluemonday, with a policy from the same tables,
// sanitizes it as a second line of defense.
func (r *Rules) Clean(markup string, base *url.URL, feedURL string) Cleaned {
	markup = cut(sanitizeUTF8(markup), maxMarkup)
	if rules := feedRulesOf(r, feedURL); len(rules) > 0 {
		markup = cut(applyFeedRules(markup, rules), maxMarkup)
	}
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	c := cleaner{rules: r, base: base, html: b.html[:0], text: lineBuffer{b: b.text[:0]}}
	c.read(markup)
	cutTail(&c)
	cutAnchors(&c)
	b.reuse(c.html, c.text.b)
	return Cleaned{HTML: r.sanitized(c.html), Text: c.text.String(), Images: c.images, Media: c.media}
}

// sanitized passes our markup through bluemonday.
func (r *Rules) sanitized(markup []byte) string {
	var out strings.Builder
	out.Grow(len(markup))
	if err := r.policy.SanitizeReaderToWriter(bytes.NewReader(markup), &out); err != nil {
		return "" // not from memory to memory
	}
	return strings.TrimSpace(out.String())
}

// A buffer holds the output of a cleaner. Buffers are kept in a pool.
type buffer struct{ html, text []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxPooled is the capacity in bytes up to which a buffer is returned to the pool. Nearly all items fit.
const maxPooled = 64 << 10

// reuse stores the grown slices in the buffer, unless they are too large for the pool.
func (b *buffer) reuse(html, text []byte) {
	if cap(html) <= maxPooled && cap(text) <= maxPooled {
		*b = buffer{html, text}
	}
}

// PlainText returns the visible text of markup, its tail included. It is fast for markup that [Rules.Clean]
// wrote, as that of all items is.
func PlainText(markup string) string {
	markup = cut(sanitizeUTF8(markup), maxMarkup)
	if !strings.ContainsAny(markup, "<&") {
		t := lineBuffer{b: make([]byte, 0, len(markup))}
		t.add(markup, false)
		return t.String()
	}
	if plain, ok := cleanedPlainText(markup); ok {
		return plain
	}
	c := cleaner{rules: Default(), textOnly: true}
	c.read(markup)
	return c.text.String()
}

// read cleans all of the markup. If an element to be dropped has no end tag, reading restarts behind its
// start tag and keeps its contents, for a script or style behind its source: a missing end tag must not lose
// the rest of an item.
func (c *cleaner) read(markup string) {
	if strings.Contains(markup, cdataBegin) || strings.Contains(markup, cdataEnd) {
		markup = cdata.Replace(markup)
	}
	for {
		resume := c.tokens(markup)
		if c.skip == "" {
			break
		}
		if c.unclosed == nil {
			c.unclosed = make(map[string]bool)
		}
		markup = markup[resume:]
		if elements[c.skip] == droppedRaw {
			markup = markup[endOfUnclosedRaw(markup):]
		}
		c.unclosed[c.skip] = true
		c.skip, c.math = "", formula{}
		c.endEmbedding()
	}
	c.closeTo(0)
}

// cdata removes CDATA delimiters that some feeds leave around their markup and that HTML parses as comments.
var cdata = strings.NewReplacer(cdataBegin, "", cdataEnd, "")

const (
	cdataBegin = "<![CDATA["
	cdataEnd   = "]]>"
)

// tokens cleans markup to its end. It returns the offset behind the start tag of the element being dropped at
// that point, if any.
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
			switch c.skip {
			case "":
				c.writeText(sanitizeUTF8(string(z.Text())))
			case "math":
				c.addFormula(sanitizeUTF8(string(z.Text())))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if c.start(z, token == html.SelfClosingTagToken, markup[pos:]) {
				resume = pos
				if c.unclosed[c.skip] {
					return resume // a script whose end tag was searched for before
				}
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			c.end(string(name))
		}
	}
	return resume
}

// CleanLink returns an absolute URL with its prefix rewritten according to the rules, and without tracking
// parameters. The rest, including the fragment, stays unchanged to the byte.
func (r *Rules) CleanLink(address string) string {
	for _, w := range r.document.Links.Rewrite {
		if rest, ok := strings.CutPrefix(address, w.From); ok {
			address = w.To + rest
			break
		}
	}
	return r.tracking.strip(address)
}
