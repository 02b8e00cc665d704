package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

// feedQuery returns the part of the filter that the store evaluates.
func feedQuery(f wire.FeedFilter) storage.FeedQuery {
	return storage.FeedQuery{Text: f.Text, Tag: f.Tag, Host: f.Host, Pinned: f.Pinned}
}

func feedSort(q wire.FeedSearch) storage.FeedSort {
	if q.Sort == "url" {
		return storage.FeedsByURL
	}
	return storage.FeedSort(q.Sort)
}

// A feedCursor is a position in an order other than by address, where the address itself is the cursor.
type feedCursor struct {
	Sort  storage.FeedSort     `json:"s"`
	Place storage.FeedPosition `json:"p"`
}

func cursorOf(sort storage.FeedSort, f storage.Feed) string {
	if sort == storage.FeedsByURL {
		return f.URL
	}
	return storage.PackCursor(feedCursor{sort, sort.Position(f)})
}

// placeOf returns the position where a page begins, or [storage.ErrBadCursor].
func placeOf(sort storage.FeedSort, cursor string) (storage.FeedPosition, error) {
	switch {
	case cursor == "":
		return storage.FeedPosition{}, nil
	case sort == storage.FeedsByURL:
		return storage.FeedPosition{Text: cursor, ID: storage.FeedID(cursor)}, nil
	}
	var c feedCursor
	if storage.UnpackCursor(cursor, &c) != nil || c.Sort != sort || c.Place.ID == "" {
		return storage.FeedPosition{}, storage.ErrBadCursor
	}
	return c.Place, nil
}

// Bounds of a scan of the store's feeds, which is needed when a filter by state matches too many feeds to
// list their IDs.
const (
	scanBatchSize = 1000 // feeds of a batch
	scanTimeout   = 3 * time.Second
)

// List returns a page of feeds. Where matches are rare, a page may be shorter than the limit, even
// empty, and still have a next page. It returns [storage.ErrBadCursor] for a cursor of another order.
func (s *Feeds) List(ctx context.Context, q wire.FeedSearch) (wire.FeedPage, error) {
	found, next, err := s.scan(ctx, q)
	if err != nil {
		return wire.FeedPage{}, err
	}
	page := wire.FeedPage{Feeds: s.withStates(ctx, found), Next: next}
	if q.Count {
		n, err := s.count(ctx, q.FeedFilter)
		if err != nil {
			return wire.FeedPage{}, err
		}
		page.Total = &n
	}
	return page, nil
}

// stateTimeout is the time in which the states of a page of feeds are read. A NATS server that hangs or restarts
// delays the list by this time.
const stateTimeout = 3 * time.Second

// withStates returns feeds with their states in the schedule. A state that cannot be read is unknown: the feed
// itself is in the store, and can be listed and changed.
func (s *Feeds) withStates(ctx context.Context, found []storage.Feed) []wire.Feed {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	states, err := s.Mesh.StatesOf(ctx, ids...)
	if err != nil {
		states = nil
		if !errors.Is(err, context.Canceled) { // else the client has left
			s.Log.Warn("feeds listed without their states: the schedule cannot be read", "err", err)
		}
	}
	feeds := make([]wire.Feed, len(found))
	for i, f := range found {
		feeds[i] = feedOf(f, states[f.ID])
		feeds[i].Unknown = err != nil
	}
	return feeds
}

