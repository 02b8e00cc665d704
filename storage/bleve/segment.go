package bleve

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"
)

// A segment is a segment of scorch's index as one search uses it, with document numbers from 0. Searches run
// on its bitmaps directly: bleve's own search visits each match and field, and its scores change with each
// Put.
type segment struct {
	*columns
	prominence []uint8 // current prominence of each document
	snapshot   *scorch.SegmentSnapshot
	live       *roaring.Bitmap // items that are not deleted; read-only
	whole      bool            // no item is deleted
	dicts      map[string]segmentapi.TermDictionary
	lists      map[[2]string]segmentapi.PostingsList // cache of postings by field and term: most are needed again
	near       map[*word][]nearGroup                 // cache of nearIn
}

// segmentsOf returns the segments of a state, the newest first.
func (x *Index) segmentsOf(now *searchState) ([]*segment, error) {
	parts := now.snapshot.Segments()
	var all []*segment
	for i := len(parts) - 1; i >= 0; i-- {
		s := newSegment(parts[i])
		s.columns, s.live, s.whole = now.parts[i].columns, now.parts[i].live, now.parts[i].whole
		var err error
		if s.prominence, err = x.boosts.prominenceOf(s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// snapshotOf returns scorch's snapshot of a state.
func snapshotOf(now bleveindex.IndexReader) (*scorch.IndexSnapshot, error) {
	snapshot, ok := now.(*scorch.IndexSnapshot)
	if !ok {
		return nil, fmt.Errorf("the index is a %T, not scorch's", now)
	}
	return snapshot, nil
}

// newSegment returns a segment without columns, for term lookups only.
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

// postings returns the documents with a term, including deleted documents.
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

// add adds the documents with a term to docs, including deleted documents.
func (s *segment) add(docs *roaring.Bitmap, field, term string) error {
	list, err := s.postings(field, term)
	if err != nil {
		return err
	}
	list.(interface{ OrInto(*roaring.Bitmap) }).OrInto(docs) // every version of zapx implements it
	return nil
}

// having returns the documents with one of the terms, including deleted documents.
func (s *segment) having(field string, terms ...string) (*roaring.Bitmap, error) {
	docs := roaring.New()
	for _, term := range terms {
		if err := s.add(docs, field, term); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// count returns the number of items with a term.
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

// countIn returns the number of items with a term in all segments.
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
