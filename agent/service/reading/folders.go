package reading

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Bounds of [Lists.Folders].
const (
	maxFolders     = 1000
	maxFolderFeeds = 200
)

// unread returns the numbers of unread items of the client by feed ID. They may come from a cache, at most countAge old;
// the client's own changes in this process are always in them.
func (l *Lists) unread(ctx context.Context) (map[string]storage.UnreadCount, error) {
	client, now := access.From(ctx).ID, l.now()
	unread, isRecent, changes := l.counts.get(client, now)
	if isRecent {
		return unread, nil
	}
	unread, err := l.store.CountUnread(ctx, client, UnreadSince(now))
	if err != nil {
		return nil, err
	}
	l.counts.put(client, unread, now, changes)
	return unread, nil
}

// Totals are the unread items of a client.
type Totals struct {
	All     storage.UnreadCount
	Folders map[string]storage.UnreadCount // by tag; only those with unread items
	Feeds   map[string]storage.UnreadCount // by feed ID; only those with unread items
}

// Totals returns the numbers of unread items of the client. They may come from a cache, at most [countAge] old; the
// client's own changes in this process are always in them. The tags of feeds may be [feedAge] old.
func (l *Lists) Totals(ctx context.Context) (Totals, error) {
	t, _, err := l.totals(ctx, func(string, Feed, storage.UnreadCount) {})
	return t, err
}

// totals also calls a function with each feed that has unread items: a client may have thousands, so each is looked up
// in the cache once only.
func (l *Lists) totals(ctx context.Context, each func(id string, f Feed, u storage.UnreadCount)) (Totals, *feedSet, error) {
	unread, err := l.unread(ctx)
	if err != nil {
		return Totals{}, nil, err
	}
	feeds, err := l.feeds.get(ctx, l.store, l.now())
	if err != nil {
		return Totals{}, nil, err
	}
	t := Totals{Folders: map[string]storage.UnreadCount{}, Feeds: unread}
	for id, u := range unread {
		f := feeds.byID[id]
		t.All = add(t.All, u)
		for _, tag := range f.Tags {
			t.Folders[tag] = add(t.Folders[tag], u)
		}
		each(id, f, u)
	}
	return t, feeds, nil
}

// add returns the count of two disjoint streams.
func add(a, b storage.UnreadCount) storage.UnreadCount {
	a.Count += b.Count
	if b.Newest.After(a.Newest) {
		a.Newest = b.Newest
	}
	return a
}

// Folders returns all folders, and the feeds of one or of all, with the numbers of unread items.
func (l *Lists) Folders(ctx context.Context, in wire.FolderQuery) (wire.Folders, error) {
	listed := topFeeds{}
	totals, feeds, err := l.totals(ctx, func(id string, f Feed, u storage.UnreadCount) {
		if in.Tag == "" {
			listed.add(wire.FeedInFolder{ID: id, Title: f.Name, Unread: u.Count})
		}
	})
	if err != nil {
		return wire.Folders{}, err
	}
	out := wire.Folders{Unread: totals.All.Count, Folders: []wire.Folder{}}
	for _, name := range feeds.sortedTags[:min(len(feeds.sortedTags), maxFolders)] {
		out.Folders = append(out.Folders, wire.Folder{Name: name, Feeds: int64(len(feeds.byTag[name])), Unread: totals.Folders[name].Count})
	}
	if out.Views, err = l.viewFolders(ctx); err != nil {
		return wire.Folders{}, err
	}
	if in.Tag != "" {
		for _, id := range feeds.byTag[in.Tag] {
			listed.add(wire.FeedInFolder{ID: id, Title: feeds.byID[id].Name, Unread: totals.Feeds[id].Count})
		}
	}
	out.Feeds = listed
	return out, nil
}

// topFeeds are the first maxFolderFeeds of the feeds that were added: those with the most unread items, then by title.
type topFeeds []wire.FeedInFolder

func (t *topFeeds) add(f wire.FeedInFolder) {
	order := func(a, b wire.FeedInFolder) int {
		return cmp.Or(cmp.Compare(b.Unread, a.Unread), cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID))
	}
	if n := len(*t); n == maxFolderFeeds {
		if order(f, (*t)[n-1]) >= 0 {
			return
		}
		*t = (*t)[:n-1]
	}
	at, _ := slices.BinarySearchFunc(*t, f, order)
	*t = slices.Insert(*t, at, f)
}

// A Feed is the name and the tags of a feed.
type Feed struct {
	Name string
	Tags []string
}

// A feedSet has the names and tags of all feeds.
type feedSet struct {
	byID       map[string]Feed
	byTag      map[string][]string // IDs of feeds
	sortedTags []string
}

// feedAge is the maximum age of a [feedCache]: so long a new feed is listed without its name.
const feedAge = 5 * time.Second

// A feedCache caches the names and tags of all feeds, some 300 bytes a feed. It is locked during a read, so that
// concurrent requests share it.
type feedCache struct {
	mu   sync.Mutex
	read time.Time
	set  *feedSet
}

func (c *feedCache) get(ctx context.Context, from storage.Feeds, now time.Time) (*feedSet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != nil && isRecent(c.read, now, feedAge) {
		return c.set, nil
	}
	set := &feedSet{byID: map[string]Feed{}, byTag: map[string][]string{}}
	err := storage.ForEachFeed(ctx, from, func(f storage.Feed) error {
		set.byID[f.ID] = Feed{f.Name(), f.Tags}
		for _, tag := range f.Tags {
			set.byTag[tag] = append(set.byTag[tag], f.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	set.sortedTags = slices.Sorted(maps.Keys(set.byTag))
	c.set, c.read = set, now
	return set, nil
}

// isRecent reports whether a time is at most age before now. A time after now is not: the clock was set back.
func isRecent(t, now time.Time, age time.Duration) bool {
	since := now.Sub(t)
	return since >= 0 && since <= age
}

const (
	countAge   = 2 * time.Second // maximum age of cached numbers: so long new items are not counted
	maxCounted = 1000            // clients of a [countCache]
)

// A countCache caches the numbers of unread items of clients, some 100 bytes for each of their feeds or views with unread items. Each put
// removes those that are too old. A full cache is cleared.
type countCache[Counts any] struct {
	mu       sync.Mutex
	byClient map[string]counted[Counts]
	changes  uint64 // number of calls of forget
}

// A counted is a cached result of a count.
type counted[Counts any] struct {
	unread Counts
	at     time.Time
}

func newCountCache[Counts any]() *countCache[Counts] {
	return &countCache[Counts]{byClient: map[string]counted[Counts]{}}
}

// get returns the cached numbers of a client, if they are recent, and the value that put needs.
func (c *countCache[Counts]) get(client string, now time.Time) (unread Counts, is bool, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.byClient[client]
	if !isRecent(kept.at, now, countAge) {
		return unread, false, c.changes
	}
	return kept.unread, true, c.changes
}

// put caches numbers that were counted after a call of get. It ignores them if marks have changed since then.
func (c *countCache[Counts]) put(client string, unread Counts, at time.Time, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	maps.DeleteFunc(c.byClient, func(_ string, kept counted[Counts]) bool { return !isRecent(kept.at, at, countAge) })
	if len(c.byClient) >= maxCounted {
		clear(c.byClient)
	}
	c.byClient[client] = counted[Counts]{unread, at}
}

// forget removes the numbers of a client whose marks changed.
func (c *countCache[Counts]) forget(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	delete(c.byClient, client)
}
