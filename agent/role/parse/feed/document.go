package feed

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A builder makes a document from the scanned tree.
type builder struct {
	format      format
	heads       []*node  // elements with the feed's own fields: its channel, its root
	documentURL *url.URL // address of the document; nil if unknown
	site        *url.URL // base of relative links without xml:base
	addresses   int      // number of addresses in HTML made absolute
	dates       []string // as written, at most one for each entry, in document order
}

// parseXML parses text, in which the feed's root may start anywhere.
func parseXML(text []byte, outer *url.URL) (draft, error) {
	root, f, wrong := findRoot(text)
	if f == unknown {
		if i := bytes.IndexByte(text, '{'); i >= 0 && bytes.Contains(text[:min(len(text), maxJunk)], []byte("jsonfeed.org")) {
			d, err := parseJSON(text[i:], outer)
			d.defects |= junkBefore
			return d, err
		}
		if once, ok := unescapeAll(text); ok {
			d, err := parseXML(once, outer)
			d.defects |= escapedWhole
			return d, err
		}
		return draft{}, notFeed(text)
	}
	if f == atomEntry {
		text, root, f = slices.Concat([]byte("<feed>"), text[root:], []byte("</feed>")), 0, atom
	}
	doc, older := newestItems(expandEntities(text[:root], text[root:]), f)
	s, err := scan(doc, f)
	if err != nil {
		return draft{}, err
	}
	after := s.after
	if len(s.items) == 0 {
		if again, f2, _ := findRoot(after); f2 != unknown { // two roots
			if s2, err := scan(after[again:], f2); err == nil && len(s2.items) > 0 {
				s, f, after = s2, f2, nil
				wrong |= junkAfter
			}
		}
	}
	if isJunk(after) {
		wrong |= junkAfter
	}
	r := &builder{format: f, documentURL: outer, heads: []*node{s.root}}
	for n := s.root; n != nil; n = n.child("rss", "rdf:rdf", "feed") {
		if channel := n.child("channel"); channel != nil {
			r.heads = []*node{channel, s.root}
			break
		}
	}
	d := r.document(s.items)
	if len(d.Entries) == 0 && s.defects&cutOff != 0 {
		return draft{}, failed(Broken, "the document ends before its first item")
	}
	return draft{Document: d, dates: r.dates, defects: wrong | s.defects, kept: len(s.items), older: older, beyond: s.leftOut}, nil
}

// unescapeAll returns a document that was escaped as a whole in its original form.
func unescapeAll(text []byte) ([]byte, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("&lt;")) {
		return nil, false
	}
	return bytes.TrimSpace([]byte(unescape(text))), true
}

// isJunk reports whether anything but comments and instructions follows a root.
func isJunk(after []byte) bool {
	for {
		after = bytes.TrimLeft(after, space)
		n := 1
		if len(after) > 0 && after[0] == '<' {
			n = prologueLength(after)
		}
		if n == 1 {
			return len(after) > 0
		}
		after = after[n:]
	}
}

// document returns the fields and entries of a feed, within the package's limits.
func (r *builder) document(items []*node) Document {
	var d Document
	d.Title = r.feedTitle()
	d.Language = clip(r.language(), maxTag)
	d.Site = r.siteLink()
	r.site = r.documentURL
	if u, err := url.Parse(d.Site); err == nil && u.Host != "" {
		r.site = u
	}
	d.Hints = r.hints()
	d.Entries = make([]Entry, 0, len(items))
	for _, item := range items {
		if item.hasContent() {
			d.Entries = append(d.Entries, r.entry(item, d.Language))
		}
	}
	return d
}

func (r *builder) feedTitle() string {
	for _, head := range r.heads {
		if s := r.html(head, "title", "dc:title", "atom:title"); s != "" {
			return clip(s, maxTitle)
		}
	}
	return ""
}

// headText returns the feed's own text under one of these names.
func (r *builder) headText(names ...string) string {
	for _, head := range r.heads {
		if s := head.childText(names...); s != "" {
			return s
		}
	}
	return ""
}

func (r *builder) language() string {
	if s := r.headText("language", "dc:language"); s != "" {
		return s
	}
	for _, head := range r.heads {
		if s := head.attr("xml:lang"); s != "" {
			return s
		}
	}
	return ""
}

// siteLink returns the address of the feed's website.
func (r *builder) siteLink() string {
	for _, head := range r.heads {
		if _, l := r.link(head, "alternate"); l != "" {
			return l
		}
	}
	return ""
}

// resolve returns the absolute address of ref in n, or "" if it has none.
func (r *builder) resolve(n *node, ref string) string {
	if base := n.base(r.documentURL); base != nil {
		return resolve(base, ref)
	}
	if r.site != nil {
		return resolve(r.site, ref)
	}
	return resolve(r.documentURL, ref)
}

// link returns the address of an item or a channel, as written and resolved. RSS has it in the text of the
// last link, Atom in the link of the first of these relations that occurs, where web pages precede other
// formats.
func (r *builder) link(n *node, relations ...string) (written, resolved string) {
	for _, rel := range relations {
		inText, isPage := false, false
		for c := n.first; c != nil; c = c.next {
			if c.name != "link" && c.name != "atom:link" {
				continue
			}
			href, has := c.attr("href"), cmp.Or(strings.ToLower(c.attr("rel")), "alternate")
			if href == "" && has == rel && rel == "alternate" && (r.format == rss || !isPage) {
				if as, l := r.linkIn(c, c.value()); l != "" {
					written, resolved, inText = as, l, true
				}
			}
			if has != rel || inText || isPage || href == "" {
				continue
			}
			kind := c.attr("type")
			isPage = kind == "" || strings.Contains(kind, "html")
			if as, l := r.linkIn(c, href); l != "" && (isPage || resolved == "") {
				written, resolved = as, l
			} else {
				isPage = false
			}
		}
		if resolved != "" {
			return written, resolved
		}
	}
	return "", ""
}

// linkIn returns a link as written, with xml:base applied, and resolved.
func (r *builder) linkIn(n *node, href string) (written, resolved string) {
	resolved = r.resolve(n, href)
	if n.base(r.documentURL) != nil {
		return resolved, resolved
	}
	return href, resolved
}

// resolveHTML makes the addresses in HTML absolute, at most maxAddresses in a document. HTML without
// addresses is returned unchanged.
func (r *builder) resolveHTML(base *url.URL, s string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if b.Len() == 0 {
				return s
			}
			return b.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			if r.addresses == maxAddresses {
				b.WriteString(raw)
				continue
			}
			token := z.Token()
			if resolveAttributes(base, token.Attr) {
				raw = token.String()
				r.addresses++
			}
			b.WriteString(raw)
		default:
			b.Write(z.Raw())
		}
	}
}
