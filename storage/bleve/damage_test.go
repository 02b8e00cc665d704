package bleve_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
)

var damageSeed = flag.Uint64("damage.seed", 0, "run tests of damage with this seed only")

// seeds returns the seeds of a test of damage.
func seeds() []uint64 {
	if *damageSeed != 0 {
		return []uint64{*damageSeed}
	}
	n := 100
	if testing.Short() {
		n = 10
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// A sample is an index with known answers.
type sample struct {
	path    string // of a closed index
	items   []storage.IndexItem
	more    []storage.IndexItem
	queries []storage.Query
	want    []answer // of the queries, while the index has items
}

// An answer is what a client sees of a result.
type answer struct {
	total int64
	ids   []string
}

func newSample(t *testing.T) *sample {
	s := &sample{path: filepath.Join(t.TempDir(), "index")}
	made := indextest.NewItemGenerator(7)
	s.items, s.more = made.Items(400), made.Items(100)
	for range 40 {
		s.queries = append(s.queries, storage.Query{Where: query.Text{Words: made.SearchWord()}, Limit: 20})
	}
	x := open(t, s.path)
	for chunk := range slices.Chunk(s.items, 80) {
		if err := x.Put(t.Context(), chunk...); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Delete(t.Context(), s.items[0].ID, s.items[90].ID); err != nil {
		t.Fatal(err)
	}
	s.items = slices.Delete(s.items, 90, 91)[1:]
	for _, q := range s.queries {
		got, err := ask(t, x, q)
		if err != nil {
			t.Fatal(err)
		}
		s.want = append(s.want, got)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, x *bleve.Index, q storage.Query) (answer, error) {
	results, err := x.Search(t.Context(), q)
	a := answer{total: results.Total}
	for _, hit := range results.Hits {
		a.ids = append(a.ids, hit.ID)
	}
	return a, err
}

// copied returns the path of a copy of the index.
func (s *sample) copied(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "index")
	if err := os.CopyFS(path, os.DirFS(s.path)); err != nil {
		t.Fatal(err)
	}
	return path
}

// check runs all queries and returns the numbers of right answers, wrong answers, and errors.
func (s *sample) check(t *testing.T, x *bleve.Index) (right, wrong, failed int) {
	for i, q := range s.queries {
		switch got, err := ask(t, x, q); {
		case err != nil:
			failed++
		case !reflect.DeepEqual(got, s.want[i]):
			t.Logf("%v: got %v, want %v", q.Where, got, s.want[i])
			wrong++
		default:
			right++
		}
	}
	if n, err := x.Count(t.Context()); err != nil {
		failed++
	} else if int(n) != len(s.items) {
		wrong++
	}
	return right, wrong, failed
}

// flip inverts up to 40 bits of one of the files.
func flip(t *testing.T, r *rand.Rand, files []string) string {
	name := files[r.IntN(len(files))]
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) { // removed after a merge
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		t.Fatal(name, info, err)
	}
	for range 1 + r.IntN(40) {
		at, b := r.Int64N(info.Size()), []byte{0}
		if _, err := file.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << r.IntN(8)
		if _, err := file.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Base(name)
}

// outcomes counts what became of damaged files.
type outcomes struct {
	mu     sync.Mutex
	counts map[string]int
}

func (o *outcomes) add(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[fmt.Sprintf(format, args...)]++
}

// eachSeed calls test for each seed in parallel subtests, and logs the outcomes.
func eachSeed(t *testing.T, test func(t *testing.T, s *sample, r *rand.Rand, all *outcomes)) {
	s, all := newSample(t), &outcomes{counts: make(map[string]int)}
	t.Run("seeds", func(t *testing.T) {
		for _, seed := range seeds() {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					test(t, s, rand.New(rand.NewPCG(seed, 1)), all)
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Error("no return within a minute")
				}
			})
		}
	})
	for _, name := range slices.Sorted(maps.Keys(all.counts)) {
		t.Logf("%4d %s", all.counts[name], name)
	}
}

