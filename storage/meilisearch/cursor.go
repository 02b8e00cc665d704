package meilisearch

import "feedmesh/storage"

// A cursor is the end of a page: the last hit and its place.
type cursor struct {
	Query     string `json:"q"`
	Published string `json:"t"`
	Key       string `json:"i"`
	Place     int64  `json:"n,omitempty"` // from 1; 0 if ordered by time with repeated stories
	Fuzzy     bool   `json:"f,omitempty"` // see [storage.Results]
}

func (c cursor) String() string { return storage.PackCursor(c) }

// parseCursor returns the query's cursor, or the zero cursor if it has none.
func parseCursor(q storage.Query) (c cursor, err error) {
	if q.Cursor == "" {
		return c, nil
	}
	if storage.UnpackCursor(q.Cursor, &c) != nil || c.Query != q.Key() || c.Place < 0 || c.Place > 1<<53 {
		return cursor{}, storage.ErrBadCursor
	}
	return c, nil
}
