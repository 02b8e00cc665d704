package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestGroupCommit_FailedChangeRollsBackAlone(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feed := storage.Feed{ID: storage.FeedID("https://example.org/"), URL: "https://example.org/"}
	if _, err := s.AddFeeds(t.Context(), feed); err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(t.Context())
	put := func(i int) error {
		ctx, id := t.Context(), feed.ID
		switch i {
		case 3:
			id = "nobody's"
		case 7:
			ctx = leaving
		}
		key := fmt.Sprint(i)
		_, err := s.PutItems(ctx, storage.Batch{FeedID: id, Items: []storage.Item{
			{ID: storage.ItemID(id, key), FeedID: id, Key: key, Hash: key, Published: time.Now(), FirstSeen: time.Now()},
		}})
		return err
	}
	s.writeLock <- struct{}{} // a running write
	var group sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		group.Go(func() { errs[i] = put(i) })
	}
	waiting := func(n int) {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			s.mu.Lock()
			have := len(s.pending)
			s.mu.Unlock()
			if have == n {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("got %d waiting, want %d", have, n)
			}
		}
	}
	waiting(len(errs))
	leave()
	waiting(len(errs) - 1)
	<-s.writeLock
	group.Wait()
	for i, err := range errs {
		want := map[int]error{3: storage.ErrNotFound, 7: context.Canceled}[i]
		if !errors.Is(err, want) {
			t.Errorf("%d: got %v, want %v", i, err, want)
		}
	}
	counts, err := s.CountFeeds(t.Context(), storage.FeedQuery{})
	if err != nil || counts.Items != 8 {
		t.Errorf("got %+v, %v; want 8 items", counts, err)
	}
}

func TestGroupCommit_FailedTransactionFailsAll(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full := errors.New("the disk is full")
	works := []func(*writer) error{
		func(*writer) error { return nil },
		func(w *writer) error { // as SQLite does itself then
			_, err := w.conn.ExecContext(t.Context(), "ROLLBACK")
			return errors.Join(full, err)
		},
		func(*writer) error { return nil },
	}
	var changes []*change
	for _, work := range works {
		changes = append(changes, &change{ctx: t.Context(), operation: "test", work: work, done: make(chan struct{})})
	}
	s.pending = changes
	s.writeLock <- struct{}{}
	s.commitPending()
	<-s.writeLock
	for i, c := range changes {
		if <-c.done; !errors.Is(c.err, full) {
			t.Errorf("%d: got %v, want that nothing was written", i, c.err)
		}
	}
	if _, err := s.NextFence(t.Context(), "after"); err != nil {
		t.Errorf("got %v afterwards", err)
	}
}
