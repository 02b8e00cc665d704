package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestAddFeeds_DuringMoveAddsNothing(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptyDatabase(t, server))
	feedID := addFeed(t, s)
	other := storage.Feed{ID: storage.FeedID(benchURL(1)), URL: benchURL(1)}
	if _, err := s.AddFeeds(ctx, other); err != nil {
		t.Fatal(err)
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	nums, err := lockFeedPair(ctx, tx, feedID, other.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := finishMove(ctx, tx, nums, feedID, other.ID); err != nil {
		t.Fatal(err)
	}
	var adding sync.WaitGroup
	adding.Go(func() {
		if added, err := s.AddFeeds(ctx, storage.Feed{ID: feedID, URL: benchURL(0)}); err != nil || len(added) > 0 {
			t.Errorf("added %v, %v; want no new feed", added, err)
		}
	})
	waitFor(t, "the adding transaction to wait", func() bool {
		return scan[bool](t, s.pool.Config().ConnString(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())`)
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	adding.Wait()
	if _, err := s.Feed(ctx, feedID); err != storage.ErrNotFound {
		t.Errorf("the moved feed: %v, want %v", err, storage.ErrNotFound)
	}
}

func TestKill_MoveFeedIsAtomic(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptyDatabase(t, server))
	from := addFeed(t, s)
	other := storage.Feed{ID: storage.FeedID(benchURL(9)), URL: benchURL(9)}
	if _, err := s.AddFeeds(ctx, other); err != nil {
		t.Fatal(err)
	}
	const items = 3000
	for _, batch := range []storage.Batch{benchBatch(from, 0, items), duplicatesOf(other.ID, from, 100, 1)} {
		if _, err := s.PutItems(ctx, batch); err != nil {
			t.Fatal(err)
		}
	}
	kill := fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'`, s.pool.Config().ConnConfig.Database)
	killed := 0
	for round := range 12 {
		var moving sync.WaitGroup
		url := benchURL(10 + round)
		moving.Go(func() {
			switch _, err := s.MoveFeed(ctx, from, url); {
			case errors.Is(err, storage.ErrUnavailable):
				killed++
			case err != nil:
				t.Errorf("move: %v, want %v", err, storage.ErrUnavailable)
			}
		})
		time.Sleep(rand.N(300 * time.Millisecond))
		if err := server.Exec(kill); err != nil {
			t.Error(err)
		}
		moving.Wait()
		s.pool.Reset() // of connections that may not have noticed yet that they are killed
		now, err := s.ResolveFeed(ctx, from)
		if err != nil || now != from && now != storage.FeedID(url) {
			t.Fatalf("got original feed %s, %v", now, err)
		}
		from = now
		wantWhole(t, s, from, other.ID, items)
	}
	if killed == 0 {
		t.Error("no move was killed")
	}
}

// wantWhole fails unless the feed contains all the items, and the items of the other feed are duplicates of
// its items.
func wantWhole(t *testing.T, s *Store, feedID, otherID string, items int64) {
	t.Helper()
	if got, err := s.Feed(t.Context(), feedID); err != nil || got.Items != items {
		t.Errorf("got %d items in the feed, %v; want %d", got.Items, err, items)
	}
	if got, err := s.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || got.Feeds != 2 || got.Items != items+100 {
		t.Errorf("there are %+v, %v; want 2 feeds and %d items", got, err, items+100)
	}
	for n := range 100 {
		first := storage.ItemID(feedID, benchKey(n))
		got, err := s.Items(t.Context(), storage.ItemID(otherID, benchKey(n)), first)
		if err != nil || len(got) != 2 || got[0].DuplicateOf != first {
			t.Fatalf("item %d: %d of 2 are there, %v, or it repeats another than %s", n, len(got), err, first)
		}
	}
}
