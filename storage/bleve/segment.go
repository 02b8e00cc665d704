package bleve

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"
)

// A segment is one of the parts that scorch keeps an index in, as one search
// sees it: its documents have numbers from 0. We search segments ourselves, on
// bitmaps, as bleve's own search looks at each match one by one, field by field,
// and its scores change with each Put.
type segment struct {
	*columns
	snapshot *scorch.SegmentSnapshot
	live     *roaring.Bitmap // documents that are not deleted
	dicts    map[string]segmentapi.TermDictionary
	lists    map[[2]string]segmentapi.PostingsList // by field and term: most are asked for again
	near     map[*word][]nearGroup                 // what nearIn returned
}

// segmentsOf returns the parts of the index, the newest first.
func (x *Index) segmentsOf(now bleveindex.IndexReader) ([]*segment, error) {
	snapshot, ok := now.(*scorch.IndexSnapshot)
	if !ok {
		return nil, fmt.Errorf("the index is a %T, not scorch's", now)
	}
	parts := snapshot.Segments()
	var all []*segment
	for i := len(parts) - 1; i >= 0; i-- {
		columns, err := x.columns.of(parts[i])
		if err != nil {
			return nil, err
		}
		all = append(all, &segment{
			columns: columns, snapshot: parts[i], live: parts[i].DocNumbersLive(),
			dicts: make(map[string]segmentapi.TermDictionary), lists: make(map[[2]string]segmentapi.PostingsList),
			near: make(map[*word][]nearGroup),
		})
	}
	x.columns.keep(parts)
	return all, nil
}

// view calls f with the index as it is now. There are never more than a few such
// calls at once, since each may take some bytes for each document.
func (x *Index) view(ctx context.Context, f func(now bleveindex.IndexReader) error) error {
	select {
	case x.searches <- struct{}{}:
		defer func() { <-x.searches }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return x.read(ctx, f)
}

// dict returns the terms of a field.
func (s *segment) dict(field string) (segmentapi.TermDictionary, error) {
	dict := s.dicts[field]
	if dict == nil {
		var err error
		if dict, err = s.snapshot.Segment().Dictionary(field); err != nil {
			return nil, err
		}
		s.dicts[field] = dict
	}
	return dict, nil
}

// postings returns the documents that have a term, deleted ones too.
func (s *segment) postings(field, term string) (segmentapi.PostingsList, error) {
	key := [2]string{field, term}
	if list := s.lists[key]; list != nil {
		return list, nil
	}
	dict, err := s.dict(field)
	if err != nil {
		return nil, err
	}
	list, err := dict.PostingsList([]byte(term), nil, nil)
	if err == nil {
		s.lists[key] = list
	}
	return list, err
}

// add adds the documents that have a term to docs, deleted ones too.
func (s *segment) add(docs *roaring.Bitmap, field, term string) error {
	list, err := s.postings(field, term)
	if err != nil {
		return err
	}
	list.(interface{ OrInto(*roaring.Bitmap) }).OrInto(docs) // as every version of zapx has it
	return nil
}

// having returns the documents that have one of the terms, deleted ones too.
func (s *segment) having(field string, terms ...string) (*roaring.Bitmap, error) {
	docs := roaring.New()
	for _, term := range terms {
		if err := s.add(docs, field, term); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// count returns how many documents have a term.
func (s *segment) count(field, term string) (uint64, error) {
	list, err := s.postings(field, term)
	if err != nil {
		return 0, err
	}
	if s.snapshot.Deleted() == nil || list.Count() == 0 {
		return list.Count(), nil
	}
	docs, err := s.having(field, term)
	if err != nil {
		return 0, err
	}
	return docs.AndCardinality(s.live), nil
}

// countIn returns how many documents of all segments have a term.
func countIn(segs []*segment, field, term string) (sum uint64, err error) {
	for _, s := range segs {
		n, err := s.count(field, term)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// id returns the ID of a document.
func (s *segment) id(doc uint32) (string, error) {
	id, err := s.snapshot.DocID(uint64(doc))
	return string(id), err
}
