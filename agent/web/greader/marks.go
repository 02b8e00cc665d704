package greader

import (
	"errors"
	"net/http"
	"net/url"

	"feedmesh/storage"
)

// markCalls are the calls that change and count the marks of items.
type markCalls struct{ *streams }

// editTag marks items. Clients remove an item's state (r), add the opposite state (a), or both.
func (s *markCalls) editTag(r *http.Request, p url.Values) error {
	m, err := markChange(p)
	if err != nil {
		return err
	}
	ids, err := s.requestedItems(r.Context(), p)
	if err != nil {
		return err
	}
	return s.reading.Mark(r.Context(), m, ids...)
}

// markChange returns the change of marks that a request contains. States that are not stored, such as liked,
// are ignored; labels are an error because users would miss them.
func markChange(p url.Values) (m storage.MarkChange, err error) {
	if len(p["a"])+len(p["r"]) == 0 {
		return m, badRequest("no state to change; set a or r")
	}
	for _, id := range p["r"] {
		switch target, _ := parseStream(id); {
		case target.label != "":
			return m, errNoLabels
		case target.state == read:
			m.Read = &no
		case target.state == starred:
			m.Starred = &no
		}
	}
	for _, id := range p["a"] {
		switch target, _ := parseStream(id); {
		case target.label != "":
			return m, errNoLabels
		case target.state == read:
			m.Read = &yes
		case target.state == unread, target.state == keptUnread:
			m.Read = &no
		case target.state == starred:
			m.Starred = &yes
		}
	}
	return m, nil
}

var errNoLabels = badRequest("items can't have labels; label the feed")

// markAllRead marks all items of a stream as read, up to the time of the client's last update.
func (s *markCalls) markAllRead(r *http.Request, p url.Values) error {
	until, err := timeParameter(p, "ts")
	if err != nil {
		return err
	}
	if now := s.now(); until.IsZero() || until.After(now) {
		until = now
	}
	target, err := parseStream(p.Get("s"))
	if err != nil {
		return err
	}
	stream := storage.Stream{Tag: target.label}
	switch {
	case target.feed != "":
		stream.FeedID, err = s.feedID(r.Context(), target.feed)
		if errors.Is(err, storage.ErrNotFound) {
			return nil // the feed has no unread items
		}
	case target.state != "" && target.state != readingList:
		err = badRequest("only the reading list, a feed or a label can be marked as read")
	}
	if err != nil {
		return err
	}
	return s.reading.MarkStream(r.Context(), stream, until)
}
