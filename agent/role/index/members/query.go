package members

import (
	"context"
	"time"

	"feedmesh/classify/query"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

// maxQueryFeeds is the number of sources of a query; with more, items of all feeds are found.
const maxQueryFeeds = 1000

// Query returns a search that finds all items of a view, and others: it has no condition for what depends on other items, and
// none on sources by the thousand. other returns the views that v reads.
func Query(ctx context.Context, feeds storage.Feeds, v view.View, other func(name string) view.View, now time.Time) (storage.Query, error) {
	s := search{ctx, feeds, other, now}
	where, err := s.view(v)
	return storage.Query{Where: where, Duplicates: true, Muted: true}, err
}

// A search builds the condition of [Query].
type search struct {
	ctx   context.Context
	feeds storage.Feeds
	other func(name string) view.View
	now   time.Time
}

func (s search) view(v view.View) (query.Node, error) {
	condition, err := v.Condition(s.now)
	if err != nil {
		return nil, err
	}
	sources, err := s.sources(v)
	if err != nil {
		return nil, err
	}
	all := []query.Node{condition, sources}
	if v.Window > 0 {
		all = append(all, query.TimeRange{From: s.now.Add(-time.Duration(v.Window))})
	}
	return query.All(nil, all...), nil
}

// sources returns the condition on the sources of a view, nil for none.
func (s search) sources(v view.View) (query.Node, error) {
	if len(v.From) == 0 {
		return nil, nil
	}
	var any query.Or
	for _, source := range v.From {
		switch source.Kind {
		case view.Feed:
			any = append(any, query.FieldEquals{Field: query.Feed, Value: source.Value})
		case view.Host:
			any = append(any, query.FieldEquals{Field: query.Host, Value: source.Value})
		case view.Tag:
			feeds, err := s.feeds.FindFeeds(s.ctx, storage.FeedQuery{Tag: source.Value, Limit: maxQueryFeeds})
			if err != nil {
				return nil, err
			}
			for _, f := range feeds {
				any = append(any, query.FieldEquals{Field: query.Feed, Value: f.ID})
			}
		case view.Other:
			other, err := s.view(s.other(source.Value))
			if err != nil || other == nil {
				return nil, err
			}
			any = append(any, other)
		}
		if len(any) >= maxQueryFeeds {
			return nil, nil
		}
	}
	switch len(any) {
	case 0:
		return query.ItemSet{Of: query.FieldEquals{Field: query.Feed}}, nil // tags without feeds
	case 1:
		return any[0], nil
	}
	return any, nil
}
