package greader

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service/reading"
	"feedmesh/storage"
)

// States that an item may have for a client.
const (
	readingList = "reading-list"
	starred     = "starred"
	read        = "read"
	unread      = "unread"
	keptUnread  = "kept-unread"

	statePrefix = "user/-/state/com.google/"
	labelPrefix = "user/-/label/"
	feedPrefix  = "feed/"
)

var yes, no = true, false

// A stream is a parsed stream ID: a state, a label, or a feed.
type stream struct{ state, label, feed string }

// parseStream parses a stream's ID. Clients write the user's ID from user-info, or a hyphen.
func parseStream(id string) (stream, error) {
	if feed, ok := strings.CutPrefix(id, feedPrefix); ok && feed != "" {
		return stream{feed: feed}, nil
	}
	if user, rest, ok := strings.Cut(strings.TrimPrefix(id, "user/"), "/"); ok && user != "" && strings.HasPrefix(id, "user/") {
		if state, ok := strings.CutPrefix(rest, "state/com.google/"); ok && state != "" {
			return stream{state: state}, nil
		}
		if label, ok := strings.CutPrefix(rest, "label/"); ok && label != "" {
			return stream{label: label}, nil
		}
	}
	return stream{}, badRequest(fmt.Sprintf("%.100q is not a stream; write feed/ID, user/-/label/NAME or user/-/state/com.google/reading-list", id))
}

// streams finds the items of streams.
type streams struct {
	store   storage.Store
	reading *reading.Lists
	now     func() time.Time
}

// feedID returns the ID of a stream's feed, given by its ID or address, even if the feed has moved since. The
// error may be [storage.ErrNotFound].
func (s *streams) feedID(ctx context.Context, feed string) (string, error) {
	id, err := s.store.ResolveFeed(ctx, feed)
	if !errors.Is(err, storage.ErrNotFound) {
		return id, err
	}
	address, err := storage.CanonicalURL(feed)
	if err != nil {
		return "", storage.ErrNotFound
	}
	return s.store.ResolveFeed(ctx, storage.FeedID(address))
}

// query returns the query for a stream's items. has is false if the stream is always empty: a feed that is
// not stored, or a state that is not supported.
func (s *streams) query(ctx context.Context, id string) (q storage.MarkQuery, has bool, err error) {
	target, err := parseStream(id)
	switch {
	case err != nil:
		return q, false, err
	case target.label != "":
		is, err := s.reading.IsLabel(ctx, target.label)
		if q.Tag = target.label; is {
			q.Tag, q.Label = "", target.label
		}
		return q, err == nil, err
	case target.feed != "":
		q.FeedID, err = s.feedID(ctx, target.feed)
		if errors.Is(err, storage.ErrNotFound) {
			return q, false, nil
		}
	default:
		return q, s.filterState(&q, target.state), nil
	}
	return q, err == nil, err
}

// filterState restricts a query to items of a state. It returns false if no item can have the state.
func (s *streams) filterState(q *storage.MarkQuery, state string) bool {
	switch state {
	case readingList:
	case starred:
		q.Starred = &yes
	case read:
		q.Read = &yes
	case unread, keptUnread:
		s.onlyUnread(q)
	default:
		return false
	}
	return true
}

func (s *streams) onlyUnread(q *storage.MarkQuery) {
	q.Read = &no
	if since := s.unreadSince(); q.From.Before(since) {
		q.From = since
	}
}

func (s *streams) unreadSince() time.Time { return reading.UnreadSince(s.now()) }

// applyParameters restricts a query by the request's parameters, and returns the item after which the page
// begins. it and xt contain states; unsupported states are ignored.
func (s *streams) applyParameters(q *storage.MarkQuery, p url.Values) (after storage.MarkedItem, has bool, err error) {
	q.Oldest = p.Get("r") == "o"
	if q.From, err = timeParameter(p, "ot"); err != nil {
		return after, false, err
	}
	if q.Until, err = timeParameter(p, "nt"); err != nil {
		return after, false, err
	}
	if q.Read != nil && !*q.Read {
		s.onlyUnread(q)
	}
	has = true
	for _, id := range p["it"] {
		if target, err := parseStream(id); err == nil && target.state != "" {
			has = has && s.filterState(q, target.state)
		}
	}
	for _, id := range p["xt"] {
		target, _ := parseStream(id)
		switch target.state {
		case read:
			s.onlyUnread(q)
		case unread, keptUnread:
			q.Read = &yes
		case starred:
			q.Starred = &no
		}
	}
	after, err = parseContinuation(p.Get("c"))
	return after, has, err
}

// timeParameter parses a time in any of the units that clients use: bounds are usually in seconds, and the
// time for mark-all-as-read in microseconds. NetNewsWire sends seconds with a fraction.
func timeParameter(p url.Values, name string) (time.Time, error) {
	text := p.Get(name)
	if text == "" || text == "0" {
		return time.Time{}, nil
	}
	whole, _, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	switch {
	case err != nil || n < 0:
		return time.Time{}, badRequest(fmt.Sprintf("%s=%.40s is not a time; write seconds since 1970", name, text))
	case n > 1e17:
		return time.Unix(0, n).UTC(), nil
	case n > 1e14:
		return time.UnixMicro(n).UTC(), nil
	case n > 1e11:
		return time.UnixMilli(n).UTC(), nil
	}
	return time.Unix(n, 0).UTC(), nil
}

// countParameter returns the number of items to list, at most the given number.
func countParameter(p url.Values, limit int) (int, error) {
	text := p.Get("n")
	if text == "" {
		return 20, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, badRequest(fmt.Sprintf("n=%.40s is not a number of items", text))
	}
	return min(n, limit), nil
}

// parseContinuation decodes the continuation that [streams.list] returned.
func parseContinuation(c string) (storage.MarkedItem, error) {
	after, err := reading.ParsePosition(c)
	if err != nil {
		return after, badRequest(fmt.Sprintf("c=%.100q is not a continuation", c))
	}
	return after, nil
}

// list returns a page of a stream and its continuation, empty for the last page.
func (s *streams) list(ctx context.Context, client, id string, p url.Values, limit int) (page []storage.MarkedItem, next string, err error) {
	q, has, err := s.query(ctx, id)
	if err != nil || !has {
		return nil, "", err
	}
	after, has, err := s.applyParameters(&q, p)
	if err != nil || !has {
		return nil, "", err
	}
	n, err := countParameter(p, limit)
	if err != nil {
		return nil, "", err
	}
	page, err = s.store.ListMarked(ctx, client, q, after, n+1) // the additional item indicates a further page
	if len(page) > n {
		page = page[:n]
		next = reading.Position(page[n-1].FirstSeen, page[n-1].ItemID)
	}
	return page, next, err
}
