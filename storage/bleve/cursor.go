package bleve

import "feedmesh/storage"

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
