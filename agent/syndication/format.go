package syndication

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"html"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/feeds"

	"feedmesh/storage"
)

// A Format is a format of documents.
type Format struct {
	Kind  string // media type
	write func(Document) ([]byte, error)
}

// Write writes a document in the format.
func (f Format) Write(d Document) ([]byte, error) { return f.write(d.clean()) }

// Endings lists the extensions of [Formats] for errors.
const Endings = ".rss, .atom or .json"

// FormatOf returns the format of a file name or path by its extension, and the name without it.
func FormatOf(file string) (f Format, name string, is bool) {
	ending := path.Ext(file)
	f, is = Formats[strings.TrimPrefix(ending, ".")]
	return f, strings.TrimSuffix(file, ending), is
}

// Formats are the formats by extension.
var Formats = map[string]Format{
	"rss":  {"application/rss+xml", writeRSS},
	"atom": {"application/atom+xml", writeAtom},
	"json": {"application/feed+json", writeJSON},
}

// The types below embed those of the library and shadow fields that it lacks or encodes wrong: a link to the
// document itself, several categories, an author's name where RSS expects an e-mail address, terms of Atom
// categories, an empty list of JSON Feed items, and sizes above 2 GB.

type rssDocument struct {
	XMLName xml.Name   `xml:"rss"`
	Version string     `xml:"version,attr"`
	Content string     `xml:"xmlns:content,attr"`
	Atom    string     `xml:"xmlns:atom,attr"`
	DC      string     `xml:"xmlns:dc,attr"`
	Channel rssChannel `xml:"channel"`
}

type rssChannel struct {
	*feeds.RssFeed
	Links []rssLink `xml:"atom:link"`
	Items []rssItem `xml:"item"`
}

type rssLink struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
}

type rssItem struct {
	*feeds.RssItem
	Link       string   `xml:"link,omitempty"`
	Creator    string   `xml:"dc:creator,omitempty"`
	Categories []string `xml:"category"`
}

// writeRSS writes RSS 2.0.
//
// Source: RSS Advisory Board, RSS 2.0 Specification and Best Practices Profile.
func writeRSS(d Document) ([]byte, error) {
	date := func(t time.Time) string { return t.UTC().Format(time.RFC1123Z) }
	c := rssChannel{
		RssFeed: &feeds.RssFeed{Title: escapeAngles(d.Title), Link: d.Home, Description: d.Description, LastBuildDate: date(d.Updated), Generator: "feedmesh"},
		Links:   []rssLink{{d.Self, "self", "application/rss+xml"}},
	}
	if d.Hub != "" {
		c.Links = append(c.Links, rssLink{Href: d.Hub, Rel: "hub"})
	}
	for _, e := range d.Entries {
		item := rssItem{Link: e.URL, Creator: e.Author, Categories: e.Tags, RssItem: &feeds.RssItem{
			Title: escapeAngles(e.Title), Description: html.EscapeString(e.Summary), PubDate: date(e.Published),
			Guid: &feeds.RssGuid{Id: e.ID, IsPermaLink: "false"},
		}}
		if e.HTML != "" {
			item.Content = &feeds.RssContent{Content: e.HTML}
		}
		if len(e.Enclosures) > 0 { // RSS allows one enclosure
			file := e.Enclosures[0]
			item.Enclosure = &feeds.RssEnclosure{Url: file.URL, Length: strconv.FormatInt(max(file.Length, 0), 10), Type: file.Type}
		}
		c.Items = append(c.Items, item)
	}
	return writeXML(rssDocument{Version: "2.0", Content: "http://purl.org/rss/1.0/modules/content/",
		Atom: "http://www.w3.org/2005/Atom", DC: "http://purl.org/dc/elements/1.1/", Channel: c})
}

// escapeAngles replaces angle brackets in a title: readers disagree whether titles in RSS are text or HTML.
func escapeAngles(title string) string { return angles.Replace(title) }

var angles = strings.NewReplacer("<", "＜", ">", "＞")

type atomDocument struct {
	XMLName xml.Name `xml:"feed"`
	*feeds.AtomFeed
	Links   []feeds.AtomLink `xml:"link"`
	Entries []atomEntry      `xml:"entry"`
}

