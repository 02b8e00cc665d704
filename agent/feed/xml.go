package feed

import (
	"bytes"
	"strings"

	"github.com/mmcdole/gofeed"
	gatom "github.com/mmcdole/gofeed/atom"
	ext "github.com/mmcdole/gofeed/extensions"
	grss "github.com/mmcdole/gofeed/rss"
)

// parseRSS reads RSS and RDF. The parsers of gofeed's packages are called
// one by one: its front door looks for the root in the first 4 KB only, and
// parses all HTML for images.
func parseRSS(doc []byte) (*gofeed.Feed, Hints, error) {
	raw, err := new(grss.Parser).Parse(bytes.NewReader(doc))
	if err != nil {
		return nil, Hints{}, err
	}
	translator := gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	f, err := translator.Translate(raw)
	if err != nil {
		return nil, Hints{}, err
	}
	for i, item := range f.Items {
		mendRSS(item, raw.Items[i])
	}
	return f, rssHints(raw), nil
}

// mendRSS fills what gofeed leaves empty though the item says it.
func mendRSS(item *gofeed.Item, raw *grss.Item) {
	if orig := first(item.Extensions, "feedburner", "origLink"); orig != nil && orig.Value != "" {
		item.Link = orig.Value
	}
	for _, prefix := range []string{"atom", "atom03"} {
		for _, link := range item.Extensions[prefix]["link"] {
			if rel := link.Attrs["rel"]; item.Link == "" && (rel == "" || rel == "alternate") {
				item.Link = link.Attrs["href"]
			}
		}
	}
	if item.Link == "" && raw.GUID != nil && raw.GUID.IsPermalink != "false" && strings.HasPrefix(raw.GUID.Value, "http") {
		item.Link = raw.GUID.Value
	}
	if len(item.Authors) > 0 && item.Authors[0].Name == "" && item.Authors[0].Email == "" {
		item.Authors[0].Name = raw.Author // not of a form that gofeed takes apart
	}
	mendImage(item)
}

// parseAtom reads Atom.
func parseAtom(doc []byte) (*gofeed.Feed, Hints, error) {
	raw, err := new(gatom.Parser).Parse(bytes.NewReader(doc))
	if err != nil {
		return nil, Hints{}, err
	}
	f, err := new(gofeed.DefaultAtomTranslator).Translate(raw)
	if err != nil {
		return nil, Hints{}, err
	}
	for i, item := range f.Items {
		if raw.Entries[i].Published == "" {
			item.Published, item.PublishedParsed = "", nil // gofeed puts updated there
		}
		if len(item.Authors) == 0 {
			item.Authors = f.Authors // RFC 4287, section 4.2.1
		}
		if orig := first(item.Extensions, "feedburner", "origLink"); orig != nil && orig.Value != "" {
			item.Link = orig.Value
		}
		if item.Link == "" && len(item.Links) > 0 {
			item.Link = item.Links[0]
		}
		mendImage(item)
	}
	return f, atomHints(raw), nil
}

// mendImage takes the image of an item, and a text where it has none, from the
// Media RSS elements that gofeed does not look at.
func mendImage(item *gofeed.Item) {
	media := item.Extensions["media"]
	children := func(name string) []ext.Extension {
		found := media[name]
		for _, group := range media["group"] {
			found = append(found, group.Children[name]...)
		}
		return found
	}
	for _, thumbnail := range children("thumbnail") {
		if item.Image == nil && thumbnail.Attrs["url"] != "" {
			item.Image = &gofeed.Image{URL: thumbnail.Attrs["url"]}
		}
	}
	for _, description := range children("description") {
		if item.Content == "" && item.Description == "" {
			item.Description = plain(description.Value)
		}
	}
}

// first returns the first extension element of that name, or nil.
func first(all ext.Extensions, prefix, name string) *ext.Extension {
	if found := all[prefix][name]; len(found) > 0 {
		return &found[0]
	}
	return nil
}
