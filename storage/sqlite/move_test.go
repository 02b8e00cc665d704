package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// movedURL is the feed's URL after so many moves.
func movedURL(moves int) string { return fmt.Sprintf("https://example.org/%d", moves) }

// moveForever moves the feed repeatedly, and prints a number after each move.
func moveForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	id := storage.FeedID(movedURL(0))
	for moves := 1; ; moves++ {
		now, err := s.ResolveFeed(ctx, id)
		if err != nil {
			return err
		}
		if _, err := s.MoveFeed(ctx, now, movedURL(moves)); err != nil {
			return err
		}
		fmt.Println(moves)
	}
}

func TestKill_MoveFeedIsAtomic(t *testing.T) {
	ctx := t.Context()
	path := storePath(t)
	s := open(t, path)
	first := storage.Feed{ID: storage.FeedID(movedURL(0)), URL: movedURL(0)}
	other := addFeed(t, s)
	if _, err := s.AddFeeds(ctx, first); err != nil {
		t.Fatal(err)
	}
	const batches = 25
	for n := range batches {
		if _, err := s.PutItems(ctx, batch(first.ID, n)); err != nil {
			t.Fatal(err)
		}
	}
	repeats := batch(other, 0)
	for i := range repeats.Items {
		repeats.Items[i].DuplicateOf = batch(first.ID, 0).Items[i].ID
	}
	if _, err := s.PutItems(ctx, repeats); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	kills := 6
	if testing.Short() {
		kills = 1
	}
	for range kills {
		killAfter(t, moverEnv, path, 2, rand.N(200*time.Millisecond))
		s := open(t, path)
		now, err := s.ResolveFeed(ctx, first.ID)
		if err != nil {
			t.Fatal(err)
		}
		for n := range batches {
			wantMoved(t, s, now, batch(first.ID, n))
		}
		for i, item := range repeats.Items {
			first := storage.ItemID(now, batch(now, 0).Items[i].Key)
			if got, err := storage.ItemByID(ctx, s, item.ID); err != nil || got.DuplicateOf != first {
				t.Fatalf("an item repeats %s, %v; want %s", got.DuplicateOf, err, first)
			}
		}
		if c, err := s.CountFeeds(ctx, storage.FeedQuery{}); err != nil || c != (storage.Counts{Feeds: 2, Items: (batches + 1) * batchSize}) {
			t.Errorf("there are %+v, %v; want 2 feeds and all items once", c, err)
		}
		closeStore(t, s)
	}
}

// wantMoved fails unless the feed has all items of the batch.
func wantMoved(t *testing.T, s *sqlite.Store, feedID string, b storage.Batch) {
	t.Helper()
	var ids []string
	for _, item := range b.Items {
		ids = append(ids, storage.ItemID(feedID, item.Key))
	}
	if items, err := s.Items(t.Context(), ids...); err != nil || len(items) != len(ids) {
		t.Fatalf("%d of %d items are there, %v", len(items), len(ids), err)
	}
}
