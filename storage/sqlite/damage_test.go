package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"

	"feedmesh/storage"
)

// damageSeeds is the number of files that a test damages.
func damageSeeds() int {
	if testing.Short() {
		return 10
	}
	return 100
}

const (
	damageFeed    = "feed"
	damageBatches = 20 // of damageItems items each
	damageItems   = 20
)

func damageItem(n int) storage.Item {
	id := fmt.Sprintf("item%04d", n)
	return storage.Item{
		ID: id, FeedID: damageFeed, Key: id, Hash: id, Title: "title of " + id, HTML: strings.Repeat("text of "+id+" ", 20+n%50),
		FirstSeen: time.Unix(1e9+int64(n), 0).UTC(), Published: time.Unix(1e9, 0).UTC(),
	}
}

func putDamageBatch(t *testing.T, s *Store, n int) error {
	b := storage.Batch{FeedID: damageFeed}
	for i := range damageItems {
		b.Items = append(b.Items, damageItem(n*damageItems+i))
	}
	_, err := s.PutItems(t.Context(), b)
	return err
}

// damageSample returns the files of a store with items: its file, and its log as a crash leaves it if inLog is set.
func damageSample(t *testing.T, checksums, inLog bool) map[string][]byte {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: damageFeed, URL: "https://example.org/"}); err != nil {
		t.Fatal(err)
	}
	for n := range damageBatches {
		if n == damageBatches/2 || n == 0 {
			if err := s.checkpoint(t.Context()); err != nil { // the log starts anew
				t.Fatal(err)
			}
		}
		if err := putDamageBatch(t, s, n); err != nil {
			t.Fatal(err)
		}
	}
	if !inLog {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !checksums {
		other := filepath.Join(t.TempDir(), "store.db")
		copyWithoutChecksums(t, path, other)
		path = other
	}
	files := map[string][]byte{}
	for _, name := range []string{"store.db", "store.db-wal"} {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		files[name] = content
	}
	return files
}

