package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A Search is what to look for.
type Search struct {
	Query      string    `query:"q" maxLength:"1000" doc:"Words; all must occur, in any form. None: the newest items."`
	Feed       string    `query:"feed" maxLength:"64" doc:"ID of a feed."`
	Category   string    `query:"category" maxLength:"64"`
	Topic      string    `query:"topic" maxLength:"64"`
	Flag       string    `query:"flag" enum:"adult,affiliate,muted,sponsored,starred" doc:"Only items that a rule or a list gave this flag."`
	Language   string    `query:"language" maxLength:"8" doc:"ISO 639-1, as en or ru."`
	After      time.Time `query:"after" doc:"Published at or after."`
	Before     time.Time `query:"before" doc:"Published before."`
	Spam       bool      `query:"spam" doc:"Spam only; otherwise there is none among the items."`
	Duplicates bool      `query:"duplicates" doc:"Duplicates too; otherwise only the first of their kind."`
	Muted      bool      `query:"muted" doc:"Items that a rule muted, too."`
	Sort       string    `query:"sort" enum:"best,newest" default:"best"`
	Facets     bool      `query:"facets" doc:"Count what there is by category, topic, feed, language and sentiment."`
	Limit      int       `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor     string    `query:"cursor" maxLength:"4096" doc:"Next of the page before."`
}

// Found is a page of what a search found.
type Found struct {
	Items  []FoundItem        `json:"items"`
	Total  int64              `json:"total" doc:"How many match, over all pages."`
	Next   string             `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
	Facets map[string][]Facet `json:"facets,omitempty"`
}

// A FoundItem is an item with what of it matches.
type FoundItem struct {
	storage.Item
	FeedTitle  string      `json:"feed_title"`
	Score      float64     `json:"score,omitempty"`
	TitleSpans []text.Span `json:"title_spans" doc:"The title, in pieces that match and pieces that do not."`
	TextSpans  []text.Span `json:"text_spans" doc:"A passage of the text, likewise."`
	Told       *Telling    `json:"told,omitempty" doc:"How much its story is told; absent if nobody else tells it."`
}

// A Telling is how much a story is told.
type Telling struct {
	Items   int `json:"items"`
	Sources int `json:"sources" doc:"Different publishers."`
}

// A Facet says how many matches have a value.
type Facet struct {
	Value string `json:"value"`
	Label string `json:"label" doc:"The value for people: a feed's title for its ID."`
	Count int64  `json:"count"`
}

// An ItemView is one item, whole.
type ItemView struct {
	storage.Item
	FeedTitle string `json:"feed_title"`
}

// passage is how many characters of an item's text a search shows.
const passage = 240

func (s *Server) itemRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/search", "search", "Find items", 400, 503),
		func(ctx context.Context, in *Search) (*body[Found], error) {
			found, err := s.Search(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Found]{Body: found}, nil
		})
	huma.Register(api, op("GET", "/api/items/{id}", "get-item", "One item, whole", 404, 503),
		func(ctx context.Context, in *byID) (*body[ItemView], error) {
			item, err := s.Item(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[ItemView]{Body: item}, nil
		})
}

// Search finds items. The index says which, the store what they are: an item
// that is no longer stored is left out.
func (s *Server) Search(ctx context.Context, q Search) (Found, error) {
	results, err := s.Index.Search(ctx, storage.Query{
		Words: q.Query, FeedID: q.Feed, Category: q.Category, Topic: q.Topic, Flag: q.Flag, Language: q.Language, Muted: q.Muted,
		After: q.After, Before: q.Before, Spam: q.Spam, Duplicates: q.Duplicates,
		Newest: q.Sort == "newest", Limit: q.Limit, Cursor: q.Cursor, Facets: q.Facets,
	})
	if err != nil {
		return Found{}, fmt.Errorf("search: %w", err)
	}
	ids := make([]string, len(results.Hits))
	scores := make(map[string]float64, len(results.Hits))
	for i, h := range results.Hits {
		ids[i], scores[h.ID] = h.ID, h.Score
	}
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return Found{}, fmt.Errorf("read the items found: %w", err)
	}
	found := Found{Items: make([]FoundItem, len(items)), Total: results.Total, Next: results.Next}
	titles, match := s.titles(ctx), matcher(q.Query)
	for i, item := range items {
		told, err := s.telling(ctx, item.StoryID)
		if err != nil {
			return Found{}, err
		}
		plain := text.Plain(item.HTML)
		item.HTML = ""
		found.Items[i] = FoundItem{
			Item: item, FeedTitle: titles(item.FeedID), Score: scores[item.ID],
			TitleSpans: text.Highlight(item.Title, match, len(item.Title)),
			TextSpans:  text.Highlight(plain, match, passage),
			Told:       told,
		}
	}
	if results.Facets != nil {
		found.Facets = map[string][]Facet{}
		for name, counts := range results.Facets {
			found.Facets[name] = facets(name, counts, titles)
		}
	}
	return found, nil
}

// telling returns how much a story is told, nil if it is not.
func (s *Server) telling(ctx context.Context, storyID string) (*Telling, error) {
	story, err := s.Store.Story(ctx, storyID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("what is told of story %s: %w", storyID, err)
	}
	return &Telling{Items: story.Items, Sources: story.Sources}, nil
}

func facets(name string, counts []storage.FacetCount, titles func(string) string) []Facet {
	list := make([]Facet, len(counts))
	for i, c := range counts {
		list[i] = Facet{Value: c.Value, Label: c.Value, Count: c.Count}
		if name == "feed" {
			list[i].Label = titles(c.Value)
		}
	}
	return list
}

// Item returns one item, whole.
func (s *Server) Item(ctx context.Context, id string) (ItemView, error) {
	item, err := s.Store.Item(ctx, id)
	if err != nil {
		return ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	return ItemView{Item: item, FeedTitle: s.titles(ctx)(item.FeedID)}, nil
}

// titles returns a function that knows feeds' titles and asks for each once. A
// feed without one goes by its address.
func (s *Server) titles(ctx context.Context) func(feedID string) string {
	known := map[string]string{}
	return func(id string) string {
		title, ok := known[id]
		if !ok {
			if f, err := s.Store.Feed(ctx, id); err == nil {
				if title = f.Title; title == "" {
					title = f.URL
				}
			}
			known[id] = title
		}
		return title
	}
}

// matcher returns what tells the words of a text that the query asks for: those
// with the same stem.
func matcher(query string) func(text.Word) bool {
	stems := map[string]bool{}
	for _, w := range text.Words(query) {
		stems[stem.Of(w.Text, "")] = true
	}
	return func(w text.Word) bool { return stems[stem.Of(w.Text, "")] }
}
