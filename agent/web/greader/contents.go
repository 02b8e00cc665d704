package greader

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

const (
	maxContents = 1000 // items with texts in a response
	itemBatch   = 25   // items loaded from the store in a batch, which bounds memory
)

// A content is an item with its text, as encoded for clients.
type content struct {
	ID            string            `json:"id"`
	CrawlTimeMsec string            `json:"crawlTimeMsec"`
	TimestampUsec string            `json:"timestampUsec"`
	Published     int64             `json:"published"` // seconds
	Updated       int64             `json:"updated,omitempty"`
	Title         string            `json:"title"`
	Author        string            `json:"author,omitempty"`
	Canonical     []link            `json:"canonical,omitempty"`
	Alternate     []link            `json:"alternate,omitempty"`
	Enclosure     []link            `json:"enclosure,omitempty"`
	Categories    []string          `json:"categories"`
	Origin        origin            `json:"origin"`
	Summary       map[string]string `json:"summary"`
}

type link struct {
	Href   string `json:"href"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"`
}

type origin struct {
	StreamID string `json:"streamId"`
	Title    string `json:"title"`
	HTMLURL  string `json:"htmlUrl"`
}

// itemCalls are the calls that list items.
type itemCalls struct{ *streams }

// itemContents sends the items with the requested IDs.
func (s *itemCalls) itemContents(w http.ResponseWriter, r *http.Request, p url.Values) error {
	ids, err := s.requestedItems(r.Context(), p)
	if err != nil {
		return err
	}
	if len(ids) > maxContents {
		return badRequest("at most 1000 items may be requested")
	}
	marks, err := s.store.MarksOf(r.Context(), access.From(r.Context()).ID, ids...)
	if err != nil {
		return err
	}
	return s.sendContents(w, r, statePrefix+readingList, marks, "")
}

// streamContents sends a page of a stream with the items' texts.
func (s *itemCalls) streamContents(w http.ResponseWriter, r *http.Request, p url.Values) error {
	id := streamParameter(r, p)
	page, next, err := s.list(r.Context(), access.From(r.Context()).ID, id, p, maxContents)
	if err != nil {
		return err
	}
	return s.sendContents(w, r, id, page, next)
}

// streamParameter returns the ID of the requested stream, from the path or from s. The default is the reading
// list.
func streamParameter(r *http.Request, p url.Values) string {
	return cmp.Or(r.PathValue("stream"), p.Get("s"), statePrefix+readingList)
}

// sendContents streams items to the client while it loads them in batches, because an item may have a
// megabyte: the response is never buffered as a whole.
func (s *itemCalls) sendContents(w http.ResponseWriter, r *http.Request, id string, marks []storage.MarkedItem, next string) error {
	head, err := json.Marshal(map[string]any{"direction": "ltr", "id": id, "updated": s.now().Unix()})
	if err != nil {
		return err
	}
	tail := "]}"
	if next != "" {
		tail = `],"continuation":` + strconv.Quote(next) + "}"
	}
	return SendList(w, strings.TrimSuffix(string(head), "}")+`,"items":[`, tail, func(send func(any) error) error {
		for c, err := range s.contents(r.Context(), marks) {
			if err == nil {
				err = send(c)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// contents yields the items that still exist, in their order. It loads them in batches, and caches their
// feeds for the response.
func (s *itemCalls) contents(ctx context.Context, marks []storage.MarkedItem) func(yield func(content, error) bool) {
	return func(yield func(content, error) bool) {
		feeds := map[string]storage.Feed{}
		labels, err := s.reading.LabelsByItem(ctx)
		if err != nil {
			yield(content{}, err)
			return
		}
		for batch := range slices.Chunk(marks, itemBatch) {
			ids, markOf := make([]string, len(batch)), map[string]storage.MarkedItem{}
			for i, m := range batch {
				ids[i], markOf[m.ItemID] = m.ItemID, m
			}
			items, err := s.store.Items(ctx, ids...)
			if err != nil {
				yield(content{}, err)
				return
			}
			for _, item := range items {
				feed, loaded := feeds[item.FeedID]
				if !loaded {
					feed, _ = s.store.Feed(ctx, item.FeedID) // on failure the title stays empty
					feeds[item.FeedID] = feed
				}
				if !yield(s.contentOf(item, feed, markOf[item.ID], labels[item.ID]), nil) {
					return
				}
			}
		}
	}
}

// contentOf returns an item as encoded for clients.
func (s *itemCalls) contentOf(i storage.Item, f storage.Feed, m storage.MarkedItem, labels []string) content {
	c := content{
		ID:            longID(i.ID),
		CrawlTimeMsec: strconv.FormatInt(i.FirstSeen.UnixMilli(), 10),
		TimestampUsec: strconv.FormatInt(i.FirstSeen.UnixMicro(), 10),
		Published:     i.Published.Unix(),
		Title:         AsHTML(i.Title), Author: AsHTML(i.Author),
		Categories: s.categories(f, m, labels),
		Origin:     origin{feedPrefix + i.FeedID, AsHTML(f.Name()), storage.WebURL(f.Site)},
		Summary:    map[string]string{"direction": "ltr", "content": i.HTML},
	}
	if !i.Updated.IsZero() {
		c.Updated = i.Updated.Unix()
	}
	if address := storage.WebURL(i.URL); address != "" {
		c.Canonical, c.Alternate = []link{{Href: address}}, []link{{Href: address, Type: "text/html"}}
	}
	for _, e := range i.Enclosures {
		if address := storage.WebURL(e.URL); address != "" && e.Player == "" { // programs download enclosures
			c.Enclosure = append(c.Enclosure, link{address, e.Type, e.Length})
		}
	}
	return c
}

// categories returns the streams that contain an item, except its feed's. labels are the client's.
func (s *itemCalls) categories(f storage.Feed, m storage.MarkedItem, labels []string) []string {
	all := []string{statePrefix + readingList}
	if m.Read || m.FirstSeen.Before(s.unreadSince()) {
		all = append(all, statePrefix+read)
	}
	if m.Starred {
		all = append(all, statePrefix+starred)
	}
	for _, tag := range f.Tags {
		all = append(all, labelPrefix+tag)
	}
	for _, label := range labels {
		if !slices.Contains(f.Tags, label) {
			all = append(all, labelPrefix+label)
		}
	}
	return all
}

// AsHTML makes plain text safe for clients. Some render titles as HTML, others show them literally, so that
// no escape is right for both. As in FreshRSS, it replaces the characters that form tags and references by
// full-width ones.
func AsHTML(text string) string { return noTags.Replace(text) }

var noTags = strings.NewReplacer("<", "＜", ">", "＞", "&lt", "＆lt", "&LT", "＆LT", "&#", "＆#")
