package greader

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/storage"
)

// unreadDays is for how long an item is unread. Nobody reads what is older one by
// one, and so neither counts nor lists of unread items ever look at all there is.
const unreadDays = 30

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

// A stream is what its ID says: a state, a label, or a feed; one of them.
type stream struct{ state, label, feed string }

// parseStream reads a stream's ID. Clients write the user as they were told, or as
// a hyphen.
func parseStream(id string) (stream, error) {
	if feed, is := strings.CutPrefix(id, feedPrefix); is && feed != "" {
		return stream{feed: feed}, nil
	}
	if user, rest, is := strings.Cut(strings.TrimPrefix(id, "user/"), "/"); is && user != "" && strings.HasPrefix(id, "user/") {
		if state, is := strings.CutPrefix(rest, "state/com.google/"); is && state != "" {
			return stream{state: state}, nil
		}
		if label, is := strings.CutPrefix(rest, "label/"); is && label != "" {
			return stream{label: label}, nil
		}
	}
	return stream{}, badRequest(fmt.Sprintf("%.100q is no stream; write feed/ID, user/-/label/NAME or user/-/state/com.google/reading-list", id))
}

// feedID returns the ID of the feed that a stream's ID means, by its ID or address,
// also of one that moved since. It may be [storage.ErrNotFound].
func (s *server) feedID(ctx context.Context, feed string) (string, error) {
	id, err := s.Store.ResolveFeed(ctx, feed)
	if !errors.Is(err, storage.ErrNotFound) {
		return id, err
	}
	address, err := storage.CanonicalURL(feed)
	if err != nil {
		return "", storage.ErrNotFound
	}
	return s.Store.ResolveFeed(ctx, storage.FeedID(address))
}

// query returns which items a stream has, and false if it has none, whatever is
// stored: of a feed that is not there, or of a state we know nothing of.
func (s *server) query(ctx context.Context, id string) (q storage.MarkQuery, has bool, err error) {
	of, err := parseStream(id)
	switch {
	case err != nil:
		return q, false, err
	case of.label != "":
		q.Tag = of.label
	case of.feed != "":
		q.FeedID, err = s.feedID(ctx, of.feed)
		if errors.Is(err, storage.ErrNotFound) {
			return q, false, nil
		}
	default:
		return q, s.only(&q, of.state), nil
	}
	return q, err == nil, err
}

// only narrows a query to items of a state. It returns false if there are none.
func (s *server) only(q *storage.MarkQuery, state string) bool {
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

func (s *server) onlyUnread(q *storage.MarkQuery) {
	q.Read = &no
	if since := s.unreadSince(); q.From.Before(since) {
		q.From = since
	}
}

func (s *server) unreadSince() time.Time { return s.Now().AddDate(0, 0, -unreadDays) }

// narrow narrows a query by what else is asked for, and returns the place that a
// page begins after. it and xt name states; others of them are not known here.
func (s *server) narrow(q *storage.MarkQuery, p url.Values) (after storage.Marked, has bool, err error) {
	q.Oldest = p.Get("r") == "o"
	if q.From, err = timeOf(p, "ot"); err != nil {
		return after, false, err
	}
	if q.Until, err = timeOf(p, "nt"); err != nil {
		return after, false, err
	}
	if q.Read != nil && !*q.Read {
		s.onlyUnread(q)
	}
	has = true
	for _, id := range p["it"] {
		if of, err := parseStream(id); err == nil && of.state != "" {
			has = has && s.only(q, of.state)
		}
	}
	for _, id := range p["xt"] {
		of, _ := parseStream(id)
		switch of.state {
		case read:
			s.onlyUnread(q)
		case unread, keptUnread:
			q.Read = &yes
		case starred:
			q.Starred = &no
		}
	}
	after, err = placeOf(p.Get("c"))
	return after, has, err
}

// timeOf returns a time that a client gives, in whatever unit: seconds are usual
// for bounds, and microseconds for what is marked read. NetNewsWire's seconds have a
// fraction.
func timeOf(p url.Values, name string) (time.Time, error) {
	text := p.Get(name)
	if text == "" || text == "0" {
		return time.Time{}, nil
	}
	whole, _, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	switch {
	case err != nil || n < 0:
		return time.Time{}, badRequest(fmt.Sprintf("%s=%.40s is no time; write seconds since 1970", name, text))
	case n > 1e17:
		return time.Unix(0, n).UTC(), nil
	case n > 1e14:
		return time.UnixMicro(n).UTC(), nil
	case n > 1e11:
		return time.UnixMilli(n).UTC(), nil
	}
	return time.Unix(n, 0).UTC(), nil
}

// countOf returns how many items to list: at most the given number.
func countOf(p url.Values, most int) (int, error) {
	text := p.Get("n")
	if text == "" {
		return 20, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, badRequest(fmt.Sprintf("n=%.40s is no number of items", text))
	}
	return min(n, most), nil
}

// continuation returns where the page after an item begins.
func continuation(m storage.Marked) string {
	return fmt.Sprintf("%d-%s", m.FirstSeen.UnixMicro(), m.ItemID)
}

// placeOf reads what continuation returned.
func placeOf(c string) (storage.Marked, error) {
	if c == "" {
		return storage.Marked{}, nil
	}
	micros, id, is := strings.Cut(c, "-")
	n, err := strconv.ParseInt(micros, 10, 64)
	if !is || err != nil || id == "" || len(id) > 64 {
		return storage.Marked{}, badRequest(fmt.Sprintf("c=%.100q is no continuation of ours", c))
	}
	return storage.Marked{ItemID: id, FirstSeen: time.UnixMicro(n).UTC()}, nil
}

// list returns a page of a stream, and the continuation, empty if this is the last.
func (s *server) list(ctx context.Context, client, id string, p url.Values, most int) (page []storage.Marked, next string, err error) {
	q, has, err := s.query(ctx, id)
	if err != nil || !has {
		return nil, "", err
	}
	after, has, err := s.narrow(&q, p)
	if err != nil || !has {
		return nil, "", err
	}
	n, err := countOf(p, most)
	if err != nil {
		return nil, "", err
	}
	page, err = s.Store.ListMarked(ctx, client, q, after, n+1) // one more tells whether there are more
	if len(page) > n {
		page = page[:n]
		next = continuation(page[n-1])
	}
	return page, next, err
}
