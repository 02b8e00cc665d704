package greader

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

const (
	maxContents = 1000 // items of an answer with their texts
	atOnce      = 25   // of those that are held in memory
)

// A content is an item with its text, as clients read it.
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

// itemContents answers what the items are that are named.
func (s *server) itemContents(w http.ResponseWriter, r *http.Request, p url.Values) error {
	ids, err := s.named(r.Context(), p)
	if err != nil {
		return err
	}
	if len(ids) > maxContents {
		return badRequest("more than 1000 items are asked for at once")
	}
	marks, err := s.Store.MarksOf(r.Context(), access.From(r.Context()).ID, ids...)
	if err != nil {
		return err
	}
	return s.sendContents(w, r, statePrefix+readingList, marks, "")
}

// streamContents answers a page of a stream, items whole.
func (s *server) streamContents(w http.ResponseWriter, r *http.Request, p url.Values) error {
	id := streamOf(r, p)
	page, next, err := s.list(r.Context(), access.From(r.Context()).ID, id, p, maxContents)
	if err != nil {
		return err
	}
	return s.sendContents(w, r, id, page, next)
}

// streamOf returns the ID of the stream that a request names in its path, or s, or
// nowhere: then it means all.
func streamOf(r *http.Request, p url.Values) string {
	return cmp.Or(r.PathValue("stream"), p.Get("s"), statePrefix+readingList)
}

// sendContents answers items, as they are read: some may be a megabyte.
func (s *server) sendContents(w http.ResponseWriter, r *http.Request, id string, marks []storage.Marked, next string) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	head, err := json.Marshal(map[string]any{"direction": "ltr", "id": id, "updated": s.Now().Unix()})
	if err != nil {
		return err
	}
	sent := 0
	for c, err := range s.contents(r.Context(), marks) {
		if err != nil && sent == 0 {
			return err
		}
		if err != nil { // a client must not take what it got for all
			panic(http.ErrAbortHandler)
		}
		before := ","
		if sent == 0 {
			before = strings.TrimSuffix(string(head), "}") + `,"items":[`
		}
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		io.WriteString(w, before)
		w.Write(text)
		sent++
	}
	if sent == 0 {
		io.WriteString(w, strings.TrimSuffix(string(head), "}")+`,"items":[`)
	}
	if next != "" {
		io.WriteString(w, `],"continuation":`+strconv.Quote(next)+"}")
		return nil
	}
	io.WriteString(w, "]}")
	return nil
}

// contents yields the items that are there still, in their order.
func (s *server) contents(ctx context.Context, marks []storage.Marked) func(yield func(content, error) bool) {
	return func(yield func(content, error) bool) {
		feeds := map[string]storage.Feed{}
		for some := range slices.Chunk(marks, atOnce) {
			ids, markOf := make([]string, len(some)), map[string]storage.Marked{}
			for i, m := range some {
				ids[i], markOf[m.ItemID] = m.ItemID, m
			}
			items, err := s.Store.Items(ctx, ids...)
			if err != nil {
				yield(content{}, err)
				return
			}
			for _, item := range items {
				feed, known := feeds[item.FeedID]
				if !known {
					feed, _ = s.Store.Feed(ctx, item.FeedID) // without it there is no title
					feeds[item.FeedID] = feed
				}
				if !yield(s.contentOf(item, feed, markOf[item.ID]), nil) {
					return
				}
			}
		}
	}
}

// contentOf returns an item as clients read it.
func (s *server) contentOf(i storage.Item, f storage.Feed, m storage.Marked) content {
	c := content{
		ID:            longID(i.ID),
		CrawlTimeMsec: strconv.FormatInt(i.FirstSeen.UnixMilli(), 10),
		TimestampUsec: strconv.FormatInt(i.FirstSeen.UnixMicro(), 10),
		Published:     i.Published.Unix(),
		Title:         asHTML(i.Title), Author: asHTML(i.Author),
		Categories: s.categories(f, m),
		Origin:     origin{feedPrefix + i.FeedID, asHTML(f.Name()), storage.WebURL(f.Site)},
		Summary:    map[string]string{"direction": "ltr", "content": i.HTML},
	}
	if !i.Updated.IsZero() {
		c.Updated = i.Updated.Unix()
	}
	if address := storage.WebURL(i.URL); address != "" {
		c.Canonical, c.Alternate = []link{{Href: address}}, []link{{Href: address, Type: "text/html"}}
	}
	for _, e := range i.Enclosures {
		if address := storage.WebURL(e.URL); address != "" {
			c.Enclosure = append(c.Enclosure, link{address, e.Type, e.Length})
		}
	}
	return c
}

// categories returns the streams that an item is in, but for its feed's.
func (s *server) categories(f storage.Feed, m storage.Marked) []string {
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
	return all
}

// asHTML returns plain text as readers may show it: some take titles for HTML, others
// show them as they are, so that no escape is right for both. As FreshRSS does, it
// has no tag in it, nor what becomes one.
func asHTML(text string) string { return noTags.Replace(text) }

var noTags = strings.NewReplacer("<", "＜", ">", "＞", "&lt", "＆lt", "&LT", "＆LT", "&#", "＆#")
