package greader

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"feedmesh/storage"
)

// maxEdited is how many feeds a request may change.
const maxEdited = 1000

// A category is a folder that a feed is in.
type category struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

type subscription struct {
	ID            string     `json:"id"`
	Title         string     `json:"title"`
	Categories    []category `json:"categories"`
	URL           string     `json:"url"`
	HTMLURL       string     `json:"htmlUrl"`
	IconURL       string     `json:"iconUrl"`
	FirstItemMsec string     `json:"firstitemmsec"`
}

// subscriptions answers all feeds, as they are read.
func (s *server) subscriptions(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	sent := 0
	err := storage.EachFeed(r.Context(), s.Store, func(f storage.Feed) error {
		one := subscription{ID: feedPrefix + f.ID, Title: asHTML(f.Name()), Categories: []category{}, URL: f.URL,
			HTMLURL: cmp.Or(storage.WebURL(f.Site), f.URL), FirstItemMsec: fmt.Sprint(f.Added.UnixMilli())}
		for _, tag := range f.Tags {
			one.Categories = append(one.Categories, category{labelPrefix + tag, tag})
		}
		text, err := json.Marshal(one)
		if err != nil {
			return err
		}
		before := ","
		if sent == 0 {
			before = `{"subscriptions":[`
		}
		sent++
		io.WriteString(w, before)
		_, err = w.Write(text)
		return err
	})
	switch {
	case err != nil && sent > 0: // a client would drop the feeds that are missing
		panic(http.ErrAbortHandler)
	case err != nil:
		return err
	case sent == 0:
		io.WriteString(w, `{"subscriptions":[`)
	}
	io.WriteString(w, "]}")
	return nil
}

// editSubscription subscribes to feeds, ends that, or puts them into folders.
func (s *server) editSubscription(w http.ResponseWriter, r *http.Request, p url.Values) error {
	add, remove, err := labels(p)
	if err != nil {
		return err
	}
	if len(p["s"]) == 0 || len(p["s"]) > maxEdited {
		return badRequest(fmt.Sprintf("name 1 to %d feeds: s=feed/ADDRESS", maxEdited))
	}
	for _, id := range p["s"] {
		of, err := parseStream(id)
		if err == nil && of.feed == "" {
			err = badRequest(fmt.Sprintf("%.100q is no feed", id))
		}
		if err != nil {
			return err
		}
		if err := s.edit(r.Context(), p.Get("ac"), of.feed, add, remove); err != nil {
			return err
		}
	}
	return sendOK(w)
}

func (s *server) edit(ctx context.Context, action, feed string, add, remove []string) error {
	if action == "subscribe" {
		id, err := s.Subscribe(ctx, feed, add)
		if err != nil {
			return badRequest(err.Error())
		}
		return s.setTags(ctx, id, add, nil) // it may be known, with others
	}
	id, err := s.feedID(ctx, feed)
	if err != nil {
		return err
	}
	switch action {
	case "unsubscribe":
		return s.Unsubscribe(ctx, id)
	case "edit":
		// Its title is what the publisher says.
		return s.setTags(ctx, id, add, remove)
	}
	return badRequest(fmt.Sprintf("ac=%.40q is none of subscribe, unsubscribe and edit", action))
}

// labels returns those that a request adds and removes.
func labels(p url.Values) (add, remove []string, err error) {
	for name, list := range map[string]*[]string{"a": &add, "r": &remove} {
		for _, id := range p[name] {
			label, err := labelOf(id)
			if err != nil {
				return nil, nil, err
			}
			*list = append(*list, label)
		}
	}
	return add, remove, nil
}

// maxLabel is how long a tag may be, in bytes.
const maxLabel = 256

func labelOf(id string) (string, error) {
	of, err := parseStream(id)
	if err == nil && (of.label == "" || len(of.label) > maxLabel) {
		err = badRequest(fmt.Sprintf("%.100q is no label; write user/-/label/NAME, the name in at most %d bytes", id, maxLabel))
	}
	return of.label, err
}

// setTags adds and removes tags of a feed. Nothing is written where nothing changes.
func (s *server) setTags(ctx context.Context, id string, add, remove []string) error {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return err
	}
	settings := f.Settings().Retagged(add, remove)
	if slices.Equal(settings.Tags, f.Tags) {
		return nil
	}
	_, err = s.Store.SetFeed(ctx, id, settings)
	return err
}

// quickAdd subscribes to a feed by its address alone.
func (s *server) quickAdd(w http.ResponseWriter, r *http.Request, p url.Values) error {
	address := p.Get("quickadd")
	if feed, err := parseStream(address); err == nil && feed.feed != "" {
		address = feed.feed
	}
	id, err := s.Subscribe(r.Context(), address, nil)
	if err != nil {
		return sendJSON(w, map[string]any{"numResults": 0, "query": address, "error": err.Error()})
	}
	f, err := s.Store.Feed(r.Context(), id)
	if err != nil {
		return err
	}
	return sendJSON(w, map[string]any{"numResults": 1, "query": address, "streamId": feedPrefix + id, "streamName": asHTML(f.Name())})
}
