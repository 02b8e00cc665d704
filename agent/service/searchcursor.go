package service

import (
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A cursor is a position in search results. All pages are evaluated at the time of the first: "age:<2d" and
// freshness count from it.
type cursor struct {
	at      time.Time // whole minutes
	engine  string    // cursor of the index or the store; empty: the first page
	byStore bool
}

// maxSkew is the tolerated clock difference of nodes that serve pages of one search.
const maxSkew = time.Hour

func (c cursor) String() string {
	if c.engine == "" {
		return ""
	}
	kind := ""
	if c.byStore {
		kind = wire.ByStore
	}
	return strconv.FormatInt(c.at.Unix()/60, 36) + "." + kind + "." + c.engine
}

// readCursor parses a cursor; an empty cursor starts a search now. It returns [storage.ErrBadCursor] if it is
// invalid.
func readCursor(s string, now time.Time) (cursor, error) {
	if s == "" {
		return cursor{at: now.UTC().Truncate(time.Minute)}, nil
	}
	at, rest, _ := strings.Cut(s, ".")
	kind, engine, _ := strings.Cut(rest, ".")
	minutes, err := strconv.ParseInt(at, 36, 32)
	c := cursor{at: time.Unix(minutes*60, 0).UTC(), engine: engine, byStore: kind == wire.ByStore}
	if err != nil || minutes < 0 || c.at.After(now.Add(maxSkew)) || engine == "" || kind != "" && kind != wire.ByStore {
		return cursor{}, storage.ErrBadCursor
	}
	return c, nil
}
