package bleve

import (
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"feedmesh/storage"
)

// Searches rest on parts of scorch and zapx that no compiler checks: some would be skipped silently after an
// upgrade and make searches slow or scores wrong. Each check names the part. If one fails after an upgrade,
// adapt the code that uses it, see docs/decisions/0002-search-over-segments.md.
func TestUpgrade_InternalsThatSearchesRestOn(t *testing.T) {
	x, err := Open(filepath.Join(t.TempDir(), "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var items []storage.IndexItem
	for i := range 100 {
		it := storage.IndexItem{Item: storage.Item{ID: fmt.Sprint("id", i), Title: "one two", Published: time.UnixMicro(int64(i + 1))}}
		for range i % 7 {
			it.Text += "three four "
		}
		items = append(items, it)
	}
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	err = x.read(t.Context(), func(now bleveindex.IndexReader) error {
		snapshot, ok := now.(*scorch.IndexSnapshot)
		if !ok {
			t.Fatalf("the reader is a %T, want a *scorch.IndexSnapshot, whose segments are searched", now)
		}
		if len(snapshot.Segments()) != 1 || snapshot.Segments()[0].Count() != 100 {
			t.Fatalf("got %d segments, want 1 segment a batch", len(snapshot.Segments()))
		}
		checkSegment(t, snapshot.Segments()[0])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkSegment(t *testing.T, seg *scorch.SegmentSnapshot) {
	if _, ok := seg.Segment().(segmentapi.DocValueVisitable); !ok {
		t.Errorf("a %T has no document values: all items would have the publication time 0", seg.Segment())
	}
	dict, err := seg.Segment().Dictionary("title")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := dict.(interface {
		AutomatonIteratorOmitCount(a segmentapi.Automaton, from, before []byte) segmentapi.DictionaryIterator
	}); !ok {
		t.Errorf("a %T has no AutomatonIteratorOmitCount: loading columns would count the documents of each term", dict)
	}
	list, err := dict.PostingsList([]byte("one"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	into, ok := list.(interface{ OrInto(*roaring.Bitmap) })
	if !ok {
		t.Fatalf("a %T has no OrInto: filters could not be evaluated on bitmaps", list)
	}
	docs := roaring.New()
	if into.OrInto(docs); docs.GetCardinality() != 100 || list.Count() != 100 {
		t.Errorf("got %d documents in the bitmap and a count of %d, want 100", docs.GetCardinality(), list.Count())
	}
	postings := list.Iterator(true, true, false, nil)
	fast, ok := postings.(segmentapi.OptimizablePostingsIterator)
	if !ok || fast.ActualBitmap() == nil {
		t.Errorf("the iterator has no bitmap to replace: scoring would visit documents that do not match")
	} else if fast.ReplaceActual(roaring.BitmapOf(3)); first(t, postings).Number() != 3 {
		t.Error("ReplaceActual does not restrict the iterator")
	}
	checkNorms(t, seg)
	checkStored(t, seg)
}

// first returns the first posting.
func first(t *testing.T, postings segmentapi.PostingsIterator) segmentapi.Posting {
	t.Helper()
	posting, err := postings.Next()
	if err != nil || posting == nil {
		t.Fatalf("got %v, %v, want a posting", posting, err)
	}
	return posting
}

// checkNorms checks that a posting's norm is 1/√(words of the field), from which the score takes the length.
func checkNorms(t *testing.T, seg *scorch.SegmentSnapshot) {
	dict, err := seg.Segment().Dictionary("text")
	if err != nil {
		t.Fatal(err)
	}
	list, err := dict.PostingsList([]byte("three"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for postings := list.Iterator(true, true, false, nil); ; {
		posting, err := postings.Next()
		if err != nil {
			t.Fatal(err)
		}
		if posting == nil {
			return
		}
		id, err := seg.DocID(posting.Number())
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimPrefix(string(id), "id"))
		if err != nil {
			t.Fatal(err)
		}
		words := 2 * float64(n%7)
		if got := 1 / (posting.Norm() * posting.Norm()); math.Abs(got-words) > 0.01 || float64(posting.Frequency()) != words/2 {
			t.Fatalf("item %d: got %v words, frequency %d; want %v and %v", n, got, posting.Frequency(), words, words/2)
		}
	}
}

// checkStored checks that stored bytes are read back as written: the order of words for phrases.
func checkStored(t *testing.T, seg *scorch.SegmentSnapshot) {
	docs, err := seg.DocNumbers([]string{"id42"})
	if err != nil || docs.GetCardinality() != 1 {
		t.Fatalf("got documents %v, %v for an ID, want one", docs, err)
	}
	if id, err := seg.DocID(uint64(docs.Minimum())); err != nil || string(id) != "id42" {
		t.Errorf("got ID %s, %v for the document of id42", id, err)
	}
	var stored []byte
	err = seg.VisitDocument(uint64(docs.Minimum()), func(field string, _ byte, value []byte, _ []uint64) bool {
		if field == "title" {
			stored = append(stored, value...)
		}
		return true
	})
	if err != nil || len(stored) != 6 {
		t.Errorf("got %d bytes of the title's word order, %v, want 6", len(stored), err)
	}
}

// Merges are verified only of segments of the format that checkedMerges contains.
func TestUpgrade_MergesAreVerified(t *testing.T) {
	if newest := slices.Max(scorch.SupportedSegmentTypeVersions(zap.Type)); newest != zap.Version {
		t.Errorf("Bleve writes format %d, and checkedMerges contains %d", newest, zap.Version)
	}
}
