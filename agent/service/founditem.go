package service

import (
	"context"
	"fmt"

	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// passageLength is the length of the passage of an item's text in a search, in characters.
const passageLength = 240

// foundItems returns the stored items of the hits, in the same order. Items removed since they were indexed
// are skipped.
func (s *Search) foundItems(ctx context.Context, hits []storage.Hit, titles func(string) string, m *highlighter) ([]wire.FoundItem, error) {
	ids := make([]string, len(hits))
	scores := make(map[string]float64, len(hits))
	for i, h := range hits {
		ids[i], scores[h.ID] = h.ID, h.Score
	}
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the items found: %w", err)
	}
	coverage, err := s.coverage(ctx, items)
	if err != nil {
		return nil, err
	}
	found := make([]wire.FoundItem, len(items))
	for i, item := range items {
		plain := text.PlainText(item.HTML)
		item.HTML = ""
		found[i] = wire.FoundItem{
			Item: item, FeedTitle: titles(item.FeedID), Score: scores[item.ID],
			TitleSpans: highlight(item.Title, m, len(item.Title)),
			TextSpans:  highlight(plain, m, passageLength),
			Coverage:   coverage[item.StoryID],
		}
	}
	return found, nil
}

// highlight returns the part of a text with the most matching words.
func highlight(plain string, m *highlighter, max int) []wire.Span {
	var spans []wire.Span
	for _, s := range text.Highlight(plain, m.matcher(plain), max) {
		spans = append(spans, wire.Span(s))
	}
	return spans
}

// coverage returns the coverage of the items' stories by story ID; stories of a single publisher are absent.
func (s *Search) coverage(ctx context.Context, items []storage.Item) (map[string]*wire.StoryCoverage, error) {
	var ids []string
	for _, item := range items {
		if item.StoryID != "" {
			ids = append(ids, item.StoryID)
		}
	}
	stories, err := s.Store.StoriesByID(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the stories of the results: %w", err)
	}
	coverage := make(map[string]*wire.StoryCoverage, len(stories))
	for id, story := range stories {
		coverage[id] = &wire.StoryCoverage{Items: story.Items, Sources: story.Sources}
	}
	return coverage, nil
}
