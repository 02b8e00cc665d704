package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// A filler adds items to a node's store and index while the node does not run: in a minute more than the node
// stores in ten. Items are ordered by their first-seen time, and all are older than the window of clustering.
type filler struct {
	dir   string
	most  int          // final number of items
	feeds *remoteFeeds // of the items' feeds; it does not serve these items any more
	n     int          // number of items
	store *sqlite.Store
	index *bleve.Index
}

const (
	fillBatch  = 500    // items in a batch
	fillBody   = 600    // characters of text
	fillTimed  = 50_000 // number of last items whose costs are measured
	fillNewest = 10 * 24 * time.Hour
	fillSpan   = 290 * 24 * time.Hour // period of the items' times
)

// putCosts are microseconds of CPU time an item.
type putCosts struct{ store, index float64 }

// fill adds items up to n, and returns the costs of the last of them.
func (f *filler) fill(ctx context.Context, n int) (last putCosts, err error) {
	if f.store, err = sqlite.Open(ctx, storePath(f.dir)); err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, f.store.Close()) }()
	if f.index, err = bleve.Open(indexPath(f.dir), slog.New(slog.DiscardHandler)); err != nil {
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
	settledSize(indexPath(f.dir))
	return f.timed(ctx, n)
}

// addFeeds adds the feeds.
func (f *filler) addFeeds(ctx context.Context) error {
	feeds := make([]storage.Feed, len(f.feeds.urls))
	for i, url := range f.feeds.urls {
		feeds[i] = storage.Feed{ID: storage.FeedID(url), URL: url, Added: time.Now()}
	}
	_, err := f.store.AddFeeds(ctx, feeds...)
	return err
}

// batch generates the items of the next document.
func (f *filler) batch() storage.Batch {
	feed := f.n / fillBatch % len(f.feeds.urls)
	b := storage.Batch{FeedID: storage.FeedID(f.feeds.urls[feed])}
	for range fillBatch {
		b.Items = append(b.Items, f.item(b.FeedID, feed, f.n))
		f.n++
	}
	return b
}

// item generates the n-th item.
func (f *filler) item(feedID string, feed, n int) storage.Item {
	title, html := simulate.Text(3*feed, n) // an English feed
	plain := text.Excerpt(text.PlainText(html), fillBody)
	key := fmt.Sprint(n)
	i := storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: key, Partition: "en", Language: "en",
		URL: simulate.Link(feed, n), Title: title, HTML: "<p>" + plain + "</p>", Excerpt: text.Excerpt(plain, 300), TextHash: near.TextHash(title, plain),
		FirstSeen: time.Now().Add(-fillNewest - fillSpan/time.Duration(f.most)*time.Duration(f.most-n)),
	}
	i.Published = i.FirstSeen
	i.EventID = storage.EventID(i.ID)
	i.StoryID = storage.StoryID(i.EventID)
	return i
}

// fast adds items up to n, to the store and the index concurrently.
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

// putIndex indexes items as stored, with the change times of the store, because otherwise the node would find
// differences.
func (f *filler) putIndex(ctx context.Context, items []storage.Item) error {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	items, err := f.store.Items(ctx, ids...)
	if err != nil {
		return err
	}
	docs := make([]storage.IndexItem, len(items))
	for i, item := range items {
		docs[i] = storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)}
	}
	return f.index.Put(ctx, docs...)
}

// timed adds items up to n, first to the store and then to the index, and returns the costs, including those
// of the index's merges afterwards.
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
	settledSize(indexPath(f.dir))
	items := float64(f.n - first)
	return putCosts{between.since(before).micros(items), usedBy(os.Getpid()).since(between).micros(items)}, nil
}
