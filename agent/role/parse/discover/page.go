package discover

import (
	"bytes"
	"io"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Bounds of parsing.
const (
	maxPage       = 4 << 20 // bytes
	maxCandidates = 64
	maxTitle      = 200 // bytes
	maxURL        = 2048
)

// A link is a link of a page, not yet resolved.
type link struct {
	href, title string
	kind        string // media type, if it has one
}

// A page is the parsed part of a page.
type page struct {
	base      string // base of relative links
	canonical string // its own address
	generator string // software that generated it
	feeds     []link // link tags to feeds
	anchors   []link // for readers
	icons     []icon
}

// maxAnchors is the maximum number of anchors checked.
const maxAnchors = 5000

// readPage parses a page, and returns it with the base of its links: nil if the address is invalid.
func readPage(document []byte, contentType, address string) (page, *url.URL) {
	base, err := url.Parse(address)
	if err != nil {
		return page{}, nil
	}
	p := read(decode(document[:min(len(document), maxPage)], contentType))
	if p.base != "" {
		if b, err := base.Parse(p.base); err == nil {
			base = b
		}
	}
	return p, base
}

// resolve returns the web address of a link, without its fragment; nil if it has none, or one longer than maxURL.
func resolve(base *url.URL, href string) *url.URL {
	u, err := base.Parse(webScheme(href))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""
	if len(u.String()) > maxURL {
		return nil
	}
	return u
}

// read parses the tags of a page, which may be malformed.
func read(text io.Reader) page {
	var p page
	var open *link // whose text is being read
	z := html.NewTokenizer(text)
	z.SetMaxBuf(maxPage)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return p
		case html.TextToken:
			if open != nil && len(open.title) < maxTitle {
				open.title = oneLine(open.title + " " + string(z.Text()))
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.A {
				open = nil
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			switch tag := atom.Lookup(name); tag {
			case atom.A:
				open = nil
				if l := anchor(attributes(z)); l.href != "" && len(p.anchors) < maxAnchors {
					p.anchors = append(p.anchors, l)
					if l.title == "" {
						open = &p.anchors[len(p.anchors)-1]
					}
				}
			case atom.Link, atom.Base, atom.Meta:
				p.readHeadTag(tag, attributes(z))
			}
		}
	}
}

// decode returns the text of a page as UTF-8, or unchanged if its character set is not supported.
func decode(page []byte, contentType string) io.Reader {
	r, err := charset.NewReader(bytes.NewReader(page), contentType)
	if err != nil {
		return bytes.NewReader(page)
	}
	return r
}

// readHeadTag records a tag of the page's head.
func (p *page) readHeadTag(tag atom.Atom, a map[string]string) {
	rel := strings.Fields(strings.ToLower(a["rel"]))
	switch {
	case tag == atom.Base && p.base == "":
		p.base = a["href"]
	case tag == atom.Meta && strings.EqualFold(a["name"], "generator"):
		p.generator = a["content"]
	case tag != atom.Link || a["href"] == "":
	case slices.Contains(rel, "icon") || slices.Contains(rel, "apple-touch-icon"):
		if len(p.icons) < maxCandidates {
			p.icons = append(p.icons, icon{href: a["href"], kind: a["type"], width: widthOf(rel, a["sizes"])})
		}
	case slices.Contains(rel, "canonical"):
		p.canonical = a["href"]
	case len(p.feeds) < maxCandidates && namesFeed(rel, a["type"], a["href"]):
		p.feeds = append(p.feeds, link{href: a["href"], title: oneLine(a["title"]), kind: a["type"]})
	}
}

func anchor(a map[string]string) link {
	return link{href: a["href"], title: oneLine(a["title"]), kind: a["type"]}
}

// attributes returns a tag's attributes; of repeated ones the first.
func attributes(z *html.Tokenizer) map[string]string {
	all := map[string]string{}
	for more := true; more; {
		var name, value []byte
		name, value, more = z.TagAttr()
		if _, is := all[string(name)]; !is {
			all[string(name)] = strings.TrimSpace(string(value))
		}
	}
	return all
}

// namesFeed reports whether a link tag leads to a feed. Many pages link their JSON API or style sheets with
// similar tags.
func namesFeed(rel []string, kind, href string) bool {
	if slices.Contains(rel, "stylesheet") || strings.Contains(href, "/wp-json/") || strings.Contains(href, "oembed") {
		return false
	}
	if slices.Contains(rel, "feed") {
		return true
	}
	if !slices.Contains(rel, "alternate") && !slices.Contains(rel, "service.feed") {
		return false
	}
	switch plainType(kind) {
	case "text/xml", "application/xml", "application/json":
		return true
	}
	return isFeedType(kind)
}

// isFeedType reports whether a media type is that of a feed, in the spellings of publishers:
// application/rss+xml, application/atom, application/x-rss+xml ...
func isFeedType(kind string) bool {
	kind = plainType(kind)
	_, sub, _ := strings.Cut(kind, "/")
	for _, word := range strings.FieldsFunc(sub, func(r rune) bool { return r == '+' || r == '-' || r == '.' }) {
		switch word {
		case "rss", "atom", "rdf", "feed", "rss091", "rss2":
			return true
		}
	}
	return false
}

// plainType returns a media type without parameters, in lower case.
func plainType(kind string) string {
	if plain, _, err := mime.ParseMediaType(kind); err == nil {
		return plain
	}
	plain, _, _ := strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(plain))
}

// looksLikeFeed reports whether an address is like those of feeds.
func looksLikeFeed(u *url.URL) bool {
	if host := u.Hostname(); host == "feeds.feedburner.com" || host == "feeds2.feedburner.com" {
		return len(u.Path) > 1
	}
	name := strings.ToLower(path.Base(strings.TrimSuffix(u.Path, "/")))
	switch path.Ext(name) {
	case ".rss", ".atom", ".rdf":
		return true
	}
	switch name {
	case "feed", "rss", "atom", "feed.xml", "rss.xml", "atom.xml", "index.xml", "feeds.xml", "feed.json", "rss2", "rss2.xml":
		return true
	}
	return u.Query().Get("feed") == "rss2" || u.Query().Get("format") == "rss"
}

// oneLine returns s in one line of bounded length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle], "")
	}
	return s
}
