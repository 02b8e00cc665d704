package console

import (
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

const (
	maxForm      = 16 << 10         // bytes
	findPatience = 30 * time.Second // of looking at a page and its feeds
)

// A foundPage tells what was found at an address, and offers to add it.
type foundPage struct {
	api.Discovery
	Feeds   []candidate
	Number  int64  // of Feeds
	Anyway  bool   // the address may be added though nothing was found
	AddPath string // where the forms go
}

type candidate struct {
	api.Candidate
	URL    string
	Page   string // of the feed, if it is known
	Newest *stamp
}

// find looks at the address a person gave.
func (c *console) find(w http.ResponseWriter, r *http.Request) {
	address, now := formValue(w, r, "url"), c.now()
	if address == "" {
		http.Redirect(w, r, feedsPath, http.StatusSeeOther)
		return
	}
	found, err := c.source.Discover(r.Context(), address)
	if err != nil {
		c.sorry(w, r, err, "The store")
		return
	}
	main := foundPage{Discovery: found, Number: int64(len(found.Feeds)), AddPath: feedsPath}
	_, wrong := storage.CanonicalURL(found.URL)
	main.Anyway = len(found.Feeds) == 0 && wrong == nil
	for _, f := range found.Feeds {
		offer := candidate{Candidate: f, URL: f.URL, Newest: stamped(f.Newest, now)}
		if f.Known {
			offer.Page = feedPath(f.FeedID)
		}
		main.Feeds = append(main.Feeds, offer)
	}
	c.render(w, r, http.StatusOK, "found", page{Title: "Add a feed", Here: feedsPath, Main: main})
}

// add adds a feed and shows its page.
func (c *console) add(w http.ResponseWriter, r *http.Request) {
	added, err := c.source.AddFeeds(r.Context(), []string{formValue(w, r, "url")}, nil)
	if err != nil {
		c.sorry(w, r, err, "The store")
		return
	}
	if f := added.Feeds[0]; f.Outcome != api.Invalid {
		http.Redirect(w, r, feedPath(f.FeedID), http.StatusSeeOther)
		return
	}
	c.say(w, r, http.StatusUnprocessableEntity, message{
		Heading: "This feed cannot be added",
		Text:    []string{added.Feeds[0].Reason},
		Links:   []choice{toFeeds},
	})
}

// refresh has a feed polled and shows its page.
func (c *console) refresh(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	err := c.source.RefreshFeed(r.Context(), id)
	if !c.failed(w, r, err, "The schedule", c.noFeed) {
		http.Redirect(w, r, feedPath(id), http.StatusSeeOther)
	}
}

// formValue returns what a form says, "" if nothing or more than any form of ours.
func formValue(w http.ResponseWriter, r *http.Request, name string) string {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	return strings.TrimSpace(r.PostFormValue(name))
}
