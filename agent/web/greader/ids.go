package greader

import (
	"net/http"
	"net/url"
	"strconv"

	"feedmesh/agent/access"
)

// An itemRef is an item's ID with its feed and time.
type itemRef struct {
	ID              string   `json:"id"`
	DirectStreamIDs []string `json:"directStreamIds"`
	TimestampUsec   string   `json:"timestampUsec"`
}

// itemIDs sends the IDs of a stream's items.
func (s *itemCalls) itemIDs(w http.ResponseWriter, r *http.Request, p url.Values) error {
	page, next, err := s.list(r.Context(), access.From(r.Context()).ID, streamParameter(r, p), p, maxItemIDs)
	if err != nil {
		return err
	}
	answer := struct {
		ItemRefs     []itemRef `json:"itemRefs"`
		Continuation string    `json:"continuation,omitempty"`
	}{make([]itemRef, len(page)), next}
	for i, m := range page {
		answer.ItemRefs[i] = itemRef{shortID(m.ItemID), []string{feedPrefix + m.FeedID}, strconv.FormatInt(m.FirstSeen.UnixMicro(), 10)}
	}
	return sendJSON(w, answer)
}
