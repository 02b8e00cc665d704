package bleve

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"

	"feedmesh/storage"
)

// stampIn parses a term of stampOf.
func stampIn(term string) (s storage.Stamp, err error) {
	if len(term) < 2*timeLength+1 {
		return s, fmt.Errorf("the term %q is no stamp", term)
	}
	end := len(term) - timeLength
	s.ID = term[timeLength : end-1]
	s.Changed, err = timeOf(term[end:])
	return s, err
}

// timeLength is the length of a time from sortable.
const timeLength = 16

// sign is the bit whose inversion makes signed numbers sort as unsigned numbers.
const sign = 1 << 63

// timeOf parses a time from sortable.
func timeOf(text string) (time.Time, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	return time.UnixMicro(int64(n ^ sign)).UTC(), err
}

// daysIn counts the items of each day.
func daysIn(ctx context.Context, now bleveindex.IndexReader) (map[time.Time]int64, error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	days := map[time.Time]int64{}
	for _, seg := range snapshot.Segments() {
		if err := addDays(ctx, days, seg); err != nil {
			return nil, err
		}
	}
	return days, nil
}

// addDays adds the items of a segment to those of each day.
func addDays(ctx context.Context, days map[time.Time]int64, seg *scorch.SegmentSnapshot) error {
	dict, err := seg.Segment().Dictionary(fieldDay)
	if err != nil {
		return err
	}
	terms := termsOf(dict, nil)
	var list segmentapi.PostingsList
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry, err := terms.Next()
		if entry == nil || err != nil {
			return err
		}
		day, err := timeOf(entry.Term)
		if err != nil {
			return err
		}
		if list, err = dict.PostingsList([]byte(entry.Term), seg.Deleted(), list); err != nil {
			return err
		}
		if n := list.Count(); n > 0 {
			days[day] += int64(n)
		}
	}
}

// stampsIn returns at most limit stamps of a day with IDs after the given one.
func stampsIn(ctx context.Context, now bleveindex.IndexReader, day time.Time, after string, limit int) (stamps []storage.Stamp, err error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	var walks []*stampWalk
	for _, seg := range snapshot.Segments() {
		w, err := newStampWalk(ctx, seg, dayOf(day), after)
		if err != nil {
			return nil, err
		}
		walks = append(walks, w)
	}
	for len(stamps) < limit {
		first := firstOf(walks)
		if first == nil {
			break
		}
		stamp, err := stampIn(first.term)
		if err != nil {
			return nil, err
		}
		stamps = append(stamps, stamp)
		if err := first.next(ctx); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

// A stampWalk iterates over the stamps of a day in a segment, without those of deleted documents. It looks up
// documents only if some are deleted, and only in its own segment: a lookup in all segments takes longer than
// all other work.
type stampWalk struct {
	day     string
	dict    segmentapi.TermDictionary
	terms   segmentapi.DictionaryIterator
	deleted *roaring.Bitmap // nil if none is deleted
	list    segmentapi.PostingsList
	term    string // current term; empty at the end
}

func newStampWalk(ctx context.Context, seg *scorch.SegmentSnapshot, day, after string) (*stampWalk, error) {
	dict, err := seg.Segment().Dictionary(fieldStamp)
	if err != nil {
		return nil, err
	}
	w := &stampWalk{day: day, dict: dict, terms: termsOf(dict, []byte(day+after+"\x01")), deleted: seg.Deleted()}
	return w, w.next(ctx)
}

// next advances to the next stamp.
func (w *stampWalk) next(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry, err := w.terms.Next()
		if err != nil {
			return err
		}
		if entry == nil || !strings.HasPrefix(entry.Term, w.day) {
			w.term = ""
			return nil
		}
		w.term = entry.Term
		if w.deleted == nil {
			return nil
		}
		if w.list, err = w.dict.PostingsList([]byte(w.term), w.deleted, w.list); err != nil || w.list.Count() > 0 {
			return err
		}
	}
}

// firstOf returns the walk with the least current term; nil if all are at the end.
func firstOf(walks []*stampWalk) (first *stampWalk) {
	for _, w := range walks {
		if w.term != "" && (first == nil || w.term < first.term) {
			first = w
		}
	}
	return first
}

// having returns the number of items with the term. A dictionary's own count includes deleted and replaced
// items until a merge drops them.
func having(ctx context.Context, now bleveindex.IndexReader, field, term string) (sum uint64, err error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return 0, err
	}
	for _, seg := range snapshot.Segments() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		dict, err := seg.Segment().Dictionary(field)
		if err != nil {
			return 0, err
		}
		list, err := dict.PostingsList([]byte(term), seg.Deleted(), nil)
		if err != nil {
			return 0, err
		}
		sum += list.Count()
	}
	return sum, nil
}

// containedStamps moves the stamps that the index contains from stamps to the result.
func containedStamps(ctx context.Context, now bleveindex.IndexReader, stamps map[uint64][]byte) (map[uint64]bool, error) {
	has := map[uint64]bool{}
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	for _, seg := range snapshot.Segments() {
		if err := findStamps(ctx, seg, stamps, has); err != nil {
			return nil, err
		}
	}
	return has, nil
}

// findStamps moves the stamps that a segment contains from stamps to has.
func findStamps(ctx context.Context, seg *scorch.SegmentSnapshot, stamps map[uint64][]byte, has map[uint64]bool) error {
	dict, err := seg.Segment().Dictionary(fieldStamp)
	if err != nil {
		return err
	}
	var list segmentapi.PostingsList
	for id, stamp := range stamps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if list, err = dict.PostingsList(stamp, seg.Deleted(), list); err != nil {
			return err
		}
		if list.Count() > 0 {
			has[id] = true
			delete(stamps, id)
		}
	}
	return nil
}
