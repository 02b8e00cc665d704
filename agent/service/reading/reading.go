// Package reading answers requests about what a client has read: its unread and starred items, its labels and notes of
// items, and the numbers of unread items of its feeds and folders. Folders are the tags of feeds. Every client has marks of its own
// ([storage.Marks]); a change is published as an event, so that the client's other windows show it. The Google Reader
// API and the console use the same [Lists].
package reading

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/imageproxy"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// unreadDays is the number of days after which an item counts as read. It bounds the items that counts and lists of
// unread items have to scan.
const unreadDays = 30

// UnreadSince returns the time before which items count as read: items first seen earlier.
func UnreadSince(now time.Time) time.Time { return now.AddDate(0, 0, -unreadDays) }

// A Store is the part of [storage.Store] that reading lists use.
type Store interface {
	storage.Marks
	storage.Feeds
	storage.Records
	Items(ctx context.Context, ids ...string) ([]storage.Item, error)
}

// Lists are the reading lists of all clients. Its methods act for the client of the context ([access.From]) and may be
// called concurrently.
type Lists struct {
	store Store
	out   subjects.Publisher
	now   func() time.Time
	log   *slog.Logger

	feeds      feedCache
	counts     *countCache[map[string]storage.UnreadCount] // by feed ID
	viewCounts *countCache[map[int64]int64]                // by the number of a view
	views      ViewSource
	starred    func(ctx context.Context, ids []string) // see OnStar
}

// New returns the reading lists of a store. Changes of marks are published to out.
func New(store Store, out subjects.Publisher, now func() time.Time, log *slog.Logger) *Lists {
	return &Lists{
		store: store, out: out, now: now, log: log, counts: newCountCache[map[string]storage.UnreadCount](), viewCounts: newCountCache[map[int64]int64](),
	}
}

// OnStar sets a function that is called when the client of the context gives stars. It must not block.
func (l *Lists) OnStar(do func(ctx context.Context, ids []string)) { l.starred = do }

// Feeds returns all feeds by ID, from a cache. The caller must not change them.
func (l *Lists) Feeds(ctx context.Context) (map[string]Feed, error) {
	feeds, err := l.feeds.get(ctx, l.store, l.now())
	if err != nil {
		return nil, err
	}
	return feeds.byID, nil
}

// List returns a page of a reading list. The error may be [storage.ErrBadCursor], or [storage.ErrNotFound] for a feed
// that is not stored, or a view that the client may not read.
func (l *Lists) List(ctx context.Context, in wire.ReadingQuery) (wire.ReadingPage, error) {
	after, err := ParsePosition(in.Cursor)
	if err != nil {
		return wire.ReadingPage{}, err
	}
	if err := l.checkFeed(ctx, in.Feed); err != nil {
		return wire.ReadingPage{}, err
	}
	q := l.query(in.Show)
	q.FeedID, q.Tag, q.Label, q.ByTime, q.Oldest = in.Feed, in.Tag, in.Label, true, in.Oldest
	if err := l.selectView(ctx, in.View, &q); err != nil {
		return wire.ReadingPage{}, err
	}
	marked, err := l.store.ListMarked(ctx, access.From(ctx).ID, q, after, in.Limit+1)
	if err != nil {
		return wire.ReadingPage{}, err
	}
	page := wire.ReadingPage{}
	if len(marked) > in.Limit {
		marked = marked[:in.Limit]
		last := marked[in.Limit-1]
		page.Next = Position(last.Time, last.ItemID)
	}
	page.Items, err = l.describe(ctx, marked)
	return page, err
}

// query returns the query of what a list shows.
func (l *Lists) query(show string) (q storage.MarkQuery) {
	yes, no := true, false
	switch show {
	case wire.ShowStarred:
		q.Starred = &yes
	case wire.ShowAll:
	default:
		q.Read, q.From = &no, UnreadSince(l.now())
	}
	return q
}

// Marked returns the IDs of the client's unread or starred items, at most limit, those seen last first.
func (l *Lists) Marked(ctx context.Context, show string, limit int) ([]string, error) {
	marked, err := l.store.ListMarked(ctx, access.From(ctx).ID, l.query(show), storage.MarkedItem{}, limit)
	ids := make([]string, len(marked))
	for n, m := range marked {
		ids[n] = m.ItemID
	}
	return ids, err
}

