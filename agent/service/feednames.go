package service

import (
	"context"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// maxResolved is the maximum number of feeds that a name in a search resolves to.
const maxResolved = 50

// resolveFeeds returns the IDs of the feeds whose title, address or site contains a text, by title, at most
// maxResolved.
func (c *core) resolveFeeds(ctx context.Context, text string) ([]string, error) {
	found, err := c.Store.FindFeeds(ctx, storage.FeedQuery{Text: text, Sort: storage.FeedsByTitle, Limit: maxResolved})
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return ids, err
}

// namedFeeds returns a condition with feeds by ID in place of feeds by name.
func (c *core) namedFeeds(ctx context.Context, n query.Node) (query.Node, error) {
	all := func(nodes []query.Node) ([]query.Node, error) {
		named := make([]query.Node, len(nodes))
		for i, one := range nodes {
			var err error
			if named[i], err = c.namedFeeds(ctx, one); err != nil {
				return nil, err
			}
		}
		return named, nil
	}
	switch n := n.(type) {
	case query.And:
		nodes, err := all(n)
		return query.And(nodes), err
	case query.Or:
		nodes, err := all(n)
		return query.Or(nodes), err
	case query.Not:
		node, err := c.namedFeeds(ctx, n.Node)
		return query.Not{Node: node}, err
	case query.FieldEquals:
		if n.Field != query.Feed || isFeedID(n.Value) {
			return n, nil
		}
		ids, err := c.resolveFeeds(ctx, n.Value)
		if err != nil || len(ids) == 0 {
			return n, err // no feed has this ID; an empty Or would match as if no condition were given
		}
		feeds := query.Or{}
		for _, id := range ids {
			feeds = append(feeds, query.FieldEquals{Field: query.Feed, Value: id})
		}
		return feeds, nil
	}
	return n, nil
}

// isFeedID reports whether a text has the form of a feed's ID.
func isFeedID(text string) bool {
	return len(text) == idLength && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
