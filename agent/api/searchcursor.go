package api

import (
	"strconv"
	"strings"
	"time"

	"feedmesh/storage"
)

// A cursor is the place of a page in what a search finds. All pages are found as of
// one time, or they would not fit: "age:<2d" counts from it, and so does freshness.
type cursor struct {
	at      time.Time // whole minutes
	engine  string    // cursor of the index or the store; empty: the first page
	byStore bool
}

// maxSkew is by how much the clocks of two nodes may differ that answer for pages of
// one search.
const maxSkew = time.Hour

func (c cursor) String() string {
	if c.engine == "" {
		return ""
	}
	kind := ""
	if c.byStore {
		kind = ByStore
	}
	return strconv.FormatInt(c.at.Unix()/60, 36) + "." + kind + "." + c.engine
}

// readCursor reads a cursor; the empty one is that of the first page, as of now. It
// returns [storage.ErrBadCursor] for what is none.
func readCursor(s string, now time.Time) (cursor, error) {
	if s == "" {
		return cursor{at: now.UTC().Truncate(time.Minute)}, nil
	}
	at, rest, _ := strings.Cut(s, ".")
	kind, engine, _ := strings.Cut(rest, ".")
	minutes, err := strconv.ParseInt(at, 36, 32)
	c := cursor{at: time.Unix(minutes*60, 0).UTC(), engine: engine, byStore: kind == ByStore}
	if err != nil || minutes < 0 || c.at.After(now.Add(maxSkew)) || engine == "" || kind != "" && kind != ByStore {
		return cursor{}, storage.ErrBadCursor
	}
	return c, nil
}
