package greader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"feedmesh/agent/service/reading"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// markCalls are the calls that change and count the marks of items.
type markCalls struct{ *streams }

// editTag marks and labels items. Clients remove an item's state (r), add the opposite state (a), or both.
func (s *markCalls) editTag(r *http.Request, p url.Values) error {
	m, add, remove, err := markChange(p)
	if err != nil {
		return err
	}
	ids, err := s.requestedItems(r.Context(), p)
	if err != nil {
		return err
	}
	if err := s.changeLabels(r.Context(), add, remove, ids); err != nil {
		return err
	}
	return s.reading.Mark(r.Context(), m, ids...)
}

// maxLabelled bounds the items whose labels a request may change, each in a transaction of its own.
const maxLabelled = 1000

// changeLabels adds and removes labels of items.
func (s *markCalls) changeLabels(ctx context.Context, add, remove, ids []string) error {
	if len(add)+len(remove) == 0 {
		return nil
	}
	if len(ids) > maxLabelled {
		return badRequest(fmt.Sprintf("at most %d items may be labelled", maxLabelled))
	}
	return limited(s.reading.ChangeLabels(ctx, add, remove, ids...))
}

// limited returns the error of labels beyond their limits as one that the request caused.
func limited(err error) error {
	if limit := new(*reading.LimitError); errors.As(err, limit) {
		return badRequest((*limit).Reason)
	}
	return err
}

// markChange returns the changes of marks and labels that a request contains. States that are not stored, such as liked,
// are ignored.
func markChange(p url.Values) (m storage.MarkChange, add, remove []string, err error) {
	if len(p["a"])+len(p["r"]) == 0 {
		return m, nil, nil, badRequest("no state to change; set a or r")
	}
	for _, id := range p["r"] {
		switch target, _ := parseStream(id); {
		case target.label != "":
			remove = append(remove, target.label)
		case target.state == read:
			m.Read = &no
		case target.state == starred:
			m.Starred = &no
		}
	}
	for _, id := range p["a"] {
		switch target, _ := parseStream(id); {
		case target.label != "":
			add = append(add, target.label)
		case target.state == read:
			m.Read = &yes
		case target.state == unread, target.state == keptUnread:
			m.Read = &no
		case target.state == starred:
			m.Starred = &yes
		}
	}
	return m, add, remove, nil
}

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
	if is, err := s.reading.IsLabel(r.Context(), target.label); err != nil || is {
		if err == nil {
			_, err = s.reading.MarkAll(r.Context(), wire.MarkAllReadRequest{Body: wire.ReadStream{Label: target.label, Until: until}})
		}
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
