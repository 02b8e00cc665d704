package greader

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// maxUnread is how high counts go: clients show it as 1000+.
const maxUnread = 1000

type unreadCount struct {
	ID     string `json:"id"`
	Count  int64  `json:"count"`
	Newest string `json:"newestItemTimestampUsec"`
}

func countOfStream(id string, u storage.Unread) unreadCount {
	newest := "0"
	if !u.Newest.IsZero() {
		newest = strconv.FormatInt(u.Newest.UnixMicro(), 10)
	}
	return unreadCount{id, min(u.Count, maxUnread), newest}
}

// unreadCounts answers how much is unread of each feed and folder, and of all.
func (s *server) unreadCounts(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	unread, err := s.Store.CountUnread(r.Context(), access.From(r.Context()).ID, s.unreadSince())
	if err != nil {
		return err
	}
	var all storage.Unread
	labels := map[string]storage.Unread{}
	counts := []unreadCount{}
	err = storage.EachFeed(r.Context(), s.Store, func(f storage.Feed) error {
		u, is := unread[f.ID]
		if !is {
			return nil
		}
		counts = append(counts, countOfStream(feedPrefix+f.ID, u))
		all = together(all, u)
		for _, tag := range f.Tags {
			labels[tag] = together(labels[tag], u)
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

// together returns what is unread of two streams that share nothing.
func together(a, b storage.Unread) storage.Unread {
	return storage.Unread{Count: a.Count + b.Count, Newest: latest(a.Newest, b.Newest)}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
