package memory

import (
	"cmp"

	"feedmesh/storage"
)

// An indexPlace is where an item stands in the order of a query's results.
type indexPlace struct {
	Score     float64 `json:"s,omitempty"`
	Published int64   `json:"t"` // microseconds, as everywhere in storage
	ID        string  `json:"i"`
}

// compare orders by score, then newest first, then by ID.
func (a indexPlace) compare(b indexPlace) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Published, a.Published), cmp.Compare(a.ID, b.ID))
}

// An indexCursor is the place of a page's last item, and how it was found.
type indexCursor struct {
	Query string `json:"q"`
	indexPlace
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
