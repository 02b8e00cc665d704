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

// These environment variables contain the path of the store that a child process changes until it is killed.
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

// writeForever stores batches and prints the number of each committed batch.
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

func TestKill_LosesNoCommittedBatch(t *testing.T) {
	path := storePath(t)
	s := open(t, path)
	feedID := addFeed(t, s)
	closeStore(t, s)
	// Enough for several checkpoints of the log.
	for _, batches := range []int{1, 40, 150} {
		last := killAfter(t, writerEnv, path, batches, 0)
		s := open(t, path)
		wantBatches(t, s, feedID, last)
		closeStore(t, s)
	}
}

// killAfter starts a child, kills it shortly after it has printed so many numbers, and returns the last
// number.
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
	for lines.Scan() { // including its output before it was killed
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

// wantBatches fails unless all batches up to last are stored completely.
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
