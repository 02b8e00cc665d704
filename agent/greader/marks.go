package greader

import (
	"errors"
	"net/http"
	"net/url"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// editTag marks items. Clients take an item's state away (r), or add one that is its
// opposite (a), or both.
func (s *server) editTag(w http.ResponseWriter, r *http.Request, p url.Values) error {
	m, err := markingOf(p)
	if err != nil {
		return err
	}
	ids, err := s.named(r.Context(), p)
	if err != nil {
		return err
	}
	if err := s.Store.Mark(r.Context(), access.From(r.Context()).ID, m, ids...); err != nil {
		return err
	}
	return sendOK(w)
}

// markingOf returns what a request says of items. What we do not keep, such as that
// an item is liked, is let pass; but a label would be missed.
func markingOf(p url.Values) (m storage.Marking, err error) {
	if len(p["a"])+len(p["r"]) == 0 {
		return m, badRequest("neither a nor r says what to change")
	}
	for _, id := range p["r"] {
		switch of, _ := parseStream(id); {
		case of.label != "":
			return m, errNoLabels
		case of.state == read:
			m.Read = &no
		case of.state == starred:
			m.Starred = &no
		}
	}
	for _, id := range p["a"] {
		switch of, _ := parseStream(id); {
		case of.label != "":
			return m, errNoLabels
		case of.state == read:
			m.Read = &yes
		case of.state == unread, of.state == keptUnread:
			m.Read = &no
		case of.state == starred:
			m.Starred = &yes
		}
	}
	return m, nil
}

var errNoLabels = badRequest("items have no labels here, only feeds have: put the label on the feed")

// markAllRead marks all of a stream read, up to when the client knows it.
func (s *server) markAllRead(w http.ResponseWriter, r *http.Request, p url.Values) error {
	until, err := timeOf(p, "ts")
	if err != nil {
		return err
	}
	if now := s.Now(); until.IsZero() || until.After(now) {
		until = now
	}
	of, err := parseStream(p.Get("s"))
	if err != nil {
		return err
	}
	some := storage.Stream{Tag: of.label}
	switch {
	case of.feed != "":
		some.FeedID, err = s.feedID(r.Context(), of.feed)
		if errors.Is(err, storage.ErrNotFound) {
			return sendOK(w) // nothing of it is unread
		}
	case of.state != "" && of.state != readingList:
		err = badRequest("only all, a feed or a label can be marked read")
	}
	if err != nil {
		return err
	}
	if err := s.Store.MarkAllRead(r.Context(), access.From(r.Context()).ID, some, until); err != nil {
		return err
	}
	return sendOK(w)
}