type atomEntry struct {
	*feeds.AtomEntry
	Categories []atomCategory `xml:"category"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

// writeAtom writes Atom.
//
// Source: RFC 4287.
func writeAtom(d Document) ([]byte, error) {
	date := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	doc := atomDocument{
		AtomFeed: &feeds.AtomFeed{Xmlns: "http://www.w3.org/2005/Atom", Title: d.Title, Subtitle: d.Description, Id: URN("output", d.Self),
			Updated: date(d.Updated), Author: &feeds.AtomAuthor{AtomPerson: feeds.AtomPerson{Name: "feedmesh"}}},
		Links: []feeds.AtomLink{{Href: d.Self, Rel: "self", Type: "application/atom+xml"}, {Href: d.Home, Rel: "alternate", Type: "text/html"}},
	}
	if d.Hub != "" {
		doc.Links = append(doc.Links, feeds.AtomLink{Href: d.Hub, Rel: "hub"})
	}
	for _, e := range d.Entries {
		entry := atomEntry{AtomEntry: &feeds.AtomEntry{Title: e.Title, Id: e.ID, Updated: date(e.Updated), Published: date(e.Published),
			Content: &feeds.AtomContent{Content: cmp.Or(e.HTML, html.EscapeString(e.Summary)), Type: "html"}}}
		if e.Author != "" {
			entry.Author = &feeds.AtomAuthor{AtomPerson: feeds.AtomPerson{Name: e.Author}}
		}
		if e.URL != "" {
			entry.Links = append(entry.Links, feeds.AtomLink{Href: e.URL, Rel: "alternate"})
		}
		for _, file := range e.Enclosures {
			l := feeds.AtomLink{Href: file.URL, Rel: "enclosure", Type: file.Type}
			if file.Length > 0 {
				l.Length = strconv.FormatInt(file.Length, 10)
			}
			entry.Links = append(entry.Links, l)
		}
		for _, tag := range e.Tags {
			entry.Categories = append(entry.Categories, atomCategory{tag})
		}
		doc.Entries = append(doc.Entries, entry)
	}
	return writeXML(doc)
}

func writeXML(doc any) ([]byte, error) {
	body, err := xml.Marshal(doc)
	return append([]byte(xml.Header), body...), err
}

type jsonDocument struct {
	*feeds.JSONFeed
	Items []*feeds.JSONItem `json:"items"`
}

// writeJSON writes JSON Feed 1.1.
//
// Source: jsonfeed.org/version/1.1.
func writeJSON(d Document) ([]byte, error) {
	doc := jsonDocument{
		JSONFeed: &feeds.JSONFeed{Version: "https://jsonfeed.org/version/1.1", Title: d.Title, Description: d.Description, HomePageUrl: d.Home, FeedUrl: d.Self},
		Items:    []*feeds.JSONItem{},
	}
	if d.Hub != "" {
		doc.Hubs = []*feeds.JSONHub{{Type: "WebSub", Url: d.Hub}}
	}
	for _, e := range d.Entries {
		item := &feeds.JSONItem{Id: e.ID, Url: e.URL, Title: e.Title, ContentHTML: e.HTML, Summary: e.Summary, PublishedDate: &e.Published,
			ModifiedDate: &e.Updated, Tags: e.Tags}
		if e.HTML == "" { // either content_html or content_text is required
			item.ContentText = cmp.Or(e.Summary, e.Title)
		}
		if e.Author != "" {
			item.Authors = []*feeds.JSONAuthor{{Name: e.Author}}
		}
		for _, file := range e.Enclosures {
			item.Attachments = append(item.Attachments, attachment(file))
		}
		doc.Items = append(doc.Items, item)
	}
	return json.Marshal(doc)
}

// attachment converts an enclosure. The size is omitted if it exceeds the library's 32 bits.
func attachment(file storage.Enclosure) feeds.JSONAttachment {
	a := feeds.JSONAttachment{Url: file.URL, MIMEType: file.Type}
	if file.Length > 0 && file.Length <= math.MaxInt32 {
		a.Size = int32(file.Length)
	}
	return a
}
