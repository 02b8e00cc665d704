package opml

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type document struct {
	XMLName xml.Name   `xml:"opml"`
	Version string     `xml:"version,attr"`
	Title   string     `xml:"head>title"`
	Body    []*outline `xml:"body>outline"`
}

// An outline is a folder or a feed.
type outline struct {
	Text    string     `xml:"text,attr"`
	Title   string     `xml:"title,attr,omitempty"`
	Type    string     `xml:"type,attr,omitempty"`
	XMLURL  string     `xml:"xmlUrl,attr,omitempty"`
	HTMLURL string     `xml:"htmlUrl,attr,omitempty"`
	Inner   []*outline `xml:"outline"`

	folders map[string]*outline // of Inner, by name
}

// Write writes the feeds as OPML 2.0. Tags become nested folders, the first tag outermost; [Read] returns the
// same feeds, grouped by folder. Characters that XML forbids are removed.
func Write(w io.Writer, title string, feeds []Feed) error {
	root := &outline{}
	for _, f := range feeds {
		folder := root
		for _, tag := range f.Tags {
			folder = folder.folder(clean(tag))
		}
		o := &outline{Text: clean(f.Title), Title: clean(f.Title), Type: "rss", XMLURL: clean(f.URL), HTMLURL: clean(f.Site)}
		if o.Text == "" {
			o.Text = o.XMLURL
		}
		folder.Inner = append(folder.Inner, o)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write OPML: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(document{Version: "2.0", Title: clean(title), Body: root.Inner}); err != nil {
		return fmt.Errorf("write OPML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// folder returns the folder of that name in o, or o itself if the name is empty. It creates a missing folder.
func (o *outline) folder(name string) *outline {
	if name == "" {
		return o
	}
	f := o.folders[name]
	if f == nil {
		f = &outline{Text: name}
		o.Inner = append(o.Inner, f)
		if o.folders == nil {
			o.folders = make(map[string]*outline)
		}
		o.folders[name] = f
	}
	return f
}

// clean returns s without characters that XML forbids and without surrounding white space.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}
