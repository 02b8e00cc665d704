package bleve

import (
	"context"
	"errors"
	"maps"
	"slices"

	upstream "github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// StoriesWithSteps returns the stories whose steps the index stores.
func (x *Index) StoriesWithSteps() (stories []string) {
	err := x.read(context.Background(), func(now bleveindex.IndexReader) error {
		steps, err := stepsIn(now)
		stories = slices.Sorted(maps.Keys(steps))
		return err
	})
	if err != nil {
		panic(err)
	}
	return stories
}

// SeesAll reports whether searches use the current state of scorch, with the given number of segments.
func (x *Index) SeesAll() (all bool, parts int) {
	err := x.read(context.Background(), func(now bleveindex.IndexReader) error {
		seen := x.current()
		all, parts = seen.snapshot == now, len(seen.parts)
		return seen.snapshot.Close()
	})
	if err != nil {
		panic(err)
	}
	return all, parts
}

// FieldsOfParts returns the fields of each segment.
func (x *Index) FieldsOfParts() (fields [][]string) {
	err := x.read(context.Background(), func(now bleveindex.IndexReader) error {
		snapshot, err := snapshotOf(now)
		for _, seg := range snapshot.Segments() {
			fields = append(fields, seg.Segment().Fields())
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return fields
}

// PanicAtMerge causes a panic in scorch's background goroutine after its next merge.
func (x *Index) PanicAtMerge() {
	opened.Store(x, x) // receives the callback
	opened.Store(x.scorch, "not an index")
}

// AtRest reports whether scorch has written its current state, and has no segments of it to merge.
func (x *Index) AtRest() bool {
	stats := x.scorch.(*scorch.Scorch).StatsMap()
	current, merged := stats["CurRootEpoch"].(uint64), stats["LastMergedEpoch"].(uint64)
	return merged > 0 && merged >= current && stats["LastPersistedEpoch"].(uint64) >= current
}

// Verify verifies the files as at an interval, without waiting between them.
func (x *Index) Verify() {
	if err := x.verify(nil); errors.Is(err, errDamaged) {
		x.fail(err)
	}
}

// Upstream returns Bleve's index, for comparisons with Bleve's own searcher.
func (x *Index) Upstream() upstream.Index { return x.bleve }

// ReleasePages releases the pages of an index's files.
func ReleasePages(ctx context.Context, x *Index) error { return x.releasePages(ctx) }
