package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// These name the store that this process is to change, as a child of a test,
// until it is killed.
const (
	writerEnv     = "FEEDMESH_TEST_SQLITE_WRITER"
	moverEnv      = "FEEDMESH_TEST_SQLITE_MOVER"
	rearrangerEnv = "FEEDMESH_TEST_SQLITE_REARRANGER"
)

func TestMain(m *testing.M) {
	for env, changeForever := range map[string]func(path string) error{
		writerEnv: writeForever, moverEnv: moveForever, rearrangerEnv: rearrangeForever,
	} {
		if path := os.Getenv(env); path != "" {
			fmt.Fprintln(os.Stderr, changeForever(path))
			os.Exit(1)
		}
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
		last := killAfter(t, writerEnv, path, batches, 0)
		s := open(t, path)
		wantBatches(t, s, feedID, last)
		closeStore(t, s)
	}
}

// killAfter starts a child, kills it a moment after it has printed so many
// numbers, and returns the last one.
func killAfter(t *testing.T, env, path string, numbers int, moment time.Duration) (last int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), env+"="+path)
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
		if numbers--; numbers == 0 {
			time.Sleep(moment)
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if child.Wait(); numbers > 0 {
		t.Fatalf("the child ended by itself, %d numbers too early", numbers)
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
