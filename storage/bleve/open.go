package bleve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	upstream "github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/gofrs/flock"
	"go.etcd.io/bbolt"
)

// ErrBroken reports that a folder contains an unusable index: damaged, or of another format. Move the folder
// away, open a new index and put every item of the store into it.
var ErrBroken = errors.New("the search index is broken and must be rebuilt from the store")

// ErrLocked reports that another process holds the lock of the index.
var ErrLocked = errors.New("the search index is in use by another process")

// lockName is the name of the lock file in the folder of an index.
const lockName = "lock"

var (
	formatKey = []byte("feedmesh.format")
	batchKey  = []byte("feedmesh.batch") // see Index.commit
)

// Open opens the index in the folder at path. It creates the index if the folder is missing or empty. Errors
// are [ErrLocked], [ErrBroken], or the system's.
//
// Open reads and verifies all files. An index that is damaged later is put aside as by [SetAside], logged, and
// replaced by an empty one; until then all methods return an error.
func Open(path string, log *slog.Logger) (*Index, error) { return open(path, nil, log) }

// OpenBuffered is Open for an index of which the last batches may be lost in a crash: they can be searched at once, and are
// on disk about five seconds later, together, or when Close returns.
func OpenBuffered(path string, log *slog.Logger) (*Index, error) { return open(path, newBuffer(), log) }

func open(path string, b *buffer, log *slog.Logger) (*Index, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	lock := flock.New(filepath.Join(path, lockName))
	if ok, err := lock.TryLock(); err != nil {
		return nil, fmt.Errorf("lock the search index at %s: %w", path, err)
	} else if !ok {
		return nil, fmt.Errorf("open %s: %w", path, ErrLocked)
	}
	index, err := openLocked(path, b != nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), lock.Close())
	}
	inner, err := index.Advanced()
	if err != nil {
		return nil, errors.Join(err, closeIndex(index), lock.Close())
	}
	x := &Index{
		bleve: index, scorch: inner, path: path, lock: lock, log: log, buffer: b,
		suspected: make(chan error, 1), reclaim: newReclaimer(), ending: make(chan struct{}),
		columns: newColumnCache(), recent: newFingerprintCache(), boosts: storyBoosts{steps: make(map[uint64]uint8)}, searches: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
	x.end = sync.OnceFunc(func() { close(x.ending) })
	x.stopped.Store(newBackground())
	var steps map[string]uint8
	err = x.read(context.Background(), func(now bleveindex.IndexReader) error {
		steps, err = stepsIn(now)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: read the steps of stories: %w", ErrBroken, err), x.Close())
	}
	x.boosts.set(steps)
	opened.Store(inner, x)
	x.tasks.Go(x.watchFiles)
	x.tasks.Go(func() { x.reclaim.run(x) })
	x.tasks.Go(x.keepReleasingPages)
	x.tasks.Go(func() {
		x.warm()
		_ = x.removeOrphans(context.Background(), steps) // errors are retried at the next start
	})
	return x, nil
}

func openLocked(path string, buffered bool) (upstream.Index, error) {
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if len(files) <= 1 { // the lock file
		return create(path, buffered)
	}
	index, err := openExisting(path, buffered)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return index, err
}

// create creates an index, whose format is on disk when it returns: without a format it is broken.
func create(path string, buffered bool) (upstream.Index, error) {
	// Neither mapping nor analysers are used: documents come with their fields (document.go), queries with
	// their terms (search.go).
	index, err := upstream.NewUsing(path, upstream.NewIndexMapping(), scorch.Name, scorch.Name, settings(false))
	if err != nil {
		return nil, err
	}
	err = index.SetInternal(formatKey, []byte(format))
	if err == nil && !buffered {
		return index, nil
	}
	if err := errors.Join(err, closeIndex(index)); err != nil {
		return nil, err
	}
	return openUsing(path, settings(buffered))
}

// openExisting verifies and opens an existing index. Its files are memory-mapped, so damage appears late, as a
// panic or a fault; these become errors.
func openExisting(path string, buffered bool) (index upstream.Index, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			index, err = nil, fmt.Errorf("%v", p)
		}
	}()
	if err := verifyRoot(path); err != nil {
		return nil, err
	}
	if err := verifyFiles(path); err != nil {
		return nil, err
	}
	if err := putRootSum(path, nil); err != nil {
		return nil, err
	}
	return openUsing(path, settings(buffered))
}

