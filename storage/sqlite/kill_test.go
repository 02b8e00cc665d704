package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// writerEnv names the store that this process is to write to, as a child of
// TestKilledWriterLosesNoCommittedBatch, until it is killed.
const writerEnv = "FEEDMESH_TEST_SQLITE_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		fmt.Fprintln(os.Stderr, writeForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever stores batch after batch and prints the number of each one when
// the store has answered for it.
func writeForever(path string) error {
	s, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return err
	}
	feedID := storage.FeedID("https://example.org/")
	feed, err := s.Feed(context.Background(), feedID)
	if err != nil {
		return err
	}
	for n := int(feed.Items) / batchSize; ; n++ {
		if _, err := s.PutItems(context.Background(), batch(feedID, n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestKilledWriterLosesNoCommittedBatch(t *testing.T) {
	path := storePath(t)
	s := open(t, path)
	feedID := addFeed(t, s)
	closeStore(t, s)
	// Enough for the log to be put back into the file several times.
	for _, batches := range []int{1, 40, 150} {
		last := killWriterAfter(t, path, batches)
		s := open(t, path)
		wantBatches(t, s, feedID, last)
		closeStore(t, s)
	}
}

// killWriterAfter starts a writer, kills it after so many batches, and returns
// the number of the last one that it printed.
func killWriterAfter(t *testing.T, path string, batches int) (last int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), writerEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() { // also what it printed before it died
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if batches--; batches == 0 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if child.Wait(); batches > 0 {
		t.Fatalf("the writer ended by itself, %d batches too early", batches)
	}
	return last
}

// wantBatches fails unless all batches up to last are there, and each whole.
func wantBatches(t *testing.T, s *sqlite.Store, feedID string, last int) {
	t.Helper()
	for n := range last + 1 {
		b := batch(feedID, n)
		ids := make([]string, batchSize)
		for i, item := range b.Items {
			ids[i] = item.ID
		}
		items, err := s.Items(t.Context(), ids...)
		if err != nil || len(items) != batchSize {
			t.Fatalf("batch %d of %d has %d items, %v; want %d", n, last, len(items), err, batchSize)
		}
	}
	feed, err := s.Feed(t.Context(), feedID)
	if err != nil {
		t.Fatal(err)
	}
	days, err := s.Days(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all int64
	for _, n := range days {
		all += n
	}
	if all%batchSize != 0 || feed.Items != all {
		t.Errorf("there are %d items and the feed counts %d; want whole batches of %d", all, feed.Items, batchSize)
	}
}
