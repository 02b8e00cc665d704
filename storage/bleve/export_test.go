package bleve

import (
	"context"
	"maps"
	"slices"

	bleveindex "github.com/blevesearch/bleve_index_api"
)

// ToldStories returns the stories of which the index remembers how they are told.
func (x *Index) ToldStories() (stories []string) {
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

// SeesAll reports whether searches see the index as scorch has it, in so many parts.
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

// FieldsOfParts returns the fields that each part of the index has.
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

// PanicAtMerge has scorch panic in the background when it next has merged something.
func (x *Index) PanicAtMerge() {
	opened.Store(x, x) // who is told
	opened.Store(x.scorch, &Index{path: x.path})
}
