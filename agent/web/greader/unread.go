package greader

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"feedmesh/storage"
)

// maxUnread bounds a count: clients show it as 1000+.
const maxUnread = 1000

type unreadCount struct {
	ID     string `json:"id"`
	Count  int64  `json:"count"`
	Newest string `json:"newestItemTimestampUsec"`
}

func countOfStream(id string, u storage.UnreadCount) unreadCount {
	newest := "0"
	if !u.Newest.IsZero() {
		newest = strconv.FormatInt(u.Newest.UnixMicro(), 10)
	}
	return unreadCount{id, min(u.Count, maxUnread), newest}
}

// unreadCounts sends the number of unread items of each feed, of each folder, and in total.
func (s *markCalls) unreadCounts(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	unread, err := s.reading.Unread(r.Context())
	if err != nil {
		return err
	}
	var all storage.UnreadCount
	labels := map[string]storage.UnreadCount{}
	counts := []unreadCount{}
	err = storage.ForEachFeed(r.Context(), s.store, func(f storage.Feed) error {
		u, ok := unread[f.ID]
		if !ok {
			return nil
		}
		counts = append(counts, countOfStream(feedPrefix+f.ID, u))
		all = addUnread(all, u)
		for _, tag := range f.Tags {
			labels[tag] = addUnread(labels[tag], u)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		counts = append(counts, countOfStream(labelPrefix+name, labels[name]))
	}
	counts = append(counts, countOfStream(statePrefix+readingList, all))
	return sendJSON(w, map[string]any{"max": maxUnread, "unreadcounts": counts})
}

// addUnread returns the sum of two disjoint streams' counts.
func addUnread(a, b storage.UnreadCount) storage.UnreadCount {
	return storage.UnreadCount{Count: a.Count + b.Count, Newest: latest(a.Newest, b.Newest)}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