// copyWithoutChecksums writes a closed store to another file as an older version did.
func copyWithoutChecksums(t testing.TB, from, to string) {
	db, err := driver.Open(to, registerFunctions)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(statement string, args ...any) {
		if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(statement, err)
		}
	}
	run(`PRAGMA page_size = 4096`)
	if err := migrate(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	run(`ATTACH ? AS other`, from)
	list := &statements{on: conn}
	defer list.close() // else the log remains
	tables, err := collect(t.Context(), list, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`, scanText)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		run(`DELETE FROM ` + table)
		run(`INSERT INTO ` + table + ` SELECT * FROM other.` + table)
	}
	run(`DETACH other`)
}

// damagedCopy writes the files with up to 40 inverted bits in one of them, and returns the path of the store.
func damagedCopy(t *testing.T, files map[string][]byte, name string, seed int) string {
	r, dir := rand.New(rand.NewPCG(uint64(seed), 1)), t.TempDir()
	for other, content := range files {
		if len(content) == 0 {
			continue
		}
		if other == name {
			content = slices.Clone(content)
			for range 1 + r.IntN(40) {
				content[r.IntN(len(content))] ^= 1 << r.IntN(8)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, other), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "store.db")
}

// readDamaged reads all items. It returns how many are right and the first error other than a missing item.
func readDamaged(ctx context.Context, s *Store) (right int, err error) {
	for n := range damageBatches * damageItems {
		want := damageItem(n)
		got, err := storage.ItemByID(ctx, s, want.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			continue
		case err != nil:
			return right, err
		case got.Title != want.Title || got.HTML != want.HTML || got.Key != want.Key || !got.FirstSeen.Equal(want.FirstSeen):
			return right, fmt.Errorf("WRONG: item %s has title %q and text %.100q", want.ID, got.Title, got.HTML)
		}
		right++
	}
	return right, nil
}

// wantDamaged checks that the error is damage with a remedy.
func wantDamaged(t *testing.T, seed int, err error) {
	t.Helper()
	if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), "agent restore") {
		t.Errorf("seed %d: the error is %v, want damage and a remedy", seed, err)
	}
}

func logOutcomes(t *testing.T, counts map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[name], name)
	}
}

func TestDamage_StoreIsRefusedOrReported(t *testing.T) {
	files, counts := damageSample(t, true, false), map[string]int{}
	for seed := range damageSeeds() {
		path := damagedCopy(t, files, "store.db", seed)
		s, err := Open(t.Context(), path)
		if err != nil {
			wantDamaged(t, seed, err)
			counts["refused at the start"]++
			continue
		}
		right, err := readDamaged(t.Context(), s)
		switch {
		case err != nil:
			counts["reported by a read"]++
			wantDamaged(t, seed, err)
		case right < damageBatches*damageItems:
			t.Errorf("seed %d: %d items are missing without an error", seed, damageBatches*damageItems-right)
		default:
			counts["reported by the scan"]++
		}
		s.Scan()
		_, err = s.ID(t.Context())
		wantDamaged(t, seed, err)
		wantDamaged(t, seed, putDamageBatch(t, s, damageBatches))
		s.Close()
	}
	logOutcomes(t, counts)
}

// A file of an older version has no checksums: damage of its structure is reported, that of texts is not.
func TestDamage_StoreWithoutChecksums(t *testing.T) {
	files, counts := damageSample(t, false, false), map[string]int{}
	for seed := range damageSeeds() {
		path := damagedCopy(t, files, "store.db", seed)
		s, err := Open(t.Context(), path)
		if err != nil {
			counts["refused at the start"]++
			continue
		}
		right, err := readDamaged(t.Context(), s)
		s.Scan()
		_, failed := s.ID(t.Context())
		switch {
		case failed != nil:
			wantDamaged(t, seed, failed)
			counts["reported"]++
		case err != nil && !strings.Contains(err.Error(), "WRONG"):
			t.Errorf("seed %d: the error %v is not reported", seed, err)
		case err != nil || right < damageBatches*damageItems:
			counts["not found"]++
		default:
			counts["unaffected"]++
		}
		s.Close()
	}
	logOutcomes(t, counts)
}

func TestOpen_AddsChecksumsToSmallFile(t *testing.T) {
	path := damagedCopy(t, damageSample(t, false, false), "", 0)
	for _, want := range []int{0, checksumSize} {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, reserved, err := pageFormat(file); err != nil || reserved != want {
			t.Errorf("pages reserve %d bytes, %v; want %d", reserved, err, want)
		}
		file.Close()
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if right, err := readDamaged(t.Context(), s); err != nil || right != damageBatches*damageItems {
			t.Errorf("%d items, %v; want all", right, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// SQLite drops the end of a damaged log: the store goes back to an older state, with nothing wrong in it. The schedule
// notices this by the number of writes of the feed.
func TestDamage_LogGoesBack(t *testing.T) {
	files, counts := damageSample(t, true, true), map[string]int{}
	for seed := range damageSeeds() {
		s, err := Open(t.Context(), damagedCopy(t, files, "store.db-wal", seed))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		feed, err := s.Feed(t.Context(), damageFeed)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		right, err := readDamaged(t.Context(), s)
		if err != nil || right%damageItems != 0 || int64(right) != feed.Items || int(feed.Writes) != right/damageItems {
			t.Errorf("seed %d: %d items, %v; the feed has %d after %d writes", seed, right, err, feed.Items, feed.Writes)
		}
		if right < damageBatches*damageItems {
			counts["went back"]++
		} else {
			counts["unaffected"]++
		}
		again := storage.Batch{FeedID: damageFeed}
		for n := range damageBatches * damageItems {
			again.Items = append(again.Items, damageItem(n))
		}
		if _, err := s.PutItems(t.Context(), again); err != nil {
			t.Errorf("seed %d: put again: %v", seed, err)
		}
		if right, err := readDamaged(t.Context(), s); err != nil || right != damageBatches*damageItems {
			t.Errorf("seed %d: %d items after they were put again, %v", seed, right, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	logOutcomes(t, counts)
}

// SQLite reads and checkpoints damaged pages of a log in use. The store reports them, and the next start goes back.
func TestDamage_LogInUse(t *testing.T) {
	files, counts := damageSample(t, true, true), map[string]int{}
	for seed := range damageSeeds() {
		path := damagedCopy(t, files, "", seed)
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := putDamageBatch(t, s, damageBatches); err != nil {
			t.Fatal(err)
		}
		damageInPlace(t, path+"-wal", logHeaderSize+s.log.Load().pages*(frameHeaderSize+4096), seed)
		right, err := readDamaged(t.Context(), s)
		switch {
		case err != nil && strings.Contains(err.Error(), "WRONG"):
			counts["wrong texts were read before the log was verified"]++
		case err != nil:
			counts["errors before the log was verified"]++
		case right < damageBatches*damageItems:
			counts["items were missing before the log was verified"]++
		default:
			counts["right before the log was verified"]++
		}
		if seed%2 == 0 {
			s.checkpointPages = 1 // the next commit finds it
			if err := putDamageBatch(t, s, damageBatches+1); !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("seed %d: a commit before a checkpoint returns %v, want damage", seed, err)
			}
		} else if s.verifyLog() == nil {
			t.Errorf("seed %d: no damage found", seed)
		}
		if _, err := s.ID(t.Context()); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("seed %d: the ID is %v, want damage", seed, err)
		}
		if err := putDamageBatch(t, s, damageBatches+2); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("seed %d: a write returns %v, want damage", seed, err)
		}
		s.Close()
		if s, err = Open(t.Context(), path); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		feed, err := s.Feed(t.Context(), damageFeed)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if right, err := readDamaged(t.Context(), s); err != nil || right < damageBatches/2*damageItems || int64(right) != feed.Items || int(feed.Writes) != right/damageItems {
			t.Errorf("seed %d: after a restart %d items, %v; the feed has %d after %d writes", seed, right, err, feed.Items, feed.Writes)
		}
		if err := s.Close(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	logOutcomes(t, counts)
}

// The log of an idle store is not read at each interval, but whenever its file was written, and at times.
func TestDamage_LogAtRest(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := storage.Notes(s).Put(t.Context(), storage.Fence{}, "note", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := s.scanLogOnce(); err != nil || s.verified.logEnd != *s.log.Load() {
		t.Fatalf("got %v, verified %+v; want the log of the commit verified", err, s.verified)
	}
	path := s.path + "-wal"
	damageInPlace(t, path, logHeaderSize+s.log.Load().pages*(frameHeaderSize+4096), 1)
	if err := os.Chtimes(path, s.verified.written, s.verified.written); err != nil {
		t.Fatal(err)
	}
	if err := s.scanLogOnce(); err != nil {
		t.Errorf("got %v; want a file that was not written not read again", err)
	}
	last := s.verified
	s.verified.was = last.was.Add(-restingLogInterval)
	if err := s.scanLogOnce(); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("after the interval of a log at rest: got %v, want damage", err)
	}
	s.verified = last
	if err := os.Chtimes(path, last.written, last.written.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := s.scanLogOnce(); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("after a write of the file: got %v, want damage", err)
	}
}

// damageInPlace inverts up to 40 bits in the first bytes of a file in use.
func damageInPlace(t *testing.T, path string, size, seed int) {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	for range 1 + r.IntN(40) {
		at := r.IntN(size)
		content[at] ^= 1 << r.IntN(8)
		if _, err := file.WriteAt(content[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScan_FindsNoDamageDuringWrites(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: damageFeed, URL: "https://example.org/"}); err != nil {
		t.Fatal(err)
	}
	s.checkpointPages = 10
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 3 * damageBatches {
			if err := putDamageBatch(t, s, n); err != nil {
				t.Error(err)
			}
		}
	}()
	for scans := 0; ; scans++ {
		s.Scan()
		if _, err := s.ID(t.Context()); err != nil {
			t.Fatalf("scan %d: %v", scans, err)
		}
		select {
		case <-done:
			if scans == 0 {
				t.Error("no scan during the writes")
			}
			return
		default:
		}
	}
}

// Scan scans the file as at the start, without waiting between pages.
func (e *engine) Scan() {
	if err := e.scan(1 << 50); errors.Is(err, storage.ErrDamaged) {
		e.damage.CompareAndSwap(nil, &err)
	}
}

// BenchmarkChecksums compares files with and without checksums.
func BenchmarkChecksums(b *testing.B) {
	const items = 150_000 // of more than maxRewrite
	with, without := filepath.Join(b.TempDir(), "store.db"), filepath.Join(b.TempDir(), "store.db")
	put := func(b *testing.B, s *Store, from int) {
		batch := storage.Batch{FeedID: damageFeed}
		for n := from; n < from+200; n++ {
			item := damageItem(n)
			item.ID = storage.ItemID(damageFeed, item.Key) // in random order
			batch.Items = append(batch.Items, item)
		}
		if _, err := s.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	s, err := Open(b.Context(), with)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.AddFeeds(b.Context(), storage.Feed{ID: damageFeed, URL: "https://example.org/"}); err != nil {
		b.Fatal(err)
	}
	for n := 0; n < items; n += 200 {
		put(b, s, n)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	copyWithoutChecksums(b, with, without)
	for name, path := range map[string]string{"with": with, "without": without} {
		s, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		b.Run("read/"+name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			for range b.N {
				if _, err := storage.ItemByID(b.Context(), s, storage.ItemID(damageFeed, damageItem(r.IntN(items)).Key)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("scan/"+name, func(b *testing.B) {
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			for range b.N {
				s.Scan()
			}
		})
		next := items
		b.Run("put200/"+name, func(b *testing.B) {
			for range b.N {
				put(b, s, next)
				next += 200
			}
		})
	}
}
