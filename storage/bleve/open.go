package bleve

import (
	"context"
	"errors"
	"fmt"
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

// ErrBroken reports that a folder contains an unusable index: damaged, or of another format. Move the folder
// away, open a new index and put every item of the store into it.
var ErrBroken = errors.New("the search index is broken and must be rebuilt from the store")

// ErrLocked reports that another process holds the lock of the index.
var ErrLocked = errors.New("the search index is in use by another process")

var (
	formatKey = []byte("feedmesh.format")
	batchKey  = []byte("feedmesh.batch") // see Index.commit
)

// Open opens the index in the folder at path. It creates the index if the folder is missing or empty. Errors
// are [ErrLocked], [ErrBroken], or the system's.
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
		columns: newColumnCache(), recent: newFingerprintCache(), boosts: storyBoosts{steps: make(map[uint64]uint8)}, searches: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
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
	x.warming.Go(func() {
		x.warm()
		_ = x.removeOrphans(context.Background(), steps) // errors are retried at the next start
	})
	return x, nil
}

func openLocked(path string) (upstream.Index, error) {
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if len(files) <= 1 { // the lock file
		return create(path)
	}
	index, err := openExisting(path)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return index, err
}

func create(path string) (upstream.Index, error) {
	// Neither mapping nor analysers are used: documents come with their fields (document.go), queries with
	// their terms (search.go).
	index, err := upstream.NewUsing(path, upstream.NewIndexMapping(), scorch.Name, scorch.Name, settings())
	if err != nil {
		return nil, err
	}
	if err := index.SetInternal(formatKey, []byte(format)); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return index, nil
}

// openExisting opens an existing index. Its files are memory-mapped, so damage appears late, as a panic or a
// fault; these become errors. If the newest state is damaged scorch silently falls back to an older state, so
// the opened state is compared with the newest on disk.
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
		return nil, errors.New("it contains no state")
	}
	index, err = upstream.OpenUsing(path, settings())
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // the rest is a stack dump
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

// settings returns the scorch settings that differ from its defaults. The defaults fit: batches return when
// synced, one snapshot is kept. Indexing 100,000 items in batches of 500 takes at most 200 MB of memory,
// files included; larger batches take more.
//
// Merges take more segments at a time than by default, begin at smaller segments and leave fewer of each
// size. So a search visits no more segments, about 13 of 200,000 items and 14 of three million, not 16 and
// 27. And items are rewritten less often: upon 200,000 items, twice and not six times when they come 137 at a
// time, four times and not twelve when six at a time (mergeplan.Plan, run on sizes alone).
func settings() map[string]any {
	return map[string]any{
		"bolt_timeout":           "5s", // timeout if another program has it open
		"eventCallbackName":      backgroundName,
		"asyncErrorCallbackName": backgroundName,
		"scorchMergePlanOptions": map[string]any{"MaxSegmentsPerTier": 8, "SegmentsPerMergeTask": 20, "FloorSegmentSize": 500},
	}
}
