package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// addFeedsTo adds n feeds and returns their IDs.
func addFeedsTo(t testing.TB, s *Store, n int) (ids []string) {
	t.Helper()
	for i := range n {
		id := storage.FeedID(benchURL(i))
		if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: id, URL: benchURL(i)}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// joiningItem returns an item of the feed that joins the event of another item.
func joiningItem(feedID string, first storage.Item) storage.Item {
	item := benchItem(feedID, 0)
	item.EventID, item.StoryID = first.EventID, first.StoryID
	return item
}

// beginPut stores items of a new feed and leaves the transaction open.
func beginPut(t *testing.T, s *Store, item storage.Item) pgx.Tx {
	t.Helper()
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(context.Background()) })
	if _, err := put(t.Context(), tx, storage.Batch{FeedID: item.FeedID, Items: []storage.Item{item}}); err != nil {
		t.Fatal(err)
	}
	return tx
}

// dirtyStoriesOf returns the stories with due dirty records, and those with any.
func dirtyStoriesOf(t *testing.T, s *Store) (due, all []string) {
	t.Helper()
	dirty, err := s.DirtyStories(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range dirty {
		due = append(due, mark.StoryID)
	}
	all, err = read(t.Context(), s.engine, "read marks", pgx.RowTo[string], `SELECT story_id FROM untold ORDER BY mark`)
	if err != nil {
		t.Fatal(err)
	}
	return due, all
}

// Neither transaction sees the item of the other, so each item seems to be alone in its story.
func TestDirtyStories_ConcurrentItemsOfOneStory(t *testing.T) {
	for _, name := range []string{"the first is stored first", "the first is stored last"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, emptySchema(t))
			feeds := addFeedsTo(t, s, 2)
			first := benchItem(feeds[0], 0)
			order := []pgx.Tx{beginPut(t, s, first), beginPut(t, s, joiningItem(feeds[1], first))}
			if name == "the first is stored last" {
				slices.Reverse(order)
			}
			for _, tx := range order {
				if err := tx.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			due, all := dirtyStoriesOf(t, s)
			if len(due) != 0 || !slices.Equal(all, []string{first.StoryID, first.StoryID}) {
				t.Errorf("%v are due, and %v marked; want the story marked for soon, and for later", due, all)
			}
			for n, later := range []string{"5 seconds", "3 minutes"} {
				if _, err := s.pool.Exec(t.Context(), `UPDATE untold SET due = due - $1::interval`, later); err != nil {
					t.Fatal(err)
				}
				if due, _ = dirtyStoriesOf(t, s); !slices.Equal(due, all[:n+1]) {
					t.Errorf("%s later %v are due, want %v", later, due, all[:n+1])
				}
			}
		})
	}
}

// The other item is committed between two statements of the transaction that stores the item that joins.
func TestDirtyStories_ItemOfTheStoryIsStoredMeanwhile(t *testing.T) {
	ctx, s := t.Context(), open(t, emptySchema(t))
	feeds := addFeedsTo(t, s, 2)
	first := benchItem(feeds[0], 0)
	joining := joiningItem(feeds[1], first)
	_, err := s.pool.Exec(ctx, `
		CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END';
		CREATE TRIGGER pause AFTER UPDATE ON feeds FOR EACH ROW WHEN (NEW.id = '`+feeds[1]+`') EXECUTE FUNCTION pause()`)
	if err != nil {
		t.Fatal(err)
	}
	blocker, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer blocker.Rollback(ctx)
	if _, err := blocker.Exec(ctx, `SELECT pg_advisory_xact_lock(42)`); err != nil {
		t.Fatal(err)
	}
	stored := make(chan error, 1)
	go func() {
		_, err := s.PutItems(ctx, storage.Batch{FeedID: feeds[1], Items: []storage.Item{joining}})
		stored <- err
	}()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		if err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.PutItems(ctx, storage.Batch{FeedID: feeds[0], Items: []storage.Item{first}}); err != nil {
		t.Fatal(err)
	}
	if err := blocker.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	if _, all := dirtyStoriesOf(t, s); !slices.Contains(all, first.StoryID) {
		t.Errorf("%v are marked; want the story of both items", all)
	}
}

