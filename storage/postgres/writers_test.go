package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

func TestNextFence_RejectsOlderWriters(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	feedID := addFeed(t, s)
	for range 10 {
		fence, err := s.NextFence(ctx, "cluster.en")
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.CountFeeds(ctx, storage.FeedQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var busy sync.WaitGroup
		for range 3 {
			busy.Go(func() {
				for n := int(before.Items); ; n += 7 {
					batch := benchBatch(feedID, n, 7)
					batch.Fence = fence
					if _, err := s.PutItems(ctx, batch); errors.Is(err, storage.ErrFenced) {
						return
					} else if err != nil {
						t.Errorf("put: %v, want %v at last", err, storage.ErrFenced)
						return
					}
				}
			})
		}
		waitFor(t, "something to be put", func() bool {
			c, err := s.CountFeeds(ctx, storage.FeedQuery{})
			return err != nil || c.Items > before.Items
		})
		if _, err := s.NextFence(ctx, "cluster.en"); err != nil {
			t.Fatal(err)
		}
		then, err := s.CountFeeds(ctx, storage.FeedQuery{})
		if err != nil {
			t.Fatal(err)
		}
		busy.Wait()
		if now, err := s.CountFeeds(ctx, storage.FeedQuery{}); err != nil || now != then {
			t.Errorf("got %+v at the next fence, and later %+v, %v", then, now, err)
		}
	}
}

func TestNextFence_WaitsForRunningWrite(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	feedID := addFeed(t, s)
	fence, err := s.NextFence(ctx, "cluster.en")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, _, _, err := lockForPut(ctx, tx, storage.Batch{FeedID: feedID, Fence: fence}); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := s.NextFence(short, "cluster.en"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the next fence: %v, want it to wait", err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if next, err := s.NextFence(ctx, "cluster.en"); err != nil || next.Number <= fence.Number {
		t.Errorf("the next fence is %+v, %v", next, err)
	}
}

// disturbWriters concurrently adds and writes feeds whose items are duplicates of each other, so that row
// locks are taken in every order. It calls disturb after each write of one of them, and checks the result.
func disturbWriters(t *testing.T, s *Store, disturb func(feeds []storage.Feed, n, round int) error) {
	t.Helper()
	ctx := t.Context()
	feeds := make([]storage.Feed, 4)
	for i := range feeds {
		feeds[i] = storage.Feed{ID: storage.FeedID(benchURL(i)), URL: benchURL(i)}
	}
	var busy sync.WaitGroup
	for i, feed := range feeds {
		busy.Go(func() {
			for round := range 15 {
				if _, err := s.AddFeeds(ctx, feeds...); err != nil {
					t.Errorf("add: %v", err)
				}
				batch := duplicatesOf(feed.ID, feeds[(i+1)%len(feeds)].ID, 30, round)
				if _, err := s.PutItems(ctx, batch); err != nil && !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("put: %v", err)
				}
				if err := disturb(feeds, i, round); err != nil && !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("disturb: %v", err)
				}
			}
		})
	}
	busy.Wait()
	counted, err := s.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		t.Fatal(err)
	}
	const ofFeeds = `SELECT count(*) FILTER (WHERE feed IN (SELECT num FROM feeds)), count(*) FROM items`
	var owned, all int64
	if err := s.pool.QueryRow(ctx, ofFeeds).Scan(&owned, &all); err != nil || owned != all || all != counted.Items {
		t.Errorf("the feeds count %d items, and there are %d, %d of them of a feed, %v", counted.Items, all, owned, err)
	}
}

// duplicatesOf returns items of the feed that are duplicates of another feed's items.
func duplicatesOf(feedID, firstFeed string, n, revision int) storage.Batch {
	batch := benchBatch(feedID, 0, n)
	for i := range batch.Items {
		batch.Items[i].Hash = fmt.Sprint("hash-", revision)
		batch.Items[i].DuplicateOf = storage.ItemID(firstFeed, benchKey(i))
	}
	return batch
}

func TestRemoveFeed_DuringPutItemsSucceeds(t *testing.T) {
	s := open(t, emptySchema(t))
	disturbWriters(t, s, func(feeds []storage.Feed, n, round int) error {
		_, err := s.RemoveFeed(t.Context(), feeds[(n+round)%len(feeds)].ID)
		return err
	})
}

func TestMoveFeed_DuringPutItemsSucceeds(t *testing.T) {
	s := open(t, emptySchema(t))
	disturbWriters(t, s, func(feeds []storage.Feed, n, round int) error {
		if round%5 == 4 {
			_, err := s.RemoveFeed(t.Context(), feeds[n].ID)
			return err
		}
		_, err := s.MoveFeed(t.Context(), feeds[n].ID, feeds[(n+round)%len(feeds)].URL)
		return err
	})
}

func TestDo_RetriesDeadlock(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	var names = []string{"a", "b"}
	for _, name := range names {
		if _, err := s.NextFence(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	var both, busy sync.WaitGroup
	both.Add(2)
	for i := range 2 {
		busy.Go(func() {
			first := true
			err := s.transaction(ctx, "lock", func(ctx context.Context, tx pgx.Tx) error {
				const lock = `UPDATE fences SET number = number + 1 WHERE name = $1`
				if _, err := tx.Exec(ctx, lock, names[i]); err != nil {
					return err
				}
				if first {
					first = false
					both.Done()
					both.Wait()
				}
				_, err := tx.Exec(ctx, lock, names[1-i])
				return err
			})
			if err != nil {
				t.Errorf("the transaction that locks %s first: %v", names[i], err)
			}
		})
	}
	busy.Wait()
	for _, name := range names {
		if fence, err := s.NextFence(ctx, name); err != nil || fence.Number != 4 {
			t.Errorf("fence %s is %d, %v; want 4", name, fence.Number, err)
		}
	}
}
