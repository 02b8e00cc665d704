package bleve

import (
	"context"
	"fmt"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"

	"feedmesh/classify/query"
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

// An automaton accepts some terms of a dictionary.
type automaton = segmentapi.Automaton

// maxTerm bounds the bytes of the terms that walks visit. Words have at most [query.MaxWord] bytes, and stemming
// adds a few. An index of an earlier version may contain longer ones, which walks skip: one of 1 MB takes a walk
// 1 GB of memory.
const maxTerm = 2 * query.MaxWord

// shortTerms is the automaton that accepts terms of at most maxTerm bytes. Its states are lengths.
type shortTerms struct{}

func (shortTerms) Start() int                    { return 0 }
func (shortTerms) IsMatch(length int) bool       { return length <= maxTerm }
func (shortTerms) CanMatch(length int) bool      { return length <= maxTerm }
func (shortTerms) WillAlwaysMatch(int) bool      { return false }
func (shortTerms) Accept(length int, _ byte) int { return length + 1 }

// checkEvery is the number of steps after which a walk checks whether its request has ended.
const checkEvery = 256

// terms returns an iterator over the terms of a field that have the given prefix and that the automaton accepts.
func (s *segment) terms(field string, accepts automaton, begin string) (segmentapi.DictionaryIterator, error) {
	dict, err := s.dict(field)
	if err != nil {
		return nil, err
	}
	return dict.AutomatonIterator(accepts, []byte(begin), after(begin)), nil
}

// after returns the least key after all keys with a prefix; nil if there is none.
func after(begin string) []byte {
	b := []byte(begin)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return nil
	}
	b[len(b)-1]++
	return b
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

// postingsIn returns an iterator over the documents with a term, with its frequency and the norm of the field. It
// leaves out most documents that are not in docs: a list of one document is not restricted.
func (s *segment) postingsIn(field, term string, docs *roaring.Bitmap) (segmentapi.PostingsIterator, error) {
	list, err := s.postings(field, term)
	if err != nil {
		return nil, err
	}
	postings := list.Iterator(true, true, false, nil)
	if fast, ok := postings.(segmentapi.OptimizablePostingsIterator); ok && fast.ActualBitmap() != nil {
		fast.ReplaceActual(roaring.And(fast.ActualBitmap(), docs))
	}
	return postings, nil
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
func countIn(ctx context.Context, segs []*segment, field, term string) (sum uint64, err error) {
	for _, s := range segs {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
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

// readPublished reads the publication time of each document.
func readPublished(seg segmentapi.Segment) ([]int64, error) {
	times := make([]int64, seg.Count())
	values, ok := seg.(segmentapi.DocValueVisitable)
	if !ok {
		return times, nil // an empty segment
	}
	var state segmentapi.DocVisitState
	var err error
	fields := []string{fieldPublished}
	for doc := range times {
		state, err = values.VisitDocValues(uint64(doc), fields, func(_ string, value []byte) {
			n, _ := strconv.ParseUint(string(value), 16, 64) // as sortable wrote it
			times[doc] = int64(n ^ sign)
		}, state)
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// eachValue calls f with each value of a field and the documents that have it. f must not keep them.
func eachValue(seg segmentapi.Segment, field string, f func(value string, docs []uint32)) error {
	dict, err := seg.Dictionary(field)
	if err != nil {
		return err
	}
	terms := termsOf(dict, nil)
	docs := make([]uint32, 0, 1024)
	var list segmentapi.PostingsList
	var postings segmentapi.PostingsIterator
	for {
		term, err := terms.Next()
		if term == nil || err != nil {
			return err
		}
		if list, err = dict.PostingsList([]byte(term.Term), nil, list); err != nil {
			return err
		}
		postings = list.Iterator(false, false, false, postings)
		docs = docs[:0]
		for {
			posting, err := postings.Next()
			if err != nil {
				return err
			}
			if posting == nil {
				break
			}
			docs = append(docs, uint32(posting.Number()))
		}
		f(term.Term, docs)
	}
}

// termsOf returns an iterator over terms, from the given one to the end. It does not count their documents, which
// takes longer than all other work.
func termsOf(dict segmentapi.TermDictionary, from []byte) segmentapi.DictionaryIterator {
	quick, ok := dict.(interface {
		AutomatonIteratorOmitCount(a segmentapi.Automaton, from, before []byte) segmentapi.DictionaryIterator
	})
	if !ok {
		return dict.AutomatonIterator(nil, from, nil) // not a segment of zapx
	}
	return quick.AutomatonIteratorOmitCount(nil, from, nil)
}
