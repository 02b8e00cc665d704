package feed

import (
	"cmp"
	"encoding/json"
	"slices"
)

// An rssJSON is an RSS feed written in JSON. Its fields accept any JSON type, as those of a [jsonFeed].
//
// Source: D. Winer, RSS in JSON, 2017.
type rssJSON struct {
	Channel struct {
		Title    jsonText          `json:"title"`
		Link     jsonText          `json:"link"`
		Language jsonText          `json:"language"`
		Items    jsonList[rssItem] `json:"item"`
	} `json:"channel"`
}

type rssItem struct {
	Title       jsonText             `json:"title"`
	Link        jsonText             `json:"link"`
	Description jsonText             `json:"description"`
	Content     jsonText             `json:"content:encoded"`
	GUID        jsonValue            `json:"guid"`
	Published   jsonText             `json:"pubDate"`
	Author      jsonList[jsonAuthor] `json:"author"`
	Creator     jsonList[jsonAuthor] `json:"dc:creator"`
	Categories  jsonList[jsonValue]  `json:"category"`
	Enclosures  jsonList[rssFile]    `json:"enclosure"`
}

type rssFile struct {
	URL    jsonText `json:"url"`
	Type   jsonText `json:"type"`
	Length jsonText `json:"length"`
}

// A jsonValue is the text of an element: a string, or an object of attributes with the text in "#value".
type jsonValue struct{ jsonText }

// UnmarshalJSON never fails.
func (v *jsonValue) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return v.jsonText.UnmarshalJSON(b)
	}
	var object struct {
		Value jsonText `json:"#value"`
	}
	if json.Unmarshal(b, &object) == nil {
		v.jsonText = object.Value
	}
	return nil
}

// feed returns RSS as a JSON Feed of at most maxItems items.
func (r *rssJSON) feed() jsonFeed {
	c := r.Channel
	f := jsonFeed{Title: c.Title, Site: c.Link, Language: c.Language, Items: []*jsonItem{}}
	for _, i := range c.Items[:min(len(c.Items), maxItems)] {
		item := &jsonItem{
			ID: i.GUID.jsonText, URL: i.Link, Title: i.Title, HTML: cmp.Or(i.Content, i.Description), Published: i.Published,
			Authors: slices.Concat(i.Author, i.Creator),
		}
		for _, category := range i.Categories {
			item.Tags = append(item.Tags, category.jsonText)
		}
		for _, file := range i.Enclosures {
			item.Attachments = append(item.Attachments, jsonFile{URL: file.URL, Type: file.Type, Size: file.Length})
		}
		f.Items = append(f.Items, item)
	}
	return f
}
