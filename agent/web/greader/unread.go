package greader

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

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
	totals, err := s.reading.Totals(r.Context())
	if err != nil {
		return err
	}
	counts := []unreadCount{}
	for _, of := range []struct {
		prefix string
		counts map[string]storage.UnreadCount
	}{{feedPrefix, totals.Feeds}, {labelPrefix, totals.Folders}} {
		for _, name := range slices.Sorted(maps.Keys(of.counts)) {
			counts = append(counts, countOfStream(of.prefix+name, of.counts[name]))
		}
	}
	counts = append(counts, countOfStream(statePrefix+readingList, totals.All))
	return sendJSON(w, map[string]any{"max": maxUnread, "unreadcounts": counts})
}
