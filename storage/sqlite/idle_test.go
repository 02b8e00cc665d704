package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"feedmesh/storage"
)

func TestWriter_ClosesWhenIdle(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{"https://example.org/1", "https://example.org/2", "https://example.org/3"}
	for i, url := range urls {
		if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(url), URL: url}); err != nil {
			t.Fatalf("after %d rests: %v", i, err)
		}
		var synced int
		if err := s.write.conn.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&synced); err != nil || synced != 2 {
			t.Errorf("after %d rests synchronous is %d, %v; want 2, which is full", i, synced, err)
		}
		s.closeIdleWriter()
		if open := s.writers.Stats().OpenConnections; open != 0 {
			t.Errorf("while the writer rests %d of its connections are open", open)
		}
	}
	s.closeIdleWriter() // a second time does nothing
	if counts, err := s.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || counts.Feeds != int64(len(urls)) {
		t.Errorf("there are %d feeds, %v; want %d", counts.Feeds, err, len(urls))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s.closeIdleWriter() // the timer may fire late
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: "x", URL: "https://example.org/x"}); err == nil {
		t.Error("a closed store accepted a feed")
	}
}

// When all connections are closed the log is deleted. The next read creates an empty one, which is no damage.
func TestLog_AnewAfterAllConnectionsClosed(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const url = "https://example.org/1"
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(url), URL: url}); err != nil {
		t.Fatal(err)
	}
	s.closeIdleWriter()
	s.readers.SetMaxIdleConns(0)
	s.readers.SetMaxIdleConns(1)
	if counts, err := s.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || counts.Feeds != 1 {
		t.Fatalf("got %d feeds, %v; want 1", counts.Feeds, err)
	}
	if info, err := os.Stat(s.path + "-wal"); err != nil || info.Size() != 0 {
		t.Fatalf("got the log %v, %v; want an empty one", info, err)
	}
	if err := s.verifyLog(); err != nil {
		t.Error(err)
	}
}

func TestWriter_IdleCloseLosesNothing(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const callers, each = 4, 10
	var group errgroup.Group
	for caller := range callers {
		group.Go(func() error {
			for i := range each {
				url := fmt.Sprintf("https://example.org/%d/%d", caller, i)
				if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(url), URL: url}); err != nil {
					return err
				}
				s.closeIdleWriter()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if counts, err := s.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || counts.Feeds != callers*each {
		t.Errorf("there are %d feeds, %v; want %d", counts.Feeds, err, callers*each)
	}
}
