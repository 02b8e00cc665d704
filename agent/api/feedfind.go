package api

import (
	"context"
	"strings"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A FeedFilter says which feeds are meant. What is empty narrows nothing.
type FeedFilter struct {
	Text   string `query:"q" json:"q,omitempty" maxLength:"256" doc:"In the title, address or site, whatever the case."`
	Tag    string `query:"tag" json:"tag,omitempty" maxLength:"128" doc:"Only feeds with this tag."`
	Host   string `query:"host" json:"host,omitempty" maxLength:"255" doc:"Only feeds of this host, with its port if it has one."`
	Pinned bool   `query:"pinned" json:"pinned,omitempty" doc:"Only feeds that are."`
	State  string `query:"state" json:"state,omitempty" enum:"failing,gone,new,due,polling,ok" doc:"Only feeds in this state: new are those never read; due, those whose next poll should have begun."`
	Class  string `query:"class" json:"class,omitempty" maxLength:"64" doc:"Only feeds whose last poll failed with an error of this kind, as in dns or http 4xx."`
	Tier   string `query:"tier" json:"tier,omitempty" enum:"hot,warm,cold" doc:"Only feeds that are read as often as this."`
}

// byState reports whether the filter asks for what only the schedule knows.
func (f FeedFilter) byState() bool { return f.State != "" || f.Class != "" || f.Tier != "" }

// query returns what of a filter the store knows.
func (f FeedFilter) query() storage.FeedQuery {
	return storage.FeedQuery{Text: f.Text, Tag: f.Tag, Host: f.Host, Pinned: f.Pinned}
}

// A FeedSearch asks for a page of feeds.
type FeedSearch struct {
	FeedFilter
	Sort  string `query:"sort" enum:"url,title,items,newest,added" default:"url" doc:"By address, by title, or most items, newest item or last added first."`
	After string `query:"after" maxLength:"4096" doc:"Next of the page before. It belongs to one order."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Count bool   `query:"count" doc:"Whether to count all that match."`
}

func (q FeedSearch) sort() storage.FeedSort {
	if q.Sort == "url" {
		return storage.FeedsByURL
	}
	return storage.FeedSort(q.Sort)
}

// A feedCursor is a place in an order other than that of addresses, where the
// address itself is the cursor.
type feedCursor struct {
	Sort  storage.FeedSort  `json:"s"`
	Place storage.FeedPlace `json:"p"`
}

func cursorOf(sort storage.FeedSort, f storage.Feed) string {
	if sort == storage.FeedsByURL {
		return f.URL
	}
	return storage.PackCursor(feedCursor{sort, sort.Place(f)})
}

// placeOf returns where a page begins, or [storage.ErrBadCursor].
func placeOf(sort storage.FeedSort, cursor string) (storage.FeedPlace, error) {
	switch {
	case cursor == "":
		return storage.FeedPlace{}, nil
	case sort == storage.FeedsByURL:
		return storage.FeedPlace{Text: cursor, ID: storage.FeedID(cursor)}, nil
	}
	var c feedCursor
	if storage.UnpackCursor(cursor, &c) != nil || c.Sort != sort || c.Place.ID == "" {
		return storage.FeedPlace{}, storage.ErrBadCursor
	}
	return c.Place, nil
}

// Bounds of looking for feeds by what only the schedule knows, where these are too
// many to be named: the store's feeds are looked at one after the other.
const (
	walkSize = 1000 // feeds at a time
	walkTime = 3 * time.Second
)

// FindFeeds returns a page of feeds. A page may have fewer than asked for, even
// none, and yet be followed by others: those that match are rare. It returns
// [storage.ErrBadCursor] for a cursor of another order.
func (s *Server) FindFeeds(ctx context.Context, q FeedSearch) (FeedPage, error) {
	found, next, err := s.walkFeeds(ctx, q)
	if err != nil {
		return FeedPage{}, err
	}
	page := FeedPage{Feeds: make([]Feed, len(found)), Next: next}
	for i, f := range found {
		state, err := s.Mesh.State(ctx, f.ID)
		if err != nil {
			return FeedPage{}, err
		}
		page.Feeds[i] = feedOf(f, state)
	}
	if q.Count {
		n, err := s.countFeeds(ctx, q.FeedFilter)
		if err != nil {
			return FeedPage{}, err
		}
		page.Total = &n
	}
	return page, nil
}

// walkFeeds returns at most q.Limit feeds that match, and the cursor of those that
// follow.
func (s *Server) walkFeeds(ctx context.Context, q FeedSearch) (found []storage.Feed, next string, err error) {
	sort := q.sort()
	ask := q.FeedFilter.query()
	ask.Sort, ask.Limit = sort, q.Limit+1 // one more tells whether there are more
	if ask.After, err = placeOf(sort, q.After); err != nil {
		return nil, "", err
	}
	matches := func(storage.Feed) bool { return true }
	if q.byState() {
		all, err := s.states.get(ctx, s.Mesh, s.Now())
		if err != nil {
			return nil, "", err
		}
		if ask.IDs = all.matching(q.FeedFilter, storage.MaxFeedIDs); len(ask.IDs) > storage.MaxFeedIDs {
			ask.IDs, ask.Limit = nil, max(walkSize, ask.Limit)
			matches = func(f storage.Feed) bool { return all.matches(q.FeedFilter, all.of(f.ID)) }
		}
	}
	for until := time.Now().Add(walkTime); ; {
		page, err := s.Store.FindFeeds(ctx, ask)
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
		if len(page) < ask.Limit {
			return found, "", nil
		}
		last := page[len(page)-1]
		if ask.After = sort.Place(last); time.Now().After(until) {
			return found, cursorOf(sort, last), nil
		}
	}
}

// countFeeds returns how many feeds match.
func (s *Server) countFeeds(ctx context.Context, f FeedFilter) (int64, error) {
	ask := f.query()
	if !f.byState() {
		return s.Store.CountFeeds(ctx, ask)
	}
	all, err := s.states.get(ctx, s.Mesh, s.Now())
	if err != nil {
		return 0, err
	}
	if ask.IDs = all.matching(f, storage.MaxFeedIDs); len(ask.IDs) <= storage.MaxFeedIDs {
		return s.Store.CountFeeds(ctx, ask)
	}
	var n int64
	ask.IDs, ask.Limit = nil, walkSize
	for {
		page, err := s.Store.FindFeeds(ctx, ask)
		if err != nil {
			return 0, err
		}
		for _, feed := range page {
			if all.matches(f, all.of(feed.ID)) {
				n++
			}
		}
		if len(page) < walkSize {
			return n, nil
		}
		ask.After = ask.Sort.Place(page[len(page)-1])
	}
}

// maxResolved is how many feeds a name in a search stands for at most.
const maxResolved = 50

// resolveFeeds returns the IDs of the feeds that a person means by a text: it is
// in their titles, addresses or sites. There are at most maxResolved, by title.
func (s *Server) resolveFeeds(ctx context.Context, text string) ([]string, error) {
	found, err := s.Store.FindFeeds(ctx, storage.FeedQuery{Text: text, Sort: storage.FeedsByTitle, Limit: maxResolved})
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return ids, err
}

// namedFeeds returns a condition in which feeds that were named by words are named
// by their IDs.
func (s *Server) namedFeeds(ctx context.Context, n query.Node) (query.Node, error) {
	all := func(nodes []query.Node) ([]query.Node, error) {
		named := make([]query.Node, len(nodes))
		for i, one := range nodes {
			var err error
			if named[i], err = s.namedFeeds(ctx, one); err != nil {
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
		node, err := s.namedFeeds(ctx, n.Node)
		return query.Not{Node: node}, err
	case query.Is:
		if n.Field != query.Feed || isFeedID(n.Value) {
			return n, nil
		}
		ids, err := s.resolveFeeds(ctx, n.Value)
		if err != nil || len(ids) == 0 {
			return n, err // an ID that no feed has; an Or of nothing reads like no condition
		}
		feeds := query.Or{}
		for _, id := range ids {
			feeds = append(feeds, query.Is{Field: query.Feed, Value: id})
		}
		return feeds, nil
	}
	return n, nil
}

// isFeedID reports whether a text may be the ID of a feed.
func isFeedID(text string) bool {
	return len(text) == idLength && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// maxTags is how many tags are counted.
const maxTags = 200

// FeedFacets say how many feeds there are of each kind.
type FeedFacets struct {
	States  []FeedCount        `json:"states" doc:"In a fixed order; a feed may be in two of them."`
	Classes []FeedCount        `json:"classes" doc:"Kinds of the errors of feeds that fail, most frequent first."`
	Tiers   []FeedCount        `json:"tiers" doc:"Most often read first."`
	Tags    []storage.TagCount `json:"tags" doc:"The most used ones, most used first."`
}

// FeedFacets counts feeds by what they can be looked for by.
func (s *Server) FeedFacets(ctx context.Context) (FeedFacets, error) {
	all, err := s.states.get(ctx, s.Mesh, s.Now())
	if err != nil {
		return FeedFacets{}, err
	}
	var facets FeedFacets
	facets.States, facets.Classes, facets.Tiers = all.tally()
	facets.Tags, err = s.states.tagsOf(ctx, s.Store, s.Now())
	return facets, err
}