func openUsing(path string, settings map[string]any) (upstream.Index, error) {
	index, err := upstream.OpenUsing(path, settings)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // the rest is a stack dump
		return nil, errors.New(first)
	}
	return index, nil
}

// verifyFiles verifies all files of a closed index. It opens the index without scorch's background work, which
// would merge damaged segments. If the newest state is damaged scorch silently falls back to an older state, so the
// opened state is compared with the newest on disk.
func verifyFiles(path string) (err error) {
	newest, err := scorch.RollbackPoints(filepath.Join(path, "store"))
	if err != nil {
		return err
	}
	if len(newest) == 0 {
		return errors.New("it contains no state")
	}
	index, err := openUsing(path, map[string]any{"read_only": true, "bolt_timeout": boltTimeout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	got, err := index.GetInternal(formatKey)
	if err == nil && string(got) != format {
		err = fmt.Errorf("its format is %q, not %q", got, format)
	}
	if err == nil {
		got, err = index.GetInternal(batchKey)
	}
	if err == nil && string(got) != string(newest[0].GetInternal(batchKey)) {
		err = errors.New("its newest state is damaged")
	}
	if err != nil {
		return err
	}
	inner, err := index.Advanced()
	if err != nil {
		return err
	}
	now, err := inner.Reader()
	if err != nil {
		return err
	}
	return verifySegments(now, nil)
}

// boltTimeout is the timeout of the lock that another program holds.
const boltTimeout = "5s"

// settings returns the scorch settings that differ from its defaults. The defaults fit: batches return when
// synced, unless a buffer is used, and one snapshot is kept. Indexing 100,000 items in batches of 500 takes at most 200 MB of memory,
// files included; larger batches take more.
//
// Merges take more segments at a time than by default, begin at smaller segments and leave fewer of each
// size. So a search visits no more segments, about 13 of 200,000 items and 14 of three million, not 16 and
// 27. And items are rewritten less often: upon 200,000 items, twice and not six times when they come 137 at a
// time, four times and not twelve when six at a time (mergeplan.Plan, run on sizes alone).
func settings(buffered bool) map[string]any {
	return map[string]any{
		"bolt_timeout":           boltTimeout,
		"unsafe_batch":           buffered,
		"eventCallbackName":      backgroundName,
		"asyncErrorCallbackName": backgroundName,
		"scorchMergePlanOptions": map[string]any{"MaxSegmentsPerTier": 8, "SegmentsPerMergeTask": 20, "FloorSegmentSize": 500},
	}
}

// Scorch lists its segments in a bolt file, in two transactions a batch, and opens it with bolt's default options (bleve
// v2.6.3). Bolt then writes the list of free pages with each transaction, a quarter of what it writes, instead of finding
// them when it opens the file, which has few pages.
func init() { bbolt.DefaultOptions.NoFreelistSync = true }

// closeTimeout is the timeout of scorch's background workers, which may never end after a panic.
const closeTimeout = 10 * time.Second

// closeIndex closes the index. The timeout of scorch's background workers is closeTimeout.
func closeIndex(index upstream.Index) error {
	done := make(chan error, 1)
	go func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("close the index: panic: %v", p)
			}
		}()
		done <- index.Close()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(closeTimeout):
		return fmt.Errorf("close the index: not closed after %v", closeTimeout)
	}
}

// SetAside moves the files of the closed index at path to a folder beside it, whose path it returns. It removes those
// that were set aside before. The lock file stays, so that the holder of the lock may call it.
func SetAside(path string) (aside string, err error) {
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	for _, dir := range beside {
		if !strings.HasPrefix(dir.Name(), filepath.Base(path)+".broken-") {
			continue
		}
		if err := os.RemoveAll(filepath.Join(filepath.Dir(path), dir.Name())); err != nil {
			return "", fmt.Errorf("remove an earlier damaged index: %w", err)
		}
	}
	aside = fmt.Sprintf("%s.broken-%s", path, time.Now().UTC().Format("20060102T150405"))
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return "", fmt.Errorf("move the damaged index aside: %w", err)
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if file.Name() == lockName {
			continue
		}
		if err := os.Rename(filepath.Join(path, file.Name()), filepath.Join(aside, file.Name())); err != nil {
			return "", fmt.Errorf("move the damaged index aside: %w", err)
		}
	}
	return aside, nil
}
