package simulate

import (
	"encoding/json"
	"fmt"
	"time"
)

// A document is the content of a feed at a time, newest item first.
type document struct {
	title, site, language string
	items                 []item
}

// An item is the content of an entry.
type item struct {
	title string
	body  string // HTML
	link  string
	at    time.Time
}

// A format is a feed format.
type format struct {
	contentType string
	write       func(d document, b []byte) []byte // appends the document
}

// formats lists the formats with their frequency: most feeds use RSS, many Atom.
var formats = []format{
	rss, rss, rss, rss, rss, rss,
	{"application/atom+xml; charset=utf-8", document.atom},
	{"application/atom+xml; charset=utf-8", document.atom},
	{"application/rdf+xml; charset=utf-8", document.rdf},
	{"application/feed+json", document.json},
}

var rss = format{"application/rss+xml; charset=utf-8", document.rss}

const declaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// rss appends the document as RSS 2.0.
func (d document) rss(b []byte) []byte {
	b = fmt.Appendf(b, declaration+`<rss version="2.0"><channel><title>%s</title><link>%s</link><description>A synthetic feed</description><language>%s</language>`+"\n",
		d.title, d.site, d.language)
	for _, it := range d.items {
		b = appendElement(append(b, "<item>"...), "title", it.title)
		b = appendElement(b, "link", it.link)
		b = appendElement(b, "guid", it.link)
		b = appendElement(b, "pubDate", it.at.Format(time.RFC1123Z))
		b = append(appendElement(b, "description", it.body), "</item>\n"...)
	}
	return append(b, "</channel></rss>\n"...)
}

// atom appends the document as Atom 1.0.
func (d document) atom(b []byte) []byte {
	b = fmt.Appendf(b, declaration+`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="%s"><title>%s</title><id>%s</id><link href="%s"/>`, d.language, d.title, d.site, d.site)
	b = append(appendElement(b, "updated", d.newest().Format(time.RFC3339)), '\n')
	for _, it := range d.items {
		b = appendElement(append(b, "<entry>"...), "title", it.title)
		b = appendElement(b, "id", it.link)
		b = fmt.Appendf(b, `<link href="%s"/>`, it.link)
		b = appendElement(b, "published", it.at.Format(time.RFC3339))
		b = appendElement(b, "updated", it.at.Format(time.RFC3339))
		b = appendEscaped(append(b, `<content type="html">`...), it.body)
		b = append(b, "</content></entry>\n"...)
	}
	return append(b, "</feed>\n"...)
}

// rdf appends the document as RSS 1.0, which lists its items' URLs apart from the items.
func (d document) rdf(b []byte) []byte {
	b = fmt.Appendf(b, declaration+`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">`+
		`<channel rdf:about="%s"><title>%s</title><link>%s</link><description>A synthetic feed</description><dc:language>%s</dc:language><items><rdf:Seq>`,
		d.site, d.title, d.site, d.language)
	for _, it := range d.items {
		b = fmt.Appendf(b, `<rdf:li rdf:resource="%s"/>`, it.link)
	}
	b = append(b, "</rdf:Seq></items></channel>\n"...)
	for _, it := range d.items {
		b = appendElement(fmt.Appendf(b, `<item rdf:about="%s">`, it.link), "title", it.title)
		b = appendElement(b, "link", it.link)
		b = appendElement(b, "dc:date", it.at.Format(time.RFC3339))
		b = append(appendElement(b, "description", it.body), "</item>\n"...)
	}
	return append(b, "</rdf:RDF>\n"...)
}

// json appends the document as JSON Feed 1.1.
func (d document) json(b []byte) []byte {
	type written struct {
		ID    string    `json:"id"`
		URL   string    `json:"url"`
		Title string    `json:"title"`
		HTML  string    `json:"content_html"`
		Date  time.Time `json:"date_published"`
	}
	items := make([]written, len(d.items))
	for i, it := range d.items {
		items[i] = written{it.link, it.link, it.title, it.body, it.at}
	}
	all, err := json.Marshal(map[string]any{
		"version": "https://jsonfeed.org/version/1.1", "title": d.title, "home_page_url": d.site, "language": d.language, "items": items,
	})
	if err != nil {
		panic(err) // all values can be encoded
	}
	return append(b, all...)
}

// newest returns the publication time of the newest item; zero if the document is empty.
func (d document) newest() time.Time {
	if len(d.items) == 0 {
		return time.Time{}
	}
	return d.items[0].at
}

// appendElement appends an XML element with text.
func appendElement(b []byte, name, text string) []byte {
	b = append(append(append(b, '<'), name...), '>')
	b = append(appendEscaped(b, text), "</"...)
	return append(append(b, name...), '>')
}

// appendEscaped appends text with XML escapes.
func appendEscaped(b []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; c {
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '&':
			b = append(b, "&amp;"...)
		case '"':
			b = append(b, "&#34;"...)
		default:
			b = append(b, c)
		}
	}
	return b
}
