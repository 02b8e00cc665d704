package bleve

import (
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
	stands   []uint8 // prominence of each document by now
	snapshot *scorch.SegmentSnapshot
	live     *roaring.Bitmap // documents that are items and not deleted; not to be changed
	whole    bool            // no item is deleted
	dicts    map[string]segmentapi.TermDictionary
	lists    map[[2]string]segmentapi.PostingsList // by field and term: most are asked for again
	near     map[*word][]nearGroup                 // what nearIn returned
}

// segmentsOf returns the parts of a state of the index, the newest first.
func (x *Index) segmentsOf(now *ready) ([]*segment, error) {
	parts := now.snapshot.Segments()
	var all []*segment
	for i := len(parts) - 1; i >= 0; i-- {
		s := newSegment(parts[i])
		s.columns, s.live, s.whole = now.parts[i].columns, now.parts[i].live, now.parts[i].whole
		var err error
		if s.stands, err = x.told.prominenceOf(s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// snapshotOf returns a state of the index as scorch has it.
func snapshotOf(now bleveindex.IndexReader) (*scorch.IndexSnapshot, error) {
	snapshot, ok := now.(*scorch.IndexSnapshot)
	if !ok {
		return nil, fmt.Errorf("the index is a %T, not scorch's", now)
	}
	return snapshot, nil
}

// newSegment returns a segment whose terms can be asked for, and no more as yet.
func newSegment(snapshot *scorch.SegmentSnapshot) *segment {
	return &segment{
		snapshot: snapshot, dicts: make(map[string]segmentapi.TermDictionary),
		lists: make(map[[2]string]segmentapi.PostingsList), near: make(map[*word][]nearGroup),
	}
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

// count returns how many items have a term.
func (s *segment) count(field, term string) (uint64, error) {
	list, err := s.postings(field, term)
	if err != nil {
		return 0, err
	}
	if s.whole || list.Count() == 0 {
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
