package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// A bulkPage asks whether something is really to be done to many feeds, or tells
// what came of it.
type bulkPage struct {
	What    string // what is to be done, or was, in words
	Number  int64  // of feeds
	Asks    bool
	Removes bool
	Keep    []field // what the next step sends
	Done    int64
	Failed  int64
	Reasons []bulkFailed
	Back    string // the list it came from
}

type bulkFailed struct{ URL, Why string }

// bulkWords say what is done: to be done, and done.
var bulkWords = map[string][2]string{
	api.Pin: {"Pin", "pinned"}, api.Unpin: {"Unpin", "unpinned"}, api.Tag: {"Tag", "tagged"}, api.Untag: {"Take tags from", "untagged"},
	api.Refresh: {"Poll", "to be polled now"}, api.Remove: {"Remove", "removed"},
}

// bulk does something to many feeds. It asks first by a page of its own if they
// are not few, or are to be removed.
func (c *console) bulk(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBulkForm)
	if err := r.ParseForm(); err != nil {
		c.badBulk(w, r, "The form is larger than this page's.")
		return
	}
	b, s, err := readBulk(r.PostForm)
	if err != nil {
		c.badBulk(w, r, sentence(err.Error()))
		return
	}
	asks := r.PostForm.Get("sure") == "" && (b.Filter != nil || b.Do == api.Remove)
	b.DryRun = asks
	done, err := c.source.ChangeFeeds(r.Context(), b)
	switch {
	case errors.Is(err, api.ErrWrongBulk), errors.Is(err, storage.ErrBadCursor):
		c.badBulk(w, r, "Choose feeds and what is to be done to them. To tag or untag, write the tags.")
		return
	case errors.Is(err, api.ErrTooMuch):
		c.say(w, r, http.StatusTooManyRequests, message{
			Heading: "Others are changing many feeds", Text: []string{"Try again in a minute."},
			Links: []choice{{Label: "Back to the feeds", URL: s.with("after", "")}},
		})
		return
	case err != nil:
		c.sorry(w, r, err, "The store")
		return
	}
	main := bulkPage{
		What: bulkWords[b.Do][1], Number: done.Found, Asks: asks, Removes: b.Do == api.Remove, Back: s.with("after", ""),
		Done: int64(done.Done), Failed: int64(done.Failed),
	}
	if asks {
		main.What = bulkWords[b.Do][0]
	}
	if asks || done.Next != "" {
		main.Keep = keepBulk(r.PostForm, done.Next)
	}
	for _, f := range done.Reasons {
		main.Reasons = append(main.Reasons, bulkFailed{feedPath(f.ID), f.Why})
	}
	c.render(w, r, http.StatusOK, "feed-bulk", page{Title: "Many feeds", Here: feedsPath, Scripts: []string{"feeds.js"}, Main: main})
}

// badBulk answers for a form that asks for nothing that can be done.
func (c *console) badBulk(w http.ResponseWriter, r *http.Request, why string) {
	c.say(w, r, http.StatusBadRequest, message{Heading: "Nothing was done to these feeds", Text: []string{why}, Links: []choice{toFeeds}})
}

const maxBulkForm = 128 << 10 // bytes: a thousand IDs, and some more

// readBulk reads what is to be done, and the list it was said on.
func readBulk(form url.Values) (api.FeedBulk, feedState, error) {
	query := url.Values{}
	for _, p := range feedParams {
		if p.of != "page" && form.Has(p.name) {
			query.Set(p.name, form.Get(p.name))
		}
	}
	values, err := readParams(query.Encode(), feedParams)
	s := feedState(values)
	b := api.FeedBulk{Do: form.Get("do"), After: form.Get("from")}
	if _, known := bulkWords[b.Do]; !known {
		return b, s, errors.New("choose what is to be done")
	}
	if b.Do == api.Tag || b.Do == api.Untag {
		b.Tags = tagsIn(form.Get("tags"))
	}
	if form.Get("all") != "" {
		filter := s.filter()
		b.Filter, b.All = &filter, true
	} else if b.IDs = form["id"]; len(b.IDs) > 1000 {
		return b, s, errors.New("these are more feeds than a page has")
	}
	return b, s, err
}

// keepBulk returns what a form says, for the next step to say again.
func keepBulk(form url.Values, next string) []field {
	fields := []field{{"sure", "yes"}}
	if next != "" {
		fields = append(fields, field{"from", next})
	}
	names := []string{"do", "tags", "all", "id"}
	for _, p := range feedParams {
		if p.of != "page" {
			names = append(names, p.name)
		}
	}
	for name, values := range form {
		if !slices.Contains(names, name) {
			continue
		}
		for _, value := range values {
			fields = append(fields, field{name, value})
		}
	}
	return fields
}