// A transaction that changes a single item does not see that another item joins its story.
func TestDirtyStories_NewStoryIsRecordedTwice(t *testing.T) {
	s := open(t, emptySchema(t))
	feeds := addFeedsTo(t, s, 3)
	first := benchItem(feeds[0], 0)
	for i, want := range []struct{ due, all int }{{0, 0}, {1, 2}, {2, 3}} {
		item := first
		if i > 0 {
			item = joiningItem(feeds[i], first)
		}
		if _, err := s.PutItems(t.Context(), storage.Batch{FeedID: feeds[i], Items: []storage.Item{item}}); err != nil {
			t.Fatal(err)
		}
		if due, all := dirtyStoriesOf(t, s); len(due) != want.due || len(all) != want.all {
			t.Errorf("after %d items %d marks are due of %d, want %d of %d", i+1, len(due), len(all), want.due, want.all)
		}
	}
}

func TestRearrange_WaitsForRunningPutItems(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	feedID := addFeed(t, s)
	fence, err := s.NextFence(ctx, "cluster-en")
	if err != nil {
		t.Fatal(err)
	}
	move := storage.Rearrangement{Fence: fence, Events: []storage.EventMove{{EventID: benchItem(feedID, 0).EventID, StoryID: "moved"}}}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	b := benchBatch(feedID, 0, 1)
	b.Fence = fence
	if _, err := put(ctx, tx, b); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := s.Rearrange(short, move); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("rearrange: %v, want it to wait", err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if changed, err := s.Rearrange(ctx, move); err != nil || len(changed) != 1 {
		t.Errorf("it moved %v, %v; want the item", changed, err)
	}
}

// Rearrange needs the fence exclusively, while at any time some writer holds it shared.
func TestRearrange_IsNotStarvedByWriters(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	feeds := addFeedsTo(t, s, 6)
	fence, err := s.NextFence(ctx, "cluster-en")
	if err != nil {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(ctx)
	var busy sync.WaitGroup
	for _, feedID := range feeds {
		busy.Go(func() {
			for n := 0; working.Err() == nil; n += 5 {
				b := benchBatch(feedID, n, 5)
				b.Fence = fence
				if n%100 == 0 {
					b.Items[0].EventID, b.Items[0].StoryID = "event", "story"
				}
				if _, err := s.PutItems(ctx, b); err != nil {
					t.Errorf("put: %v", err)
					return
				}
			}
		})
	}
	var longest time.Duration
	last := ""
	for round := range 20 {
		begin := time.Now()
		last = fmt.Sprint("story-", round)
		if _, err := s.Rearrange(ctx, storage.Rearrangement{Fence: fence, Events: []storage.EventMove{{EventID: "event", StoryID: last}}}); err != nil {
			t.Errorf("rearrange: %v", err)
		}
		longest = max(longest, time.Since(begin))
	}
	stop()
	busy.Wait()
	t.Logf("the longest of 20 took %v", longest)
	if longest > 5*time.Second {
		t.Errorf("a rearrangement took %v, want it not starved by writers", longest)
	}
	there, err := read(ctx, s.engine, "count", pgx.RowTo[int], `SELECT count(*) FROM items WHERE event_id = 'event'`)
	if err != nil {
		t.Fatal(err)
	}
	if story, err := storage.ItemsOfStory(ctx, s, last, 1); err != nil || story.Count != there[0] {
		t.Errorf("got %d items in the story, %v; want all %d of the event", story.Count, err, there[0])
	}
}

// Feeds are moved and removed while their items are rearranged.
func TestRearrange_DuringMoveFeedSucceeds(t *testing.T) {
	s := open(t, emptySchema(t))
	disturbWriters(t, s, func(feeds []storage.Feed, n, round int) error {
		r := storage.Rearrangement{}
		for i := range 30 {
			first := benchItem(feeds[i%2].ID, i)
			r.Events = append(r.Events, storage.EventMove{EventID: first.EventID, StoryID: fmt.Sprint("story-", n)})
			r.Items = append(r.Items, storage.Placement{ItemID: benchItem(feeds[(n+i)%4].ID, i).ID, StoryID: "placed"})
		}
		if _, err := s.Rearrange(t.Context(), r); err != nil {
			return err
		}
		if n == 0 {
			_, err := s.MoveFeed(t.Context(), feeds[round%4].ID, feeds[(round+1)%4].URL)
			return err
		}
		return nil
	})
}

func TestRearrange_MovesExpire(t *testing.T) {
	ctx := t.Context()
	url := emptySchema(t)
	s := open(t, url)
	move := func(id string) {
		t.Helper()
		if _, err := s.Rearrange(ctx, storage.Rearrangement{Events: []storage.EventMove{{EventID: id, StoryID: "story"}}}); err != nil {
			t.Fatal(err)
		}
	}
	move("old")
	exec(t, url, `UPDATE moved_events SET at = at - interval '29 days'`)
	move("new")
	if n := scan[int](t, url, `SELECT count(*) FROM moved_events`); n != 2 {
		t.Errorf("after 29 days there are %d moves, want 2", n)
	}
	exec(t, url, `UPDATE moved_events SET at = at - interval '1 day 1 minute' WHERE event_id = 'old'`)
	move("new")
	if id := scan[string](t, url, `SELECT string_agg(event_id, ' ') FROM moved_events`); id != "new" {
		t.Errorf("got moves of %s after 30 days, want the new one", id)
	}
}

// A store of the schema version before stories, which an older program continues to write.
func TestMigrate_MarksExistingStoriesDirty(t *testing.T) {
	ctx := t.Context()
	url := emptySchema(t)
	if err := migrate(ctx, connect(t, url), realSteps(t, 4)); err != nil {
		t.Fatal(err)
	}
	insert := func(id, event, story string) {
		t.Helper()
		exec(t, url, fmt.Sprintf(`INSERT INTO items (feed, changed, id, key, hash, revision, first_seen, published, assumed, url, title, author,
				language, spam, lane, text_hash, event_id, story_id, duplicate_of, duplicate_by, excerpt, html)
			VALUES (1, now(), '%s', '', 'hash', 1, now(), now(), '', '', '', '', '', false, '', '', '%s', '%s', '', '', '', '')
			ON CONFLICT (id) DO UPDATE SET event_id = excluded.event_id, story_id = excluded.story_id`, id, event, story))
	}
	exec(t, url, fmt.Sprintf(`INSERT INTO feeds (id, url, title, site, language, added, items) VALUES ('%s', '%s', '', '', '', now(), 1)`,
		storage.FeedID(benchURL(0)), benchURL(0)))
	insert("a1", "a", "a")
	insert("a2", "a", "a")
	insert("b1", "b", "b")
	insert("c1", "", "")
	insert("c2", "", "")
	s := open(t, url)
	want := func(want ...string) {
		t.Helper()
		dirty, err := s.DirtyStories(ctx, 100)
		if err != nil {
			t.Fatal(err)
		}
		got := column(dirty, func(u storage.DirtyStory) string { return u.StoryID })
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%v are marked, want %v", got, want)
		}
		if err := s.PutStories(ctx, storage.Fence{}, dirty, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	want("a")
	insert("b2", "b", "b")
	insert("a2", "a", "d")
	want("a", "b")
	if changed, err := s.Rearrange(ctx, storage.Rearrangement{Events: []storage.EventMove{{EventID: "b", StoryID: "a"}}}); err != nil || len(changed) != 2 {
		t.Errorf("it moved %v, %v; want two items", changed, err)
	}
	want("a", "b")
	if item, err := storage.ItemByID(ctx, s, "b1"); err != nil || item.StoryID != "a" || item.StoryReason != "" || item.Clicks != 0 || item.DuplicateScore != 0 {
		t.Errorf("the item is %+v, %v", item, err)
	}
}
