package greader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"feedmesh/agent/service"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// maxEditedFeeds bounds the feeds that a request may change.
const maxEditedFeeds = 1000

// A category is a folder that contains a feed.
type category struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// feedCalls are the calls that list and change feeds and their folders.
type feedCalls struct {
	*streams
	feeds *service.Feeds
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

// subscriptions streams all feeds to the client while it loads them.
func (s *feedCalls) subscriptions(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	return SendList(w, `{"subscriptions":[`, "]}", func(send func(any) error) error {
		return storage.ForEachFeed(r.Context(), s.store, func(f storage.Feed) error {
			entry := subscription{ID: feedPrefix + f.ID, Title: AsHTML(f.Name()), Categories: []category{}, URL: f.URL,
				HTMLURL: cmp.Or(storage.WebURL(f.Site), f.URL), FirstItemMsec: fmt.Sprint(f.Added.UnixMilli())}
			for _, tag := range f.Tags {
				entry.Categories = append(entry.Categories, category{labelPrefix + tag, tag})
			}
			return send(entry)
		})
	})
}

// editSubscription subscribes to feeds, unsubscribes, or moves them between folders.
func (s *feedCalls) editSubscription(r *http.Request, p url.Values) error {
	add, remove, err := labels(p)
	if err != nil {
		return err
	}
	if len(p["s"]) == 0 || len(p["s"]) > maxEditedFeeds {
		return badRequest(fmt.Sprintf("list 1 to %d feeds as s=feed/ADDRESS", maxEditedFeeds))
	}
	for _, id := range p["s"] {
		target, err := parseStream(id)
		if err == nil && target.feed == "" {
			err = badRequest(fmt.Sprintf("%.100q is not a feed", id))
		}
		if err != nil {
			return err
		}
		if err := s.edit(r.Context(), p.Get("ac"), target.feed, add, remove); err != nil {
			return err
		}
	}
	return nil
}

func (s *feedCalls) edit(ctx context.Context, action, feed string, add, remove []string) error {
	if action == "subscribe" {
		id, err := s.subscribe(ctx, feed, add)
		if err != nil {
			return badRequest(err.Error())
		}
		return s.feeds.Retag(ctx, id, add, nil) // the feed may have been stored with other tags
	}
	id, err := s.feedID(ctx, feed)
	if err != nil {
		return err
	}
	switch action {
	case "unsubscribe":
		_, err := s.feeds.Remove(ctx, wire.ByID{ID: id})
		return err
	case "edit":
		// The title is always the publisher's.
		return s.feeds.Retag(ctx, id, add, remove)
	}
	return badRequest(fmt.Sprintf("ac=%.40q is not supported; use subscribe, unsubscribe or edit", action))
}

// subscribe adds a feed by its address and returns its ID, whether or not it was stored before. The error is
// shown to the user.
func (s *feedCalls) subscribe(ctx context.Context, address string, tags []string) (feedID string, err error) {
	added, err := s.feeds.Add(ctx, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{address}, Tags: tags}})
	if err != nil {
		return "", err
	}
	result := added.Results[0]
	if result.Outcome == wire.ImportInvalid {
		return "", errors.New(result.Reason)
	}
	return s.store.ResolveFeed(ctx, result.FeedID)
}

// labels returns the labels that a request adds and removes.
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

// maxLabel bounds the length of a tag, in bytes.
const maxLabel = 256

func labelOf(id string) (string, error) {
	target, err := parseStream(id)
	if err == nil && (target.label == "" || len(target.label) > maxLabel) {
		err = badRequest(fmt.Sprintf("%.100q is not a label; write user/-/label/NAME with a name of at most %d bytes", id, maxLabel))
	}
	return target.label, err
}

// quickAdd subscribes to a feed by its address alone.
func (s *feedCalls) quickAdd(w http.ResponseWriter, r *http.Request, p url.Values) error {
	address := p.Get("quickadd")
	if feed, err := parseStream(address); err == nil && feed.feed != "" {
		address = feed.feed
	}
	id, err := s.subscribe(r.Context(), address, nil)
	if err != nil {
		return sendJSON(w, map[string]any{"numResults": 0, "query": address, "error": err.Error()})
	}
	f, err := s.store.Feed(r.Context(), id)
	if err != nil {
		return err
	}
	return sendJSON(w, map[string]any{"numResults": 1, "query": address, "streamId": feedPrefix + id, "streamName": AsHTML(f.Name())})
}

// export sends all feeds as OPML.
func (s *feedCalls) export(w http.ResponseWriter, r *http.Request) {
	list, err := s.feeds.Export(r.Context(), wire.None{})
	if err != nil {
		problem.Write(w, problem.Of(err, s.feeds.Log))
		return
	}
	w.Header().Set("Content-Type", list.Type)
	w.Write(list.Data)
}
