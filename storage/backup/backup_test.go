package backup

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// childEnv names the folder in which a child process makes or opens backups until it is killed.
const childEnv = "FEEDMESH_TEST_BACKUP_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		fmt.Fprintln(os.Stderr, workForever(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const batchSize = 20

var feedID = storage.FeedID("https://example.org/")

// openStore opens the store in dir, with one feed.
func openStore(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"))
	if err == nil {
		_, err = s.AddFeeds(t.Context(), storage.Feed{ID: feedID, URL: "https://example.org/", Title: "Example"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// putBatch stores the n-th batch of items.
func putBatch(ctx context.Context, s storage.Store, n int) error {
	items := make([]storage.Item, batchSize)
	for i := range items {
		key := fmt.Sprintf("%d-%d", n, i)
		at := time.Unix(1_790_000_000+int64(n), 0)
		items[i] = storage.Item{
			ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: "h", Title: key, HTML: strings.Repeat("text ", 300),
			Published: at, FirstSeen: at, Categories: []string{"a", "b"}, EventID: key, StoryID: "s" + key,
		}
	}
	_, err := s.PutItems(ctx, storage.Batch{FeedID: feedID, Items: items})
	return err
}

func sourceIn(dir string) Options {
	return Options{
		Store: Store{File: filepath.Join(dir, "store.db"), Engine: "sqlite"}, Program: "1.2.3", CheckSpace: func() error { return nil },
		Values: func(_ context.Context, put func(string, string, []byte) error) error {
			return errors.Join(put("schedule", "a", []byte("1")), put("schedule", "b", nil), put("schedule", "a", []byte("2")))
		},
	}
}

// storeWith returns a folder with a store of some batches.
func storeWith(t testing.TB, batches int) string {
	t.Helper()
	dir := t.TempDir()
	s := openStore(t, dir)
	for n := range batches {
		if err := putBatch(t.Context(), s, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A backup made while items are stored has whole batches only, all that were committed before it began, and the
// store restored of it works.
func TestCreate_ConsistentWhileItemsAreStored(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	var mu sync.Mutex
	stored := 0
	writer.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if err := putBatch(t.Context(), s, n); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			stored = n + 1
			mu.Unlock()
		}
	})
	committed := func() int {
		mu.Lock()
		defer mu.Unlock()
		return stored
	}
	for round := range 3 {
		for committed() < 30*(round+1) {
			time.Sleep(time.Millisecond)
		}
		before := committed()
		path := filepath.Join(dir, "backup.db")
		info, err := Create(t.Context(), path, sourceIn(dir))
		if err != nil {
			t.Fatal(err)
		}
		after := committed()
		if n := info.Rows["items"]; n%batchSize != 0 || n < int64(before*batchSize) || n > int64((after+1)*batchSize) {
			t.Errorf("the backup has %d items; want whole batches of %d, from %d to %d", n, batchSize, before, after+1)
		}
		if id, _ := s.ID(t.Context()); info.StoreID != id || info.Values != 2 || info.Program != "1.2.3" || time.Since(info.Made) > time.Minute {
			t.Errorf("got %+v, want store %s and 2 values", info, id)
		}
		wantFiles(t, dir, "backup.db", "store.db", "store.db-shm", "store.db-wal")
		if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != 0o600 {
			t.Errorf("got mode %v, %v; want 0600", stat.Mode(), err)
		}
		restoredTo := t.TempDir()
		c, err := Open(t.Context(), path, filepath.Join(restoredTo, "partial"))
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		err = c.Values(t.Context(), func(bucket, key string, value []byte) error { values[bucket+" "+key] = string(value); return nil })
		if err != nil || len(values) != 2 || values["schedule a"] != "2" || values["schedule b"] != "" {
			t.Errorf("got %v, %v", values, err)
		}
		if err := c.MoveTo(t.Context(), filepath.Join(restoredTo, "store.db")); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, restoredTo, "store.db")
		if content, err := os.ReadFile(filepath.Join(restoredTo, "store.db")); err != nil || content[20] != pageChecksum {
			t.Errorf("the pages have no checksums: %v", err)
		}
		restored := openStore(t, restoredTo)
		if f, err := restored.Feed(t.Context(), feedID); err != nil || f.Items != info.Rows["items"] {
			t.Errorf("got %+v, %v; want %d items", f, err, info.Rows["items"])
		}
		if err := putBatch(t.Context(), restored, 1_000_000); err != nil {
			t.Error(err)
		}
		restored.Close()
	}
	stop()
	writer.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has %v, want %v", dir, got, want)
	}
}

// A backup is refused if a single bit differs, if it ends early, or if it is another file.
func TestOpen_RefusesDamage(t *testing.T) {
	dir := storeWith(t, 2)
	path := filepath.Join(dir, "backup.db")
	if _, err := Create(t.Context(), path, sourceIn(dir)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := os.ReadFile(filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		damaged := slices.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		return damaged
	}
	cases := map[string][]byte{
		"empty": {}, "short": whole[:20], "without its last byte": whole[:len(whole)-1], "half": whole[:len(whole)/2],
		"a store": store, "text": []byte(strings.Repeat("no database ", 100)), "longer": append(slices.Clone(whole), 0),
		"bit of the seal": flipped(len(whole) - 1), "bit of the mark": flipped(len(whole) - sealSize),
	}
	for at := 0; at < len(whole); at += len(whole)/20 + 1 {
		cases[fmt.Sprintf("bit at %d", at)] = flipped(at)
	}
	bad := filepath.Join(dir, "bad.db")
	for name, content := range cases {
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want %v", name, err, ErrDamaged)
		}
		if _, err := Open(t.Context(), bad, filepath.Join(dir, "partial")); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want %v", name, err, ErrDamaged)
		}
		if _, err := os.Stat(filepath.Join(dir, "partial")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a working copy remains", name)
		}
	}
}

// A backup of a newer program is refused in words, whether its format or its schema is newer.
func TestOpen_RefusesNewerVersions(t *testing.T) {
	dir := storeWith(t, 1)
	for change, want := range map[string]string{
		`UPDATE backup SET format = 99, program = '9.9'; ALTER TABLE backup DROP COLUMN rows`: "feedmesh 9.9 made the backup in a newer format, 99",
		`PRAGMA user_version = 9999`: "this program supports only",
	} {
		path := filepath.Join(dir, "backup.db")
		if _, err := Create(t.Context(), path, sourceIn(dir)); err != nil {
			t.Fatal(err)
		}
		stat, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, stat.Size()-int64(sealSize))
		}
		if err == nil {
			err = withFile(t.Context(), path, func(conn *sql.Conn) error {
				_, err := conn.ExecContext(t.Context(), change)
				return err
			})
		}
		if err == nil {
			err = seal(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, filepath.Join(dir, "partial")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A damaged store is not copied to a backup that would replace a good one.
func TestCreate_RefusesDamagedStore(t *testing.T) {
	dir := storeWith(t, 40)
	store := filepath.Join(dir, "store.db")
	content, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content)/2+8192; i++ {
		content[i] = 0xAA
	}
	if err := os.WriteFile(store, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), filepath.Join(dir, "backup.db"), sourceIn(dir)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v, want that the store is damaged", err)
	}
	wantFiles(t, dir, "store.db")
}

// If the space for a backup runs out, or it is canceled, no file of it remains.
func TestCreate_FullDiskLeavesNoFile(t *testing.T) {
	dir := storeWith(t, 400) // 16 MB
	for _, checks := range []int{1, 2} {
		o := sourceIn(dir)
		o.CheckSpace = func() error {
			if checks--; checks < 0 {
				return fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
			}
			return nil
		}
		if _, err := Create(t.Context(), filepath.Join(dir, "backup.db"), o); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v, want %v", err, syscall.ENOSPC)
		}
		wantFiles(t, dir, "store.db")
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := sourceIn(dir)
	o.CheckSpace = func() error { cancel(); return nil }
	if _, err := Create(ctx, filepath.Join(dir, "backup.db"), o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	wantFiles(t, dir, "store.db")
}

// workForever makes and restores backups of the store in dir and prints a line for each.
func workForever(dir string) error {
	ctx := context.Background()
	for n := 0; ; n++ {
		if _, err := Create(ctx, filepath.Join(dir, "made.partial"), sourceIn(dir)); err != nil {
			return err
		}
		if err := Commit(filepath.Join(dir, "made.partial"), filepath.Join(dir, "made.db")); err != nil {
			return err
		}
		c, err := Open(ctx, filepath.Join(dir, "made.db"), filepath.Join(dir, "restored.partial"))
		if err != nil {
			return err
		}
		if err := c.MoveTo(ctx, filepath.Join(dir, "restored.db")); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Whenever a process is killed, the backup and the restored store of their final names are whole, and the next
// backup replaces what it left.
func TestKill_FinalNamesAreWhole(t *testing.T) {
	dir := storeWith(t, 20)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		bufio.NewScanner(out).Scan() // the first is done
		time.Sleep(time.Duration(round) * 13 * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		child.Wait()
		if info, err := Verify(t.Context(), filepath.Join(dir, "made.db")); err != nil || info.Rows["items"] != 20*batchSize {
			t.Errorf("round %d: got %+v, %v", round, info, err)
		}
		s, err := sqlite.Open(t.Context(), filepath.Join(dir, "restored.db"))
		if err != nil {
			t.Fatal(err)
		}
		if f, err := s.Feed(t.Context(), feedID); err != nil || f.Items != 20*batchSize {
			t.Errorf("round %d: got %+v, %v", round, f, err)
		}
		s.Close()
	}
}
