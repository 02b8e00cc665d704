package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

// clientMarks contains all marks of one client.
type clientMarks struct {
	items map[string]mark      // by item ID
	until map[string]time.Time // time up to which everything is read, by feed ID; "" for all feeds
}

// mark contains the marks of one item. Read is nil if it was never set.
type mark struct {
	read    *bool
	starred bool
}

// marksOf returns the marks of a client, for changes.
func (s *Store) marksOf(client string) *clientMarks {
	r := s.marksByClient[client]
	if r == nil {
		r = &clientMarks{map[string]mark{}, map[string]time.Time{}}
		s.marksByClient[client] = r
	}
	return r
}

// isRead reports whether an item is read. The receiver is nil for a client without marks.
func (r *clientMarks) isRead(i storage.Item) bool {
	if r == nil {
		return false
	}
	if m := r.items[i.ID].read; m != nil {
		return *m
	}
	seen := micro(i.FirstSeen)
	return !seen.After(r.until[""]) || !seen.After(r.until[i.FeedID])
}

func (r *clientMarks) isStarred(id string) bool { return r != nil && r.items[id].starred }

// Mark implements [storage.Marks].
func (s *Store) Mark(ctx context.Context, client string, m storage.MarkChange, itemIDs ...string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	r := s.marksOf(client)
	for _, id := range itemIDs {
		if _, ok := s.items[id]; !ok {
			continue
		}
		old := r.items[id]
		if m.Read != nil {
			read := *m.Read
			old.read = &read
		}
		if m.Starred != nil {
			old.starred = *m.Starred
		}
		r.items[id] = old
	}
	return nil
}

// MarkAllRead implements [storage.Marks].
func (s *Store) MarkAllRead(ctx context.Context, client string, stream storage.Stream, until time.Time) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	r := s.marksOf(client)
	until = micro(until)
	feeds := []string{""}
	if stream != (storage.Stream{}) {
		feeds = slices.DeleteFunc(slices.Collect(maps.Keys(s.feeds)), func(id string) bool { return !s.inStream(id, stream) })
	}
	for _, id := range feeds {
		if until.After(r.until[id]) {
			r.until[id] = until
		}
	}
	for id, m := range r.items {
		item := s.items[id]
		if m.read != nil && !*m.read && s.inStream(item.FeedID, stream) && !micro(item.FirstSeen).After(until) {
			read := true
			m.read = &read
			r.items[id] = m
		}
	}
	return nil
}

func (s *Store) inStream(feedID string, stream storage.Stream) bool {
	return (stream.FeedID == "" || feedID == stream.FeedID) &&
		(stream.Tag == "" || slices.Contains(s.feeds[feedID].Tags, stream.Tag))
}

// listed reports whether an item is shown to readers.
func listed(i storage.Item) bool {
	return !i.Spam && i.DuplicateOf == "" && !slices.Contains(i.Flags, storage.FlagMuted)
}

// ListMarked implements [storage.Marks].
func (s *Store) ListMarked(ctx context.Context, client string, q storage.MarkQuery, after storage.MarkedItem, limit int) ([]storage.MarkedItem, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	r, order := s.marksByClient[client], byWhenSeen
	if !q.Oldest {
		order = func(a, b storage.MarkedItem) int { return byWhenSeen(b, a) }
	}
	after.FirstSeen = micro(after.FirstSeen)
	var page []storage.MarkedItem
	for _, item := range s.items {
		m := marked(r, item)
		shown := q.Starred != nil && *q.Starred || listed(item)
		matches := (q.Read == nil || m.Read == *q.Read) && (q.Starred == nil || m.Starred == *q.Starred) &&
			(q.From.IsZero() || !m.FirstSeen.Before(micro(q.From))) && (q.Until.IsZero() || m.FirstSeen.Before(micro(q.Until)))
		if shown && matches && s.inStream(item.FeedID, q.Stream) && (after.ItemID == "" || order(m, after) > 0) {
			page = append(page, m)
		}
	}
	slices.SortFunc(page, order)
	return first(page, limit), nil
}

func byWhenSeen(a, b storage.MarkedItem) int {
	return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), cmp.Compare(a.ItemID, b.ItemID))
}

func marked(r *clientMarks, i storage.Item) storage.MarkedItem {
	return storage.MarkedItem{ItemID: i.ID, FeedID: i.FeedID, FirstSeen: micro(i.FirstSeen), Read: r.isRead(i), Starred: r.isStarred(i.ID)}
}

// MarksOf implements [storage.Marks].
func (s *Store) MarksOf(ctx context.Context, client string, itemIDs ...string) ([]storage.MarkedItem, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var found []storage.MarkedItem
	for _, id := range itemIDs {
		if item, ok := s.items[id]; ok {
			found = append(found, marked(s.marksByClient[client], item))
		}
	}
	return found, nil
}

// CountUnread implements [storage.Marks].
func (s *Store) CountUnread(ctx context.Context, client string, since time.Time) (map[string]storage.UnreadCount, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	unread := map[string]storage.UnreadCount{}
	for _, item := range s.items {
		m := marked(s.marksByClient[client], item)
		if !listed(item) || m.Read || m.FirstSeen.Before(micro(since)) {
			continue
		}
		u := unread[item.FeedID]
		u.Count++
		if m.FirstSeen.After(u.Newest) {
			u.Newest = m.FirstSeen
		}
		unread[item.FeedID] = u
	}
	return unread, nil
}

// NumberedItems implements [storage.Marks].
func (s *Store) NumberedItems(ctx context.Context, numbers ...int64) ([]string, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return storage.OrderByNumbers(slices.Sorted(maps.Keys(s.items)), numbers), nil
}

// DeleteMarks implements [storage.Marks].
func (s *Store) DeleteMarks(ctx context.Context, client string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.marksByClient, client)
	return nil
}

// moveMarks copies every client's marks of an item to its next ID, before it moves to another feed. If an
// item with that ID exists, the marks are merged: read or starred if either was.
func (s *Store) moveMarks(item storage.Item, newID, feedID string) {
	_, exists := s.items[newID]
	for _, r := range s.marksByClient {
		m, moved := r.items[item.ID]
		if read := r.isRead(item); m.read != nil || read || r.covers(item, feedID) {
			m.read, moved = &read, true
		}
		if !moved {
			continue
		}
		if exists {
			old := r.items[newID]
			if m.read == nil || !*m.read {
				m.read = old.read
			}
			m.starred = m.starred || old.starred
		}
		r.items[newID] = m
	}
}

// covers reports whether the item would be read in the given feed.
func (r *clientMarks) covers(i storage.Item, feedID string) bool {
	return !micro(i.FirstSeen).After(r.until[feedID])
}

// deleteMarksOfItem deletes all marks of an item.
func (s *Store) deleteMarksOfItem(id string) {
	for _, r := range s.marksByClient {
		delete(r.items, id)
	}
}

// deleteReadUntilOfFeed deletes the times up to which a feed is read.
func (s *Store) deleteReadUntilOfFeed(id string) {
	for _, r := range s.marksByClient {
		delete(r.until, id)
	}
}
