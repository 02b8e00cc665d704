package fever

import (
	"context"
	"net/url"
	"strings"
	"time"

	"feedmesh/storage"
)

var yes, no = true, false

// changes are the changes of marks by their name in the protocol. unread is an extension that apps use.
var changes = map[string]storage.MarkChange{
	"read": {Read: &yes}, "unread": {Read: &no}, "saved": {Starred: &yes}, "unsaved": {Starred: &no},
}

// Numbers of groups that are not tags.
const (
	allFeeds = 0  // all feeds but sparks
	sparks   = -1 // always empty here
)

// mark changes the mark of an item, or marks the items of a feed or a group as read. It returns the member of the answer with
// the list that it changed.
func (s *server) mark(ctx context.Context, p url.Values) (list string, err error) {
	change, known := changes[p.Get("as")]
	if !known {
		return "", &requestError{"as is none of read, unread, saved, unsaved"}
	}
	if change.Read != nil {
		list = "unread_item_ids"
	} else {
		list = "saved_item_ids"
	}
	id, err := numberOrSparks(p)
	if err != nil {
		return "", err
	}
	kind := p.Get("mark")
	if kind == "group" && (id == allFeeds || id == sparks) {
		return list, s.markStream(ctx, change, storage.Stream{}, id == sparks, p)
	}
	names, err := s.store.NamesOf(ctx, id)
	if err != nil {
		return "", err
	}
	name := names[id]
	feedID, isFeed := strings.CutPrefix(name, storage.FeedSerial(""))
	tag, isTag := strings.CutPrefix(name, storage.TagSerial(""))
	switch {
	case kind != "item" && kind != "feed" && kind != "group":
		return "", &requestError{"mark is none of item, feed, group"}
	case kind == "item" && name != "" && !isFeed && !isTag:
		return list, s.reading.Mark(ctx, change, name)
	case kind == "feed" && isFeed:
		return list, s.markStream(ctx, change, storage.Stream{FeedID: feedID}, false, p)
	case kind == "group" && isTag:
		return list, s.markStream(ctx, change, storage.Stream{Tag: tag}, false, p)
	}
	return list, nil // what was removed meanwhile
}

func numberOrSparks(p url.Values) (int64, error) {
	if p.Get("id") == "-1" {
		return sparks, nil
	}
	return number(p, "id")
}

// markStream marks the items of a stream as read that arrived up to the second of before, the time of the app's last request
// for items.
func (s *server) markStream(ctx context.Context, change storage.MarkChange, stream storage.Stream, empty bool, p url.Values) error {
	if change.Read == nil || !*change.Read {
		return &requestError{"a feed or a group can only be marked as read"}
	}
	before, err := number(p, "before")
	if err != nil || empty {
		return err
	}
	until := s.now()
	if end := time.Unix(before, 0).Add(time.Second - time.Microsecond); before > 0 && end.Before(until) {
		until = end
	}
	return s.reading.MarkStream(ctx, stream, until)
}
