package reading

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	maxViews  = 100  // views among the folders, of those that the client may read the first by name
	maxUnread = 5000 // latest unread items among which those of views are counted
)

// A View is a list of items that others define, see package classify/view.
type View struct {
	Name, Title string
	Number      int64
	Window      time.Duration // after their publication, items leave; 0: never
}

// A ViewSource has the views that the client of a context may read.
type ViewSource interface {
	// Readable returns at most limit views, ordered by name.
	Readable(ctx context.Context, limit int) ([]View, error)

	// Find returns the view of a name, or [storage.ErrNotFound].
	Find(ctx context.Context, name string) (View, error)
}

// ReadViews sets the source of the views that are lists too.
func (l *Lists) ReadViews(from ViewSource) { l.views = from }

// since returns the time from which items that were published are in the view, the zero time without a window.
func (v View) since(now time.Time) time.Time {
	if v.Window == 0 {
		return time.Time{}
	}
	return now.Add(-v.Window)
}

// selectView restricts a query to the items of a view, if it has a name.
func (l *Lists) selectView(ctx context.Context, name string, q *storage.MarkQuery) error {
	if name == "" {
		return nil
	}
	v, err := l.views.Find(ctx, name)
	if err != nil {
		return fmt.Errorf("view %s: %w", name, err)
	}
	q.View, q.Since = v.Number, v.since(l.now())
	return nil
}

// viewFolders returns the views that the client may read, with their numbers of unread items.
func (l *Lists) viewFolders(ctx context.Context) ([]wire.ViewInFolders, error) {
	folders := []wire.ViewInFolders{}
	if l.views == nil {
		return folders, nil
	}
	views, err := l.views.Readable(ctx, maxViews)
	if err != nil || len(views) == 0 {
		return folders, err
	}
	unread, err := l.unreadOfViews(ctx, views)
	for _, v := range views {
		folders = append(folders, wire.ViewInFolders{Name: v.Name, Title: v.Title, Unread: unread[v.Number]})
	}
	return folders, err
}

// unreadOfViews returns, by the number of a view, how many of the client's latest maxUnread unread items it has. They may come from a cache, as
// those of [Lists.Totals].
func (l *Lists) unreadOfViews(ctx context.Context, views []View) (map[int64]int64, error) {
	client, now := access.From(ctx).ID, l.now()
	unread, isRecent, changes := l.viewCounts.get(client, now)
	if isRecent {
		return unread, nil
	}
	queries := make([]storage.MemberQuery, len(views))
	for i, v := range views {
		queries[i] = storage.MemberQuery{View: v.Number, Since: v.since(now)}
	}
	unread, err := l.store.CountUnreadOfViews(ctx, client, UnreadSince(now), queries, maxUnread)
	if err != nil {
		return nil, err
	}
	l.viewCounts.put(client, unread, now, changes)
	return unread, nil
}
