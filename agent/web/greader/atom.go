package greader

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/access"
)

// The types below encode a stream as Atom, as Newsboat requests it. Category labels contain an entry's
// states; Newsboat sends entry IDs back to mark items.

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Link    atomLink    `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel    string `xml:"rel,attr"`
	Href   string `xml:"href,attr"`
	Type   string `xml:"type,attr,omitempty"`
	Length int64  `xml:"length,attr,omitempty"`
}

type atomCategory struct {
	Term   string `xml:"term,attr"`
	Scheme string `xml:"scheme,attr,omitempty"`
	Label  string `xml:"label,attr,omitempty"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      atomText       `xml:"title"`
	Updated    string         `xml:"updated"`
	Published  string         `xml:"published"`
	Author     string         `xml:"author>name,omitempty"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomText       `xml:"content"`
}

// streamAtom sends a page of a stream as Atom.
func (s *itemCalls) streamAtom(w http.ResponseWriter, r *http.Request, p url.Values) error {
	id := streamParameter(r, p)
	page, _, err := s.list(r.Context(), access.From(r.Context()).ID, id, p, maxContents)
	if err != nil {
		return err
	}
	feed := atomFeed{ID: "tag:google.com,2005:reader/" + id, Title: id, Author: "feedmesh", Updated: atomTime(s.now().Unix()),
		Link: atomLink{Rel: "self", Href: r.URL.RequestURI()}}
	for c, err := range s.contents(r.Context(), page) {
		if err != nil {
			return err
		}
		if target, err := parseStream(id); err == nil && target.feed != "" {
			feed.Title = c.Origin.Title
		}
		feed.Entries = append(feed.Entries, entryOf(c))
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	io.WriteString(w, xml.Header)
	return ignoreWriteError(xml.NewEncoder(w).Encode(feed))
}

func atomTime(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

func entryOf(c content) atomEntry {
	e := atomEntry{
		ID: c.ID, Title: atomText{"text", c.Title}, Published: atomTime(c.Published), Updated: atomTime(max(c.Published, c.Updated)),
		Author: c.Author, Content: atomText{"html", c.Summary["content"]},
	}
	for _, a := range c.Alternate {
		e.Links = append(e.Links, atomLink{Rel: "alternate", Href: a.Href, Type: a.Type})
	}
	for _, a := range c.Enclosure {
		e.Links = append(e.Links, atomLink{Rel: "enclosure", Href: a.Href, Type: a.Type, Length: a.Length})
	}
	states := c.Categories
	if !slices.Contains(states, statePrefix+read) { // without this state Newsboat keeps its own
		states = append(slices.Clone(states), statePrefix+keptUnread)
	}
	for _, id := range states {
		category := atomCategory{Term: id}
		if state, ok := strings.CutPrefix(id, statePrefix); ok { // a folder named "read" is not a state
			category.Scheme, category.Label = "http://www.google.com/reader/", state
		}
		e.Categories = append(e.Categories, category)
	}
	return e
}
