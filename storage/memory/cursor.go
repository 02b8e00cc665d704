package memory

import (
	"cmp"

	"feedmesh/storage"
)

// An indexPosition is the sort key of an item in the results of a query.
type indexPosition struct {
	Score     float64 `json:"s,omitempty"`
	Published int64   `json:"t"` // microseconds
	ID        string  `json:"i"`
}

// compare orders by score, then newest first, then by ID.
func (a indexPosition) compare(b indexPosition) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Published, a.Published), cmp.Compare(a.ID, b.ID))
}

// An indexCursor contains the position of a page's last item, and the state of its search.
type indexCursor struct {
	Query string `json:"q"`
	indexPosition
	Forgiven bool               `json:"f,omitempty"`
	Rarity   map[string]float64 `json:"r,omitempty"`
}

func (c indexCursor) String() string { return storage.PackCursor(c) }

func parseIndexCursor(q storage.Query) (c indexCursor, err error) {
	if q.Cursor == "" {
		return c, nil
	}
	if storage.UnpackCursor(q.Cursor, &c) != nil || c.Query != q.Key() {
		return c, storage.ErrBadCursor
	}
	return c, nil
}
