package output

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"html"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/feeds"

	"feedmesh/storage"
)

// A format writes documents, which have been cleaned.
type format struct {
	kind  string // media type
	write func(document) ([]byte, error)
}

// endings lists the extensions of formats in errors.
const endings = ".rss, .atom or .json"

// formats are the output formats by the extension of the path.
var formats = map[string]format{
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
	Self  selfLink  `xml:"atom:link"`
	Items []rssItem `xml:"item"`
}

type selfLink struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
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
func writeRSS(d document) ([]byte, error) {
	date := func(t time.Time) string { return t.UTC().Format(time.RFC1123Z) }
	c := rssChannel{
		RssFeed: &feeds.RssFeed{Title: escapeAngles(d.Title), Link: d.Home, Description: d.Description, LastBuildDate: date(d.Updated), Generator: "feedmesh"},
		Self:    selfLink{d.Self, "self", "application/rss+xml"},
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
func writeAtom(d document) ([]byte, error) {
	date := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	doc := atomDocument{
		AtomFeed: &feeds.AtomFeed{Xmlns: "http://www.w3.org/2005/Atom", Title: d.Title, Subtitle: d.Description, Id: urn("output", d.Self),
			Updated: date(d.Updated), Author: &feeds.AtomAuthor{AtomPerson: feeds.AtomPerson{Name: "feedmesh"}}},
		Links: []feeds.AtomLink{{Href: d.Self, Rel: "self", Type: "application/atom+xml"}, {Href: d.Home, Rel: "alternate", Type: "text/html"}},
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
func writeJSON(d document) ([]byte, error) {
	doc := jsonDocument{
		JSONFeed: &feeds.JSONFeed{Version: "https://jsonfeed.org/version/1.1", Title: d.Title, Description: d.Description, HomePageUrl: d.Home, FeedUrl: d.Self},
		Items:    []*feeds.JSONItem{},
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
