package console

import (
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	maxForm     = 16 << 10         // bytes
	formTimeout = 30 * time.Second // timeout of forms that fetch a page and its feeds
)

// A foundPage shows the feeds found at a URL, with buttons to add them.
type foundPage struct {
	wire.Discovery
	Feeds   []candidate
	Number  int64  // of Feeds
	Anyway  bool   // the URL may be added although no feed was found
	AddPath string // action of the forms
}

type candidate struct {
	wire.Candidate
	URL    string
	Page   string // of the feed's page if it is stored
	Newest *timestamp
}

// find looks for feeds at the submitted URL.
func (c feedPages) find(w http.ResponseWriter, r *http.Request) {
	address, now := formValue(w, r, "url"), c.Now()
	if address == "" {
		http.Redirect(w, r, feedsPath, http.StatusSeeOther)
		return
	}
	found, err := c.Discovery.Find(r.Context(), wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: address}})
	if err != nil {
		c.showUnavailable(w, r, err, "The store")
		return
	}
	main := foundPage{Discovery: found, Number: int64(len(found.Feeds)), AddPath: feedsPath}
	_, invalid := storage.CanonicalURL(found.URL)
	main.Anyway = len(found.Feeds) == 0 && invalid == nil
	for _, f := range found.Feeds {
		offer := candidate{Candidate: f, URL: f.URL, Newest: newTimestamp(f.Newest, now)}
		if f.Stored {
			offer.Page = feedPath(f.FeedID)
		}
		main.Feeds = append(main.Feeds, offer)
	}
	c.render(w, r, http.StatusOK, "found", page{Title: "Add a feed", Here: feedsPath, Main: main})
}

// add adds a feed and redirects to its page.
func (c feedPages) add(w http.ResponseWriter, r *http.Request) {
	added, err := c.Feeds.Add(r.Context(), wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{formValue(w, r, "url")}}})
	if err != nil {
		c.showUnavailable(w, r, err, "The store")
		return
	}
	if f := added.Results[0]; f.Outcome != wire.ImportInvalid {
		http.Redirect(w, r, feedPath(f.FeedID), http.StatusSeeOther)
		return
	}
	c.showMessage(w, r, http.StatusUnprocessableEntity, message{
		Heading: "This feed cannot be added",
		Text:    []string{added.Results[0].Reason},
		Links:   []choice{toFeeds},
	})
}

// refresh requests a poll of a feed and redirects to its page.
func (c feedPages) refresh(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	_, err := c.Feeds.Refresh(r.Context(), wire.ByID{ID: id})
	if !c.handleError(w, r, err, "The schedule", c.noFeed) {
		http.Redirect(w, r, feedPath(id), http.StatusSeeOther)
	}
}

// formValue returns a field of a form; it is empty if the form exceeds maxForm.
func formValue(w http.ResponseWriter, r *http.Request, name string) string {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	return strings.TrimSpace(r.PostFormValue(name))
}
