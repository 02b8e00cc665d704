package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// itemURI begins the URI of an item.
const itemURI = "feedmesh://items/"

// An item is an item in a list.
type item struct {
	ID          string         `json:"id"`
	URI         string         `json:"uri" jsonschema:"URI to cite, and to read as a resource"`
	Time        time.Time      `json:"time" jsonschema:"when it was published, or first seen"`
	Language    string         `json:"language,omitempty" jsonschema:"ISO 639-1"`
	Categories  []string       `json:"categories,omitempty"`
	Topics      []string       `json:"topics,omitempty"`
	Spam        bool           `json:"spam,omitempty"`
	StoryID     string         `json:"story_id,omitempty"`
	Publishers  int            `json:"story_publishers,omitempty" jsonschema:"how many publishers carry its story, if more than one"`
	DuplicateOf string         `json:"duplicate_of,omitempty" jsonschema:"ID of the item that it repeats"`
	Untrusted   untrusted.Text `json:"untrusted"`
}

// itemOf returns an item without its text.
func itemOf(i storage.Item, feedTitle string) item {
	return item{
		ID: i.ID, URI: itemURI + i.ID, Time: i.Time(), Language: i.Language, Categories: i.Categories, Topics: i.Topics, Spam: i.Spam,
		StoryID: i.StoryID, DuplicateOf: i.DuplicateOf,
		Untrusted: untrusted.Text{
			Title: untrusted.Line(i.Title, untrusted.MaxTitle), URL: untrusted.Address(i.URL), Publisher: untrusted.Line(feedTitle, untrusted.MaxTitle), Author: untrusted.Line(i.Author, untrusted.MaxTitle),
		},
	}
}

// foundItems returns items with the passages that match.
func foundItems(found []wire.FoundItem) []item {
	items := make([]item, len(found))
	for n, f := range found {
		items[n] = itemOf(f.Item, f.FeedTitle)
		var passage strings.Builder
		for _, span := range f.TextSpans {
			passage.WriteString(span.Text)
		}
		items[n].Untrusted.Text = untrusted.Line(passage.String(), untrusted.MaxText)
		if f.Coverage != nil {
			items[n].Publishers = f.Coverage.Sources
		}
	}
	return items
}

// write writes the item under a heading.
func (i item) write(p *untrusted.Page, heading string) {
	words := []string{heading + " " + i.ID, at(i.Time)}
	words = append(append(words, i.Categories...), i.Topics...)
	if i.Language != "" {
		words = append(words, "language "+i.Language)
	}
	if i.StoryID != "" {
		words = append(words, fmt.Sprintf("story %s of %d publishers", i.StoryID, cmp.Or(i.Publishers, 1)))
	}
	if i.DuplicateOf != "" {
		words = append(words, "repeats item "+i.DuplicateOf)
	}
	if i.Spam {
		words = append(words, "spam")
	}
	p.Printf("%s", strings.Join(words, ", "))
	p.Quote(i.Untrusted)
}

func writeItems(p *untrusted.Page, items []item) {
	for n, i := range items {
		i.write(p, fmt.Sprintf("%d. item", n+1))
	}
}

// An itemPage is a page of items.
type itemPage struct {
	Items []item   `json:"items"`
	Total int64    `json:"total,omitempty" jsonschema:"number of matching items on all pages; a lower bound if a note says that the store was searched"`
	Next  string   `json:"next,omitempty" jsonschema:"cursor of the next page; absent on the last"`
	Notes []string `json:"notes,omitempty"`
}

func (a itemPage) write(p *untrusted.Page) {
	p.Printf("%d items on this page, %d in total.", len(a.Items), max(a.Total, int64(len(a.Items))))
	a.writeRest(p)
}

// writeRest writes all but the first line.
func (a itemPage) writeRest(p *untrusted.Page) {
	for _, note := range a.Notes {
		p.Printf("Note: %s", note)
	}
	writeItems(p, a.Items)
	if a.Next != "" {
		p.Printf("More: repeat the call with cursor %s", a.Next)
	}
}

