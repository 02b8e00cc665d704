package bleve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	upstream "github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/gofrs/flock"
)

// ErrBroken says that a folder holds an index which cannot be used: damaged,
// or made by another version. Nothing in it is worth keeping: move the folder
// away, open a new one and put every item of the store into it.
var ErrBroken = errors.New("the search index is broken and must be rebuilt from the store")

// ErrLocked says that another process has the index open.
var ErrLocked = errors.New("the search index is in use by another process")

// format names what this version writes. An index with another format is
// rebuilt: raise it whenever fields, words or stems change.
const format = "7"

var (
	formatKey = []byte("feedmesh.format")
	batchKey  = []byte("feedmesh.batch") // see Index.commit
)

// Open opens the index in the folder at path, and creates it if the folder is
// not there or empty. Errors are [ErrLocked], [ErrBroken], or the system's.
func Open(path string) (*Index, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	lock := flock.New(filepath.Join(path, "lock"))
	if ok, err := lock.TryLock(); err != nil {
		return nil, fmt.Errorf("lock the search index at %s: %w", path, err)
	} else if !ok {
		return nil, fmt.Errorf("open %s: %w", path, ErrLocked)
	}
	index, err := openLocked(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), lock.Close())
	}
	inner, err := index.Advanced()
	if err != nil {
		return nil, errors.Join(err, closeBoth(index, lock))
	}
	x := &Index{
		bleve: index, scorch: inner, path: path, lock: lock,
		columns: newColumnCache(), lately: newLately(), told: told{steps: make(map[uint64]uint8)}, searches: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
	var steps map[string]uint8
	err = x.read(context.Background(), func(now bleveindex.IndexReader) error {
		steps, err = stepsIn(now)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: read how stories are told: %w", ErrBroken, err), x.Close())
	}
	x.told.set(steps)
	opened.Store(inner, x)
	x.warming.Go(func() {
		x.warm()
		_ = x.forgetLone(context.Background(), steps) // what remains goes at the next start
	})
	return x, nil
}

func closeBoth(a, b io.Closer) error { return errors.Join(a.Close(), b.Close()) }

func openLocked(path string) (upstream.Index, error) {
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if len(files) <= 1 { // the lock
		return create(path)
	}
	index, err := openExisting(path)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return index, err
}

func create(path string) (upstream.Index, error) {
	// Neither mapping nor analysers are of use: documents come with their
	// fields made (document.go), queries with their terms (search.go).
	index, err := upstream.NewUsing(path, upstream.NewIndexMapping(), scorch.Name, scorch.Name, settings())
	if err != nil {
		return nil, err
	}
	if err := index.SetInternal(formatKey, []byte(format)); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return index, nil
}

// openExisting opens an index that was there before. Its files are mapped, not
// read, so damage shows late, as a panic or a fault; these become errors. If
// the newest state is damaged scorch falls back to the one before and says
// nothing; so we compare what it opened with what there was.
func openExisting(path string) (index upstream.Index, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			index, err = nil, fmt.Errorf("%v", p)
		}
	}()
	newest, err := scorch.RollbackPoints(filepath.Join(path, "store"))
	if err != nil {
		return nil, err
	}
	if len(newest) == 0 {
		return nil, errors.New("it holds no state")
	}
	index, err = upstream.OpenUsing(path, settings())
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // the rest is a dump
		return nil, errors.New(first)
	}
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
		return nil, errors.Join(err, index.Close())
	}
	return index, nil
}

// settings returns those of scorch's that differ from its defaults, which
// serve us well: batches that return when synced, one snapshot kept. Indexing
// 100,000 items in batches of 500 takes 200 MB of memory at most, files
// included; more if batches are larger.
//
// Merges take more segments at a time than by default, but begin at smaller ones and
// leave fewer of each size. So there are no more to search, some 13 of 200,000 items
// and 14 of three million, not 16 and 27. And each item is written again less often:
// upon 200,000 items, twice and not six times when they come 137 at a time, four
// times and not twelve when six at a time (mergeplan.Plan, run on sizes alone).
func settings() map[string]any {
	return map[string]any{
		"bolt_timeout":           "5s", // should another program have it open
		"eventCallbackName":      backgroundName,
		"asyncErrorCallbackName": backgroundName,
		"scorchMergePlanOptions": map[string]any{"MaxSegmentsPerTier": 8, "SegmentsPerMergeTask": 20, "FloorSegmentSize": 500},
	}
}