// checkFeed returns [storage.ErrNotFound] for the ID of a feed that is not stored.
func (l *Lists) checkFeed(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	if _, err := l.store.Feed(ctx, id); err != nil {
		return fmt.Errorf("feed %s: %w", id, err)
	}
	return nil
}

// Of returns items with the marks of the client, in the given order, without those that do not exist.
func (l *Lists) Of(ctx context.Context, ids ...string) ([]wire.ReadingItem, error) {
	marked, err := l.store.MarksOf(ctx, access.From(ctx).ID, ids...)
	if err != nil {
		return nil, err
	}
	return l.describe(ctx, marked)
}

// describe returns marked items with their titles. An item that was removed meanwhile is left out.
func (l *Lists) describe(ctx context.Context, marked []storage.MarkedItem) ([]wire.ReadingItem, error) {
	ids := make([]string, len(marked))
	for i, m := range marked {
		ids[i] = m.ItemID
	}
	stored, err := l.store.Items(ctx, ids...)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]storage.Item, len(stored))
	for _, i := range stored {
		byID[i.ID] = i
	}
	feeds, err := l.feeds.get(ctx, l.store, l.now())
	if err != nil {
		return nil, err
	}
	since := UnreadSince(l.now())
	items := make([]wire.ReadingItem, 0, len(marked))
	for _, m := range marked {
		i, exists := byID[m.ItemID]
		if !exists {
			continue
		}
		out := wire.ReadingItem{
			ID: i.ID, Title: i.Title, URL: i.URL, FeedID: i.FeedID, FeedTitle: feeds.byID[i.FeedID].Name, Excerpt: i.Excerpt, Language: i.Language,
			Seen: i.FirstSeen, Time: i.Time(), Read: m.Read || m.FirstSeen.Before(since), Starred: m.Starred,
		}
		if len(i.Images) > 0 {
			out.Picture = imageproxy.Path(i.ID, i.Images[0], imageproxy.Small)
		}
		if i.Assumed == "" {
			out.Published = i.Published
		}
		items = append(items, out)
	}
	return items, nil
}

// Position returns the cursor of the items after one in a list, given the time by which the list is ordered.
func Position(at time.Time, itemID string) string {
	return fmt.Sprintf("%d-%s", at.UnixMicro(), itemID)
}

// ParsePosition returns the item of a cursor, with the time of the cursor as FirstSeen and as Time; the zero item for an
// empty one. It returns [storage.ErrBadCursor] for any other text than one of [Position].
func ParsePosition(cursor string) (storage.MarkedItem, error) {
	if cursor == "" {
		return storage.MarkedItem{}, nil
	}
	micros, id, found := strings.Cut(cursor, "-")
	n, err := strconv.ParseInt(micros, 10, 64)
	if !found || err != nil || id == "" || len(id) > 64 {
		return storage.MarkedItem{}, storage.ErrBadCursor
	}
	at := time.UnixMicro(n).UTC()
	return storage.MarkedItem{ItemID: id, FirstSeen: at, Time: at}, nil
}

// MarkItems changes the marks of items.
func (l *Lists) MarkItems(ctx context.Context, in wire.MarkItemsRequest) (wire.None, error) {
	return wire.None{}, l.Mark(ctx, storage.MarkChange{Read: in.Body.Read, Starred: in.Body.Starred}, in.Body.IDs...)
}

// Mark changes the marks of items. Items that do not exist are ignored.
func (l *Lists) Mark(ctx context.Context, change storage.MarkChange, ids ...string) error {
	client := access.From(ctx).ID
	if err := l.store.Mark(ctx, client, change, ids...); err != nil {
		return err
	}
	changed := subjects.ChangedMarks{Client: client, Read: change.Read, Starred: change.Starred}
	if len(ids) <= maxEventItems {
		changed.Items = ids
	}
	l.changed(ctx, changed)
	if change.Starred != nil && *change.Starred && l.starred != nil {
		l.starred(ctx, ids)
	}
	return nil
}

