package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/simulate"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/sqlite"
)

// A filler puts items into a node's store and index while the node does not run:
// more of them in a minute than the node takes in ten. They come in the order in which
// they were first seen, as in life, and all are of days before those whose items new
// ones are compared with.
type filler struct {
	dir   string
	most  int         // items there will be
	farm  *remoteFarm // of the feeds that the items are of; it has none of these any more
	n     int         // items so far
	store *sqlite.Store
	index *bleve.Index
}

const (
	fillBatch  = 500    // items that are put together
	fillBody   = 600    // characters of text
	fillTimed  = 50_000 // of the last so many items the costs are measured
	fillNewest = 10 * 24 * time.Hour
	fillSpan   = 290 * 24 * time.Hour // before that, over which the items are spread
)

// putCosts are microseconds of processor time an item.
type putCosts struct{ store, index float64 }

// fill puts items until there are n, and returns what the last of them cost.
func (f *filler) fill(ctx context.Context, n int) (last putCosts, err error) {
	if f.store, err = sqlite.Open(ctx, storePath(f.dir)); err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, f.store.Close()) }()
	if f.index, err = bleve.Open(indexPath(f.dir)); err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, f.index.Close()) }()
	if f.n == 0 {
		if err := f.addFeeds(ctx); err != nil {
			return last, err
		}
	}
	timed := min(fillTimed, n-f.n)
	if err := f.fast(ctx, n-timed); err != nil {
		return last, err
	}
	settled(indexPath(f.dir))
	return f.timed(ctx, n)
}

// addFeeds adds the feeds.
func (f *filler) addFeeds(ctx context.Context) error {
	feeds := make([]storage.Feed, len(f.farm.urls))
	for i, url := range f.farm.urls {
		feeds[i] = storage.Feed{ID: storage.FeedID(url), URL: url, Added: time.Now()}
	}
	_, err := f.store.AddFeeds(ctx, feeds...)
	return err
}

// batch makes the items of the next document.
func (f *filler) batch() storage.Batch {
	feed := f.n / fillBatch % len(f.farm.urls)
	b := storage.Batch{FeedID: storage.FeedID(f.farm.urls[feed])}
	for range fillBatch {
		b.Items = append(b.Items, f.item(b.FeedID, feed, f.n))
		f.n++
	}
	return b
}

// item makes the n-th item.
func (f *filler) item(feedID string, feed, n int) storage.Item {
	title, html := simulate.Text(3*feed, n) // one in English
	plain := text.Excerpt(text.Plain(html), fillBody)
	key := fmt.Sprint(n)
	i := storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: key, Lane: "en", Language: "en",
		URL: simulate.Link(feed, n), Title: title, HTML: "<p>" + plain + "</p>", Excerpt: text.Excerpt(plain, 300), TextHash: near.TextHash(title, plain),
		FirstSeen: time.Now().Add(-fillNewest - fillSpan/time.Duration(f.most)*time.Duration(f.most-n)),
	}
	i.Published = i.FirstSeen
	i.EventID = storage.EventID(i.ID)
	i.StoryID = storage.StoryID(i.EventID)
	return i
}

// fast puts items until there are n, into the store and into the index at once.
func (f *filler) fast(ctx context.Context, n int) error {
	began, first := time.Now(), f.n
	stored := make(chan []storage.Item, 2)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(stored)
		for f.n < n {
			b := f.batch()
			if _, err := f.store.PutItems(ctx, b); err != nil {
				return err
			}
			select {
			case stored <- b.Items:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	group.Go(func() error {
		for items := range stored {
			if err := f.putIndex(ctx, items); err != nil {
				return err
			}
		}
		return nil
	})
	err := group.Wait()
	fmt.Fprintf(os.Stderr, "%d items filled in, %.0f /s\n", f.n-first, float64(f.n-first)/time.Since(began).Seconds())
	return err
}

// putIndex indexes items as the store has them, with the time at which it changed
// them: or the node would find that the two differ.
func (f *filler) putIndex(ctx context.Context, items []storage.Item) error {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	items, err := f.store.Items(ctx, ids...)
	if err != nil {
		return err
	}
	docs := make([]storage.Indexed, len(items))
	for i, item := range items {
		docs[i] = storage.Indexed{Item: item, Text: text.Plain(item.HTML)}
	}
	return f.index.Put(ctx, docs...)
}

// timed puts items until there are n, first into the store and then into the index,
// and returns what that cost, with what the index has to rearrange after it.
func (f *filler) timed(ctx context.Context, n int) (costs putCosts, err error) {
	var batches []storage.Batch
	first := f.n
	for f.n < n {
		batches = append(batches, f.batch())
	}
	before := usedBy(os.Getpid())
	for _, b := range batches {
		if _, err := f.store.PutItems(ctx, b); err != nil {
			return costs, err
		}
	}
	between := usedBy(os.Getpid())
	for _, b := range batches {
		if err := f.putIndex(ctx, b.Items); err != nil {
			return costs, err
		}
	}
	settled(indexPath(f.dir))
	items := float64(f.n - first)
	return putCosts{between.since(before).micros(items), usedBy(os.Getpid()).since(between).micros(items)}, nil
}
