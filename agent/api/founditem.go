package api

import (
	"context"
	"fmt"

	"feedmesh/classify/text"
	"feedmesh/storage"
)

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

// passage is how many characters of an item's text a search shows.
const passage = 240

// foundItems returns the items of the hits that are still stored, in that order.
func (s *Server) foundItems(ctx context.Context, hits []storage.Hit, titles func(string) string, m *marker) ([]FoundItem, error) {
	ids := make([]string, len(hits))
	scores := make(map[string]float64, len(hits))
	for i, h := range hits {
		ids[i], scores[h.ID] = h.ID, h.Score
	}
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the items found: %w", err)
	}
	told, err := s.tellings(ctx, items)
	if err != nil {
		return nil, err
	}
	found := make([]FoundItem, len(items))
	for i, item := range items {
		plain := text.Plain(item.HTML)
		item.HTML = ""
		found[i] = FoundItem{
			Item: item, FeedTitle: titles(item.FeedID), Score: scores[item.ID],
			TitleSpans: text.Highlight(item.Title, m.in(item.Title), len(item.Title)),
			TextSpans:  text.Highlight(plain, m.in(plain), passage),
			Told:       told[item.StoryID],
		}
	}
	return found, nil
}

// tellings returns how much the items' stories are told, by story ID; nil for those
// that nobody else tells.
func (s *Server) tellings(ctx context.Context, items []storage.Item) (map[string]*Telling, error) {
	var ids []string
	for _, item := range items {
		if item.StoryID != "" {
			ids = append(ids, item.StoryID)
		}
	}
	stories, err := s.Store.ToldStories(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("what is told of the stories found: %w", err)
	}
	told := make(map[string]*Telling, len(stories))
	for id, story := range stories {
		told[id] = &Telling{Items: story.Items, Sources: story.Sources}
	}
	return told, nil
}
