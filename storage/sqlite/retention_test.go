package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

// manyItems stores n items of one feed with the given text, and returns their IDs.
func manyItems(t *testing.T, s *Store, n int, html string) (feedID string, ids []string) {
	t.Helper()
	const url = "https://example.org/"
	feedID = storage.FeedID(url)
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: feedID, URL: url, Added: time.Now()}); err != nil {
		t.Fatal(err)
	}
	var items []storage.Item
	for i := range n {
		key := fmt.Sprint("key-", i)
		items = append(items, storage.Item{ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: "h", HTML: html, Partition: "en", FirstSeen: time.Now(), Published: time.Now()})
		ids = append(ids, items[i].ID)
	}
	if _, err := s.PutItems(t.Context(), storage.Batch{FeedID: feedID, Items: items}); err != nil {
		t.Fatal(err)
	}
	return feedID, ids
}

func TestReleaseSpace_ShrinksTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, ids := manyItems(t, s, 4000, strings.Repeat("text ", 400))
	if _, err := s.PurgeItems(t.Context(), storage.Fence{}, ids[:3000]...); err != nil {
		t.Fatal(err)
	}
	checkpoint := func() int64 {
		if err := s.Close(); err != nil { // the last close writes the log into the file
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	full := checkpoint()
	steps := 0
	for rest := int64(1); rest > 0; steps++ {
		if rest, err = s.ReleaseSpace(t.Context(), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if now := checkpoint(); now > full/2 || steps < 3 {
		t.Errorf("the file shrank from %d to %d bytes in %d steps; want less than half, in several steps", full, now, steps)
	}
	if got, err := s.Items(t.Context(), ids...); err != nil || len(got) != 1000 {
		t.Errorf("%d items are stored, %v; want 1000", len(got), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestPurgedKeys_AreForgottenWhenNoLongerListed(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feedID, ids := manyItems(t, s, 4, "")
	if _, err := s.PurgeItems(t.Context(), storage.Fence{}, ids[:3]...); err != nil {
		t.Fatal(err)
	}
	// setAge makes the keys look as if a document had last listed them d ago.
	setAge := func(d time.Duration, keys ...string) {
		for _, key := range keys {
			err := s.transaction(t.Context(), "test", func(w *writer) error {
				_, err := w.exec(t.Context(), `UPDATE purged SET listed = ? WHERE key = ?`, micros(storage.Day(time.Now().Add(-d))), storage.KeyNumber(key))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	purged := func(keys ...string) int {
		hashes, err := s.ItemHashes(t.Context(), feedID, keys)
		if err != nil {
			t.Fatal(err)
		}
		return len(hashes)
	}
	setAge(storage.PurgedKeysKept+48*time.Hour, "key-0", "key-1", "key-2")
	if n := purged("key-0"); n != 1 { // a document lists it: this is noted
		t.Fatalf("%d keys are known, want 1", n)
	}
	if _, err := s.PurgeItems(t.Context(), storage.Fence{}, ids[3]); err != nil {
		t.Fatal(err)
	}
	if n := purged("key-0", "key-1", "key-2", "key-3"); n != 2 {
		t.Errorf("%d keys are known after the others were not listed for long, want 2", n)
	}
}

func TestPurge_ForgetsEventsWithoutItems(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feedID, _ := manyItems(t, s, 1, "")
	var ids []string
	var items []storage.Item
	for i := range 3 {
		key := fmt.Sprint("event-", i)
		ids = append(ids, storage.ItemID(feedID, key))
		items = append(items, storage.Item{ID: ids[i], FeedID: feedID, Key: key, Hash: "h", EventID: fmt.Sprint("event-", i/2), StoryID: "story", FirstSeen: time.Now(), Published: time.Now()})
	}
	if _, err := s.PutItems(t.Context(), storage.Batch{FeedID: feedID, Items: items}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 1, 0} {
		if _, err := s.PurgeItems(t.Context(), storage.Fence{}, ids[i]); err != nil {
			t.Fatal(err)
		}
		var got int
		if err := s.readers.QueryRowContext(t.Context(), `SELECT count(*) FROM event_stories`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("after %d items are purged, %d events are stored, want %d", i+1, got, want)
		}
	}
}

func TestExpiredByAge_ReadsTheIndexInOrder(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	plan := s.plan(t, expiredByAge, 1, 0, nil, "[]", "", 10)
	for _, want := range []string{"SEARCH i USING INDEX items_by_arrival (first_seen>? AND first_seen<?)", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY", "SEARCH marks USING INDEX marks_by_item", "items_by_first"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan lacks %q:\n%s", want, plan)
		}
	}
}

func TestOpen_LetsSmallFileOfOlderVersionShrink(t *testing.T) {
	t.Parallel()
	path := damagedCopy(t, damageSample(t, false, false), "", 0)
	for _, want := range []int{0, incremental} {
		db, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		if want == 0 {
			if _, err := db.ExecContext(t.Context(), `PRAGMA auto_vacuum = NONE; VACUUM`); err != nil {
				t.Fatal(err)
			}
		}
		var mode int
		if err := db.QueryRowContext(t.Context(), `PRAGMA auto_vacuum`).Scan(&mode); err != nil || mode != want {
			t.Errorf("auto_vacuum is %d, %v; want %d", mode, err, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
