package bleve

import (
	"cmp"
	"container/heap"
	"slices"

	"feedmesh/storage"
)

// A place is the position of a document in the results.
type place struct {
	score     float64 // 0 where order is by time
	published int64   // microseconds
	story     uint64  // see columns
	segment   *segment
	doc       uint32
}

// id returns the ID of the document.
func (p *place) id() string {
	id, _ := p.segment.id(p.doc) // never fails for a document there is
	return id
}

// compare orders by score, then newest first, then by ID.
func (p *place) compare(o *place) int {
	c := cmp.Or(cmp.Compare(o.score, p.score), cmp.Compare(o.published, p.published))
	if c == 0 {
		return cmp.Compare(p.id(), o.id())
	}
	return c
}

// isAfter reports whether the place is after the cursor.
func (p *place) isAfter(c *cursor) bool {
	at := cmp.Or(cmp.Compare(c.Score, p.score), cmp.Compare(c.Published, p.published))
	if at == 0 {
		return p.id() > c.ID
	}
	return at > 0
}

// A top collects the first size places in order.
type top struct {
	size   int
	after  *cursor         // exclusive lower bound; nil: none
	shown  map[uint64]bool // stories already shown, whose places are skipped; nil: every place counts
	places lastFirst
}

// A lastFirst is a heap of places with the last place on top.
type lastFirst []place

func (h lastFirst) Len() int           { return len(h) }
func (h lastFirst) Less(i, j int) bool { return h[i].compare(&h[j]) > 0 }
func (h lastFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lastFirst) Push(p any)        { *h = append(*h, p.(place)) }
func (h *lastFirst) Pop() any          { panic("nothing is taken from it") }

// offer adds the place if it is among the first size.
func (t *top) offer(p place) {
	full := len(t.places) == t.size
	if full && p.score < t.places[0].score || t.after != nil && !p.isAfter(t.after) {
		return
	}
	if full && p.compare(&t.places[0]) > 0 {
		return
	}
	if t.shown != nil && p.story != 0 {
		if t.shown[p.story] {
			return
		}
		same := slices.IndexFunc(t.places, func(o place) bool { return o.story == p.story })
		if same >= 0 {
			if p.compare(&t.places[same]) < 0 {
				t.places[same] = p
				heap.Fix(&t.places, same)
			}
			return
		}
	}
	if full {
		t.places[0] = p
		heap.Fix(&t.places, 0)
		return
	}
	heap.Push(&t.places, p)
}

// sorted returns the places kept, in order.
func (t *top) sorted() []place {
	slices.SortFunc(t.places, func(a, b place) int { return a.compare(&b) })
	return t.places
}

// A cursor is where a page ends. It takes along what scores depend on besides the
// items: the weights that the words had for the first page, which depend on how
// many items have them, and when it was. If those changed from page to page, items
// would change places meanwhile.
type cursor struct {
	Query     string    `json:"q"`
	Score     float64   `json:"s,omitempty"`
	Published int64     `json:"t"` // microseconds
	ID        string    `json:"i"`
	Weights   []float64 `json:"w,omitempty"`
	Now       int64     `json:"n,omitempty"` // microseconds; 0 if freshness does not count
	Fuzzy     bool      `json:"f,omitempty"`
}

func (c cursor) String() string { return storage.PackCursor(c) }

// parseCursor returns the query's cursor, or the zero cursor if it has none.
func parseCursor(q storage.Query) (c cursor, err error) {
	if q.Cursor == "" {
		return c, nil
	}
	if storage.UnpackCursor(q.Cursor, &c) != nil || c.Query != q.Key() {
		return cursor{}, storage.ErrBadCursor
	}
	return c, nil
}
