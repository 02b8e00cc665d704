package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage"
)

func TestStore_FullDiskIsReportedAndRecovered(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feed := storage.Feed{ID: "feed", URL: "https://example.org/"}
	if _, err := s.AddFeeds(ctx, feed); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if _, err := s.write.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)); err != nil {
			t.Fatal(err)
		}
	}
	small := storage.Item{ID: "small", Key: "small", Hash: "1"}
	large := storage.Item{ID: "large", Key: "large", Hash: "1", HTML: strings.Repeat("much ", 50_000)}

	limit(20)
	_, err = s.PutItems(ctx, storage.Batch{FeedID: "feed", Items: []storage.Item{small, large}})
	if !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the error is %v, want that the disk is full", err)
	}
	if got, err := s.Feed(ctx, "feed"); err != nil || got.Items != 0 {
		t.Errorf("the feed has %d items, %v; want none", got.Items, err)
	}

	limit(10_000)
	stored, err := s.PutItems(ctx, storage.Batch{FeedID: "feed", Items: []storage.Item{small, large}})
	if err != nil || len(stored.New) != 2 {
		t.Errorf("after space was freed: got %d items stored, %v; want 2", len(stored.New), err)
	}
}

func TestTranslateError_IOErrorHasCause(t *testing.T) {
	dir := t.TempDir()
	if err := translateError(t.Context(), filepath.Join(dir, "store.db"), sqlite3.IOERR_WRITE); err != sqlite3.IOERR_WRITE {
		t.Errorf("where writing works, the error is %v, want it as it was", err)
	}
	gone := filepath.Join(dir, "gone", "store.db")
	err := translateError(t.Context(), gone, sqlite3.IOERR_WRITE)
	if !errors.Is(err, sqlite3.IOERR_WRITE) || !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("where the folder is gone, the error is %v, want it to be %v and %v too", err, fs.ErrNotExist, storage.ErrUnavailable)
	}
}

func TestWriter_SyncsEveryCommit(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "fullfsync": "1"} {
		var got string
		if err := s.write.conn.QueryRowContext(t.Context(), `PRAGMA `+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
		}
	}
}