type searchInput struct {
	Query  string `json:"query,omitempty" maxLength:"1000" jsonschema:"words that must all occur, in any form, and conditions: \"a phrase\", -not, OR, brackets, begin*, title: author: feed: cat: topic: lang: host: story: is: after: before: age:<2d; without it the newest items"`
	Sort   string `json:"sort,omitempty" enum:"best,newest" default:"best" jsonschema:"best match or newest item first"`
	Once   bool   `json:"once,omitempty" jsonschema:"only the first item of each story"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"20" default:"10" jsonschema:"items a page"`
	Cursor string `json:"cursor,omitempty" maxLength:"4096" jsonschema:"next of the previous page"`
}

type readItemInput struct {
	ID     string `json:"id" maxLength:"64" jsonschema:"ID of an item"`
	Offset int    `json:"offset,omitempty" minimum:"0" default:"0" jsonschema:"characters of the text to skip: next_offset of the previous answer"`
	Length int    `json:"length,omitempty" minimum:"1" maximum:"20000" default:"8000" jsonschema:"characters of the text to return"`
}

// An itemText is an item with a part of its text.
type itemText struct {
	item
	Offset     int  `json:"offset" jsonschema:"characters of the text before this part"`
	Characters int  `json:"characters" jsonschema:"characters of the whole text"`
	Truncated  bool `json:"truncated" jsonschema:"the text continues at next_offset"`
	NextOffset int  `json:"next_offset,omitempty"`
}

func (a itemText) write(p *untrusted.Page) {
	a.item.write(p, "Item")
	p.Printf("The text above has the characters from %d of %d.", a.Offset, a.Characters)
	if a.Truncated {
		p.Printf("Truncated: read_item with id %s and offset %d continues.", a.ID, a.NextOffset)
	}
}

// addItemTools adds the tools that find and read items.
func (s *server) addItemTools() {
	addTool(s, tool{
		name: "search", title: "Search items", scope: access.Search,
		description: "Finds items of feeds by words and conditions: a page of titles, passages and IDs.",
	}, s.search)
	addTool(s, tool{
		name: "read_item", title: "Read an item", scope: access.Search,
		description: "Returns the text of an item as plain text, in parts.",
	}, s.readItem)
}

func (s *server) search(ctx context.Context, in searchInput) (itemPage, error) {
	found, err := s.Search.Find(ctx, wire.Search{Query: in.Query, Sort: in.Sort, Once: in.Once, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return itemPage{}, err
	}
	page := itemPage{Items: foundItems(found.Items), Total: found.Total, Next: found.Next}
	if found.Fuzzy {
		page.Notes = append(page.Notes, "no item contains all words; these contain similar words")
	}
	if found.By == wire.ByStore {
		page.Notes = append(page.Notes, "the index is unavailable: the store was searched, newest first, by title and excerpt")
	}
	if n := len(found.Hidden); n > 0 {
		page.Notes = append(page.Notes, fmt.Sprintf("%d results were left out because they repeat others", n))
	}
	return page, nil
}

func (s *server) readItem(ctx context.Context, in readItemInput) (itemText, error) {
	read, err := s.Items.Get(ctx, wire.ByID{ID: in.ID})
	if err != nil {
		return itemText{}, err
	}
	whole := []rune(untrusted.Clean(text.PlainText(read.HTML)))
	a := itemText{item: itemOf(read.Item, read.FeedTitle), Offset: min(in.Offset, len(whole)), Characters: len(whole)}
	a.Untrusted.Why = untrusted.Line(read.StoryReason, untrusted.MaxTitle)
	end := min(a.Offset+in.Length, len(whole))
	a.Untrusted.Text = string(whole[a.Offset:end])
	if end < len(whole) {
		a.Truncated, a.NextOffset = true, end
	}
	return a, nil
}
