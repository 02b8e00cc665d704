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

// dayOf returns the day t lies in as a term.
func dayOf(t time.Time) string { return sortable(storage.Day(t)) }

// stampOf returns the day, the ID and the time of change of an item as one
// term, so that the terms of a day are its stamps, by ID. The NUL, which is in no
// ID, has an ID come before all that begin with it.
func stampOf(it *storage.Item) string {
	return dayOf(it.FirstSeen) + it.ID + "\x00" + sortable(it.Changed)
}

// stampIn returns the stamp that a term from stampOf tells of.
func stampIn(term string) (s storage.Stamp, err error) {
	if len(term) < 2*timeLength+1 {
		return s, fmt.Errorf("the term %q is no stamp", term)
	}
	end := len(term) - timeLength
	s.ID = term[timeLength : end-1]
	s.Changed, err = timeOf(term[end:])
	return s, err
}

// timeLength is the length of what sortable returns.
const timeLength = 16

// sign is the bit in which signed numbers differ from unsigned ones that have
// the same order.
const sign = 1 << 63

// sortable returns t, to the microsecond, as characters that sort by time.
func sortable(t time.Time) string { return fmt.Sprintf("%016x", uint64(t.UnixMicro())^sign) }

// timeOf returns the time that sortable was given.
func timeOf(text string) (time.Time, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	return time.UnixMicro(int64(n ^ sign)).UTC(), err
}

// Days implements [storage.Stamped].
func (x *Index) Days(ctx context.Context) (days map[time.Time]int64, err error) {
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		days, err = daysIn(ctx, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count indexed items by day: %w", err)
	}
	return days, nil
}

func daysIn(ctx context.Context, now bleveindex.IndexReader) (map[time.Time]int64, error) {
	dict, err := now.FieldDict(fieldDay)
	if err != nil {
		return nil, err
	}
	defer dict.Close()
	days := map[time.Time]int64{}
	for {
		entry, err := dict.Next()
		if entry == nil || err != nil {
			return days, err
		}
		day, err := timeOf(entry.Term)
		if err != nil {
			return nil, err
		}
		n, err := having(ctx, now, fieldDay, entry.Term)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			days[day] = int64(n)
		}
	}
}

// Stamps implements [storage.Stamped].
func (x *Index) Stamps(ctx context.Context, day time.Time, after string, limit int) (stamps []storage.Stamp, err error) {
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		stamps, err = stampsIn(now, day, after, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("walk over indexed items: %w", err)
	}
	return stamps, nil
}

func stampsIn(now bleveindex.IndexReader, day time.Time, after string, limit int) (stamps []storage.Stamp, err error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	var walks []*stampWalk
	for _, seg := range snapshot.Segments() {
		w, err := newStampWalk(seg, dayOf(day), after)
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
		if err := first.next(); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

// A stampWalk goes over the stamps of a day that a segment has, without those of
// documents that are deleted. It asks for no document where none is deleted, and
// else in its own segment alone: to ask all of them takes longer than all else.
type stampWalk struct {
	day     string
	dict    segmentapi.TermDictionary
	terms   segmentapi.DictionaryIterator
	deleted *roaring.Bitmap // nil if none is
	list    segmentapi.PostingsList
	term    string // where it stands; empty at its end
}

func newStampWalk(seg *scorch.SegmentSnapshot, day, after string) (*stampWalk, error) {
	dict, err := seg.Segment().Dictionary(fieldStamp)
	if err != nil {
		return nil, err
	}
	w := &stampWalk{day: day, dict: dict, terms: termsOf(dict, []byte(day+after+"\x01")), deleted: seg.Deleted()}
	return w, w.next()
}

// next goes to the next stamp.
func (w *stampWalk) next() error {
	for {
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

// firstOf returns the walk that stands at the first term; nil if all are at their end.
func firstOf(walks []*stampWalk) (first *stampWalk) {
	for _, w := range walks {
		if w.term != "" && (first == nil || w.term < first.term) {
			first = w
		}
	}
	return first
}

// having returns how many items have the term. A dictionary tells too many: it
// has items that are deleted or replaced, too, until a merge drops them.
func having(ctx context.Context, now bleveindex.IndexReader, field, term string) (uint64, error) {
	items, err := now.TermFieldReader(ctx, []byte(term), field, false, false, false)
	if err != nil {
		return 0, err
	}
	defer items.Close()
	return items.Count(), nil
}

// has returns, by hash of the ID, those of the items that the index has as they are,
// where what was put lately does not tell: their stamps say so, as they do to who
// compares the index with the store.
func (x *Index) has(ctx context.Context, items []storage.Indexed) (map[uint64]bool, error) {
	stamps := map[uint64][]byte{}
	for i := range items {
		if it := &items[i].Item; !it.Changed.IsZero() && !x.lately.knows(x.lately.hash(it.ID)) {
			stamps[x.lately.hash(it.ID)] = []byte(stampOf(it))
		}
	}
	has := map[uint64]bool{}
	if len(stamps) == 0 {
		return has, nil
	}
	return has, x.read(ctx, func(now bleveindex.IndexReader) error {
		snapshot, err := snapshotOf(now)
		if err != nil {
			return err
		}
		for _, seg := range snapshot.Segments() {
			if err := findStamps(seg, stamps, has); err != nil {
				return err
			}
		}
		return nil
	})
}

// findStamps takes those stamps that a segment has from stamps, and adds them to has.
func findStamps(seg *scorch.SegmentSnapshot, stamps map[uint64][]byte, has map[uint64]bool) error {
	dict, err := seg.Segment().Dictionary(fieldStamp)
	if err != nil {
		return err
	}
	var list segmentapi.PostingsList
	for id, stamp := range stamps {
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