// scan returns at most q.Limit matching feeds, and the cursor of the next page.
func (s *Feeds) scan(ctx context.Context, q wire.FeedSearch) (found []storage.Feed, next string, err error) {
	sort := feedSort(q)
	storeQuery := feedQuery(q.FeedFilter)
	storeQuery.Sort, storeQuery.Limit = sort, q.Limit+1 // one more than shown, to detect that more exist
	if storeQuery.After, err = placeOf(sort, q.After); err != nil {
		return nil, "", err
	}
	matches := func(storage.Feed) bool { return true }
	if q.ByState() {
		all, err := s.states(ctx)
		if err != nil {
			return nil, "", err
		}
		if storeQuery.IDs = all.matching(q.FeedFilter, storage.MaxFeedIDs); len(storeQuery.IDs) > storage.MaxFeedIDs {
			storeQuery.IDs, storeQuery.Limit = nil, max(scanBatchSize, storeQuery.Limit)
			matches = func(f storage.Feed) bool { return all.matches(q.FeedFilter, all.of(f.ID)) }
		}
	}
	for until := time.Now().Add(scanTimeout); ; {
		page, err := s.Store.FindFeeds(ctx, storeQuery)
		if err != nil {
			return nil, "", err
		}
		for i, f := range page {
			if len(found) == q.Limit {
				return found, cursorOf(sort, found[q.Limit-1]), nil
			}
			if matches(page[i]) {
				found = append(found, f)
			}
		}
		if len(page) < storeQuery.Limit {
			return found, "", nil
		}
		last := page[len(page)-1]
		if storeQuery.After = sort.Position(last); time.Now().After(until) {
			return found, cursorOf(sort, last), nil
		}
	}
}

// count returns the number of matching feeds.
func (s *Feeds) count(ctx context.Context, f wire.FeedFilter) (int64, error) {
	storeQuery := feedQuery(f)
	if !f.ByState() {
		counts, err := s.Store.CountFeeds(ctx, storeQuery)
		return counts.Feeds, err
	}
	all, err := s.states(ctx)
	if err != nil {
		return 0, err
	}
	if storeQuery.IDs = all.matching(f, storage.MaxFeedIDs); len(storeQuery.IDs) <= storage.MaxFeedIDs {
		counts, err := s.Store.CountFeeds(ctx, storeQuery)
		return counts.Feeds, err
	}
	var n int64
	storeQuery.IDs, storeQuery.Limit = nil, scanBatchSize
	for {
		page, err := s.Store.FindFeeds(ctx, storeQuery)
		if err != nil {
			return 0, err
		}
		for _, feed := range page {
			if all.matches(f, all.of(feed.ID)) {
				n++
			}
		}
		if len(page) < scanBatchSize {
			return n, nil
		}
		storeQuery.After = storeQuery.Sort.Position(page[len(page)-1])
	}
}

// Facets counts feeds by the values that filters accept.
func (s *Feeds) Facets(ctx context.Context, _ wire.None) (wire.FeedFacets, error) {
	all, err := s.states(ctx)
	if err != nil {
		return wire.FeedFacets{}, err
	}
	var facets wire.FeedFacets
	facets.States, facets.Classes, facets.Tiers = all.tally()
	facets.Tags, err = s.feedStates.tagsOf(ctx, s.Store, s.Now())
	return facets, err
}

// maxResolved is the maximum number of feeds that a name in a search resolves to.
const maxResolved = 50

// resolveFeeds returns the IDs of the feeds whose title, address or site contains a text, by title, at most
// maxResolved.
func (c *core) resolveFeeds(ctx context.Context, text string) ([]string, error) {
	found, err := c.Store.FindFeeds(ctx, storage.FeedQuery{Text: text, Sort: storage.FeedsByTitle, Limit: maxResolved})
	return convert(found, func(f storage.Feed) string { return f.ID }), err
}

// named returns the condition of a feed that is given by ID or name: of the feeds with the ID or the name.
func (c *core) named(ctx context.Context, feed query.FieldEquals) (query.Node, error) {
	if isFeedID(feed.Value) {
		return feed, nil
	}
	ids, err := c.resolveFeeds(ctx, feed.Value)
	if err != nil || len(ids) == 0 {
		return feed, err // no feed has this ID; an empty Or would match as if no condition were given
	}
	feeds := query.Or{}
	for _, id := range ids {
		feeds = append(feeds, query.FieldEquals{Field: query.Feed, Value: id})
	}
	return feeds, nil
}

// isFeedID reports whether a text has the form of a feed's ID.
func isFeedID(text string) bool {
	return len(text) == idLength && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
