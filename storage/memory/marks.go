package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

// reading is what a client marked.
type reading struct {
	items map[string]mark      // by item ID
	until map[string]time.Time // up to when all is read, by feed ID; of all feeds by ""
}

// mark is what a client said of an item. Read is nil where it said nothing of that.
type mark struct {
	read    *bool
	starred bool
}

// marksOf returns what a client marked, to be changed.
func (s *Store) marksOf(client string) *reading {
	r := s.readings[client]
	if r == nil {
		r = &reading{map[string]mark{}, map[string]time.Time{}}
		s.readings[client] = r
	}
	return r
}

// isRead reports whether an item is read. It takes no client for one who has not
// marked anything.
func (r *reading) isRead(i storage.Item) bool {
	if r == nil {
		return false
	}
	if said := r.items[i.ID].read; said != nil {
		return *said
	}
	seen := micro(i.FirstSeen)
	return !seen.After(r.until[""]) || !seen.After(r.until[i.FeedID])
}

func (r *reading) isStarred(id string) bool { return r != nil && r.items[id].starred }

// Mark implements [storage.Marks].
func (s *Store) Mark(ctx context.Context, client string, m storage.Marking, itemIDs ...string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	r := s.marksOf(client)
	for _, id := range itemIDs {
		if _, ok := s.items[id]; !ok {
			continue
		}
		said := r.items[id]
		if m.Read != nil {
			read := *m.Read
			said.read = &read
		}
		if m.Starred != nil {
			said.starred = *m.Starred
		}
		r.items[id] = said
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
	for id, said := range r.items {
		item := s.items[id]
		if said.read != nil && !*said.read && s.inStream(item.FeedID, stream) && !micro(item.FirstSeen).After(until) {
			read := true
			said.read = &read
			r.items[id] = said
		}
	}
	return nil
}

func (s *Store) inStream(feedID string, stream storage.Stream) bool {
	return (stream.FeedID == "" || feedID == stream.FeedID) &&
		(stream.Tag == "" || slices.Contains(s.feeds[feedID].Tags, stream.Tag))
}

// listed reports whether readers are shown an item.
func listed(i storage.Item) bool {
	return !i.Spam && i.DuplicateOf == "" && !slices.Contains(i.Flags, storage.Muted)
}

// ListMarked implements [storage.Marks].
func (s *Store) ListMarked(ctx context.Context, client string, q storage.MarkQuery, after storage.Marked, limit int) ([]storage.Marked, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	r, order := s.readings[client], byWhenSeen
	if !q.Oldest {
		order = func(a, b storage.Marked) int { return byWhenSeen(b, a) }
	}
	after.FirstSeen = micro(after.FirstSeen)
	var page []storage.Marked
	for _, item := range s.items {
		m := marked(r, item)
		asked := q.Starred != nil && *q.Starred || listed(item)
		matches := (q.Read == nil || m.Read == *q.Read) && (q.Starred == nil || m.Starred == *q.Starred) &&
			(q.From.IsZero() || !m.FirstSeen.Before(micro(q.From))) && (q.Until.IsZero() || m.FirstSeen.Before(micro(q.Until)))
		if asked && matches && s.inStream(item.FeedID, q.Stream) && (after.ItemID == "" || order(m, after) > 0) {
			page = append(page, m)
		}
	}
	slices.SortFunc(page, order)
	return first(page, limit), nil
}

func byWhenSeen(a, b storage.Marked) int {
	return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), cmp.Compare(a.ItemID, b.ItemID))
}

func marked(r *reading, i storage.Item) storage.Marked {
	return storage.Marked{ItemID: i.ID, FeedID: i.FeedID, FirstSeen: micro(i.FirstSeen), Read: r.isRead(i), Starred: r.isStarred(i.ID)}
}

// MarksOf implements [storage.Marks].
func (s *Store) MarksOf(ctx context.Context, client string, itemIDs ...string) ([]storage.Marked, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var found []storage.Marked
	for _, id := range itemIDs {
		if item, ok := s.items[id]; ok {
			found = append(found, marked(s.readings[client], item))
		}
	}
	return found, nil
}

// CountUnread implements [storage.Marks].
func (s *Store) CountUnread(ctx context.Context, client string, since time.Time) (map[string]storage.Unread, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	unread := map[string]storage.Unread{}
	for _, item := range s.items {
		m := marked(s.readings[client], item)
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
	return storage.InNumberOrder(slices.Sorted(maps.Keys(s.items)), numbers), nil
}

// ForgetMarks implements [storage.Marks].
func (s *Store) ForgetMarks(ctx context.Context, client string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.readings, client)
	return nil
}

// moveMarks has each client say of an item, which is about to get another ID and
// feed, all that it said of it so far, of the ID it has then. Where that is there
// already, what was said of that stays, but for an item that is read or starred.
func (s *Store) moveMarks(item storage.Item, now, feedID string) {
	_, kept := s.items[now]
	for _, r := range s.readings {
		said, moved := r.items[item.ID]
		if read := r.isRead(item); said.read != nil || read || r.covers(item, feedID) {
			said.read, moved = &read, true
		}
		if !moved {
			continue
		}
		if kept {
			old := r.items[now]
			if said.read == nil || !*said.read {
				said.read = old.read
			}
			said.starred = said.starred || old.starred
		}
		r.items[now] = said
	}
}

// covers reports whether an item would be read for being in another feed.
func (r *reading) covers(i storage.Item, feedID string) bool {
	return !micro(i.FirstSeen).After(r.until[feedID])
}

// forgetMarks forgets what was said of an item.
func (s *Store) forgetMarks(id string) {
	for _, r := range s.readings {
		delete(r.items, id)
	}
}

// forgetReadFeed forgets up to when a feed is read.
func (s *Store) forgetReadFeed(id string) {
	for _, r := range s.readings {
		delete(r.until, id)
	}
}