// maxUndo is the number of items that can be marked as unread again after [Lists.MarkAll].
const maxUndo = 1000

// MarkAll marks all items of a feed, a folder, a view, a label or all feeds as read. The error may be [storage.ErrNotFound] for a feed or a view.
func (l *Lists) MarkAll(ctx context.Context, in wire.MarkAllReadRequest) (wire.MarkedRead, error) {
	if err := l.checkFeed(ctx, in.Body.Feed); err != nil {
		return wire.MarkedRead{}, err
	}
	if !in.Body.Older.IsZero() || in.Body.Label != "" || in.Body.View != "" {
		return l.markListed(ctx, in.Body)
	}
	now := l.now()
	until := in.Body.Until
	if until.IsZero() || until.After(now) {
		until = now
	}
	no := false
	stream := storage.Stream{FeedID: in.Body.Feed, Tag: in.Body.Tag}
	q := storage.MarkQuery{Stream: stream, Read: &no, From: UnreadSince(now), Until: until.Add(time.Microsecond)}
	unread, err := l.store.ListMarked(ctx, access.From(ctx).ID, q, storage.MarkedItem{}, maxUndo+1)
	if err != nil {
		return wire.MarkedRead{}, err
	}
	result := wire.MarkedRead{IDs: []string{}, More: len(unread) > maxUndo}
	for _, m := range unread[:min(len(unread), maxUndo)] {
		result.IDs = append(result.IDs, m.ItemID)
	}
	return result, l.MarkStream(ctx, stream, until)
}

// markListed marks the items of a stream as read that were first seen at or before Until, and whose time is at or before Older.
func (l *Lists) markListed(ctx context.Context, in wire.ReadStream) (wire.MarkedRead, error) {
	q, read := l.query(wire.ShowUnread), true
	q.FeedID, q.Tag, q.Label, q.ByTime = in.Feed, in.Tag, in.Label, true
	if err := l.selectView(ctx, in.View, &q); err != nil {
		return wire.MarkedRead{}, err
	}
	if !in.Until.IsZero() {
		q.Until = in.Until.Add(time.Microsecond)
	}
	after := storage.MarkedItem{}
	if !in.Older.IsZero() {
		after = storage.MarkedItem{ItemID: lastID, Time: in.Older}
	}
	result := wire.MarkedRead{IDs: []string{}}
	for {
		unread, err := l.store.ListMarked(ctx, access.From(ctx).ID, q, after, maxUndo)
		if err != nil || len(unread) == 0 {
			return result, err
		}
		ids := make([]string, len(unread))
		for n, m := range unread {
			ids[n] = m.ItemID
		}
		if err := l.Mark(ctx, storage.MarkChange{Read: &read}, ids...); err != nil {
			return result, err
		}
		if result.More = len(result.IDs) > 0; !result.More {
			result.IDs = ids
		}
		after = unread[len(unread)-1]
	}
}

// lastID sorts after the IDs of all items.
const lastID = "{"

// MarkStream marks all items of a stream first seen at or before until as read.
func (l *Lists) MarkStream(ctx context.Context, stream storage.Stream, until time.Time) error {
	client, read := access.From(ctx).ID, true
	if err := l.store.MarkAllRead(ctx, client, stream, until); err != nil {
		return err
	}
	l.changed(ctx, subjects.ChangedMarks{Client: client, Read: &read})
	return nil
}

const (
	maxEventItems = 200         // items named in an event; windows read their lists again where there are more
	eventTimeout  = time.Second // timeout of the publication of an event
)

// changed publishes a change of a client's marks. The change itself is stored: without the event, other windows show it
// when they are loaded again.
func (l *Lists) changed(ctx context.Context, marks subjects.ChangedMarks) {
	l.counts.forget(marks.Client)
	l.viewCounts.forget(marks.Client)
	event := subjects.Event{Kind: subjects.MarksChanged, At: l.now(), Marks: &marks}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eventTimeout)
	defer cancel()
	if err := l.out.Publish(ctx, event.Message()); err != nil {
		l.log.Warn("change of marks not published: other windows of the client show it when they are loaded again", "err", err)
	}
}