func TestDamage_BeforeOpen(t *testing.T) {
	eachSeed(t, func(t *testing.T, s *sample, r *rand.Rand, all *outcomes) {
		path := s.copied(t)
		files := append(segments(path), filepath.Join(path, "store", "root.bolt"))
		kind := "segment"
		if flip(t, r, files) == "root.bolt" {
			kind = "root.bolt"
		}
		x, err := bleve.Open(path, slog.New(slog.DiscardHandler))
		if errors.Is(err, bleve.ErrBroken) {
			all.add("%s: rebuilt", kind)
			return
		}
		if err != nil {
			t.Errorf("open: %v, want ErrBroken", err)
			return
		}
		if right, wrong, failed := s.check(t, x); wrong+failed > 0 {
			t.Errorf("%s: %d answers right, %d wrong, %d errors", kind, right, wrong, failed)
		}
		if err := errors.Join(x.Put(t.Context(), s.more...), x.Close()); err != nil {
			t.Errorf("put and close: %v", err)
		}
		all.add("%s: unaffected", kind)
	})
}

// The list of segments and deleted documents has no checksum of its own.
func TestDamage_RootBeforeOpen(t *testing.T) {
	eachSeed(t, func(t *testing.T, s *sample, r *rand.Rand, all *outcomes) {
		path := s.copied(t)
		flip(t, r, []string{filepath.Join(path, "store", "root.bolt")})
		if x, err := bleve.Open(path, slog.New(slog.DiscardHandler)); !errors.Is(err, bleve.ErrBroken) {
			t.Errorf("open: %v, %v; want ErrBroken", x, err)
		}
		all.add("rebuilt")
	})
}

// A killed process leaves no checksum of the list of segments, and a later version of it.
func TestOpen_AfterKill(t *testing.T) {
	s := newSample(t)
	x := open(t, s.path)
	defer x.Close()
	if err := x.Put(t.Context(), s.more...); err != nil {
		t.Fatal(err)
	}
	copied := open(t, s.copied(t))
	defer copied.Close()
	if n, err := copied.Count(t.Context()); err != nil || n != int64(len(s.items)+len(s.more)) {
		t.Errorf("%d items, %v; want %d", n, err, len(s.items)+len(s.more))
	}
}

// Files that are damaged while the index is open are found by errors of searches, before a merge reads them, and at the
// next verification.
func TestDamage_WhileOpen(t *testing.T) {
	eachSeed(t, func(t *testing.T, s *sample, r *rand.Rand, all *outcomes) {
		path := s.copied(t)
		x := open(t, path)
		defer x.Close()
		waitUntil(t, "an index at rest", x.AtRest) // damage to a file that a merge is reading can end the process
		files := segments(path)
		if _, err := ask(t, x, s.queries[0]); err != nil {
			t.Errorf("search: %v", err)
		}
		flip(t, r, files)
		right, wrong, failed := s.check(t, x)
		for chunk := range slices.Chunk(s.more, 20) { // enough for a merge
			_ = x.Put(t.Context(), chunk...) // fails where it reads damaged files
		}
		x.Verify()
		waitUntil(t, "an index without damage", func() bool { _, err := x.Count(t.Context()); return err == nil })
		if len(asides(path)) == 0 {
			if all.add("unaffected: hit no segment in use"); wrong+failed > 0 {
				t.Errorf("%d answers right, %d wrong, %d errors, and the index was not replaced", right, wrong, failed)
			}
			return
		}
		switch {
		case wrong > 0:
			all.add("replaced; wrong answers before verification")
		case failed > 0:
			all.add("replaced; errors before")
		default:
			all.add("replaced; answers right before")
		}
		if err := errors.Join(x.Put(t.Context(), s.items...), x.Delete(t.Context(), idsOf(s.more)...)); err != nil {
			t.Errorf("put into the new index: %v", err)
		}
		if right, wrong, failed := s.check(t, x); wrong+failed > 0 {
			t.Errorf("%d answers of the new index right, %d wrong, %d errors", right, wrong, failed)
		}
	})
}

func idsOf(items []storage.IndexItem) (ids []string) {
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}
