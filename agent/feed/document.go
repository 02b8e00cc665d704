package feed

import (
	"bytes"
	"cmp"
	"net/url"
	"strings"
)

// A reader makes a document of what was scanned.
type reader struct {
	format    format
	heads     []*node  // where the feed tells of itself: its channel, its root
	outer     *url.URL // address of the document; nil if nobody knows
	site      *url.URL // what relative links start from where no xml:base says
	addresses int      // that were made absolute in HTML
	dates     []string // as written, one of each entry that has any, in their order
}

// parseXML reads text, of which the feed's root may start anywhere.
func parseXML(text []byte, outer *url.URL) (draft, error) {
	root, f, wrong := findRoot(text)
	if f == unknown {
		if i := bytes.IndexByte(text, '{'); i >= 0 && bytes.Contains(text[:min(len(text), maxJunk)], []byte("jsonfeed.org")) {
			d, err := parseJSON(text[i:], outer)
			d.wrong |= junkBefore
			return d, err
		}
		if once, ok := unescapeAll(text); ok {
			d, err := parseXML(once, outer)
			d.wrong |= escapedWhole
			return d, err
		}
		return draft{}, notFeed(text)
	}
	s, err := scan(expand(text[:root], text[root:]), f)
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
	r := &reader{format: f, outer: outer, heads: []*node{s.root}}
	for n := s.root; n != nil; n = n.child("rss", "rdf:rdf", "feed") {
		if channel := n.child("channel"); channel != nil {
			r.heads = []*node{channel, s.root}
			break
		}
	}
	d := r.document(s.items)
	if len(d.Entries) == 0 && s.wrong&cutOff != 0 {
		return draft{}, failed(Broken, "the document ends before its first item")
	}
	return draft{Document: d, dates: r.dates, wrong: wrong | s.wrong}, nil
}

// unescapeAll returns a document that was escaped as a whole, as if it was the
// text of another one, as it was before.
func unescapeAll(text []byte) ([]byte, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("&lt;")) {
		return nil, false
	}
	return bytes.TrimSpace([]byte(unescape(text))), true
}

// isJunk reports whether there is anything but comments and instructions in
// what follows a root.
func isJunk(after []byte) bool {
	for {
		after = bytes.TrimLeft(after, space)
		n := 1
		if len(after) > 0 && after[0] == '<' {
			n = prologue(after)
		}
		if n == 1 {
			return len(after) > 0
		}
		after = after[n:]
	}
}

// document returns what is worth keeping of a feed, within our limits.
func (r *reader) document(items []*node) Document {
	var d Document
	d.Title = r.feedTitle()
	d.Language = clip(r.language(), maxTag)
	d.Site = r.siteLink()
	r.site = r.outer
	if u, err := url.Parse(d.Site); err == nil && u.Host != "" {
		r.site = u
	}
	d.Hints = r.hints()
	d.Entries = make([]Entry, 0, len(items))
	for _, item := range items {
		if item.says() {
			d.Entries = append(d.Entries, r.entry(item, d.Language))
		}
	}
	return d
}

func (r *reader) feedTitle() string {
	for _, head := range r.heads {
		if s := r.html(head, "title", "dc:title", "atom:title"); s != "" {
			return clip(s, maxTitle)
		}
	}
	return ""
}

// say returns what the feed says of itself under one of these names.
func (r *reader) say(names ...string) string {
	for _, head := range r.heads {
		if s := head.say(names...); s != "" {
			return s
		}
	}
	return ""
}

func (r *reader) language() string {
	if s := r.say("language", "dc:language"); s != "" {
		return s
	}
	for _, head := range r.heads {
		if s := head.attr("xml:lang"); s != "" {
			return s
		}
	}
	return ""
}

// siteLink returns the address of the pages that the feed is about.
func (r *reader) siteLink() string {
	for _, head := range r.heads {
		if _, l := r.link(head, "alternate"); l != "" {
			return l
		}
	}
	return ""
}

// resolve returns the address that ref means in n, or "" if none.
func (r *reader) resolve(n *node, ref string) string {
	if base := n.base(r.outer); base != nil {
		return resolve(base, ref)
	}
	if r.site != nil {
		return resolve(r.site, ref)
	}
	return resolve(r.outer, ref)
}

// link returns the address that an item or a channel names for itself, as
// written and as it is: in the text of its last link, as RSS has it, or in the
// link of the first of these relations that has one, as Atom has it, a page
// rather than another format.
func (r *reader) link(n *node, relations ...string) (written, resolved string) {
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

// linkIn returns a link as written, which is what xml:base makes of it, and as
// it is.
func (r *reader) linkIn(n *node, href string) (written, resolved string) {
	resolved = r.resolve(n, href)
	if n.base(r.outer) != nil {
		return resolved, resolved
	}
	return href, resolved
}
