package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A bulkPage is the confirmation of a bulk operation on feeds, or its result.
type bulkPage struct {
	What    string // the operation in words: the verb before, the participle after
	Number  int64  // of feeds
	Confirm bool
	Removes bool
	Keep    []field // hidden fields of the next request
	Done    int64
	Failed  int64
	Reasons []bulkFailed
	Back    string // URL of the list of feeds
}

type bulkFailed struct{ URL, Reason string }

// bulkWords are the verb and the participle of each operation.
var bulkWords = map[string][2]string{
	wire.ActionPin: {"Pin", "pinned"}, wire.ActionUnpin: {"Unpin", "unpinned"}, wire.ActionTag: {"Tag", "tagged"}, wire.ActionUntag: {"Untag", "untagged"},
	wire.ActionRefresh: {"Poll", "queued for polling"}, wire.ActionRemove: {"Remove", "removed"},
}

// bulk applies an operation to feeds. Removals, and operations on a whole list, require confirmation on a
// page first.
func (c feedPages) bulk(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBulkForm)
	if err := r.ParseForm(); err != nil {
		c.badBulk(w, r, "The form is too large.")
		return
	}
	b, s, err := readBulk(r.PostForm)
	if err != nil {
		c.badBulk(w, r, sentence(err.Error()))
		return
	}
	confirm := r.PostForm.Get("sure") == "" && (b.Filter != nil || b.Action == wire.ActionRemove)
	b.DryRun = confirm
	done, err := c.Bulk.Change(r.Context(), wire.ChangeFeedsRequest{Body: b})
	switch kind := service.KindOf(err); {
	case kind == service.KindInvalid, errors.Is(err, storage.ErrBadCursor):
		c.badBulk(w, r, "Select feeds and an action. To tag or untag, enter the tags.")
		return
	case kind == service.KindBusy:
		c.showMessage(w, r, http.StatusTooManyRequests, message{
			Heading: "Another bulk change is running", Text: []string{"Retry in a minute."},
			Links: []choice{{Label: "Back to the feeds", URL: s.with("after", "")}},
		})
		return
	case err != nil:
		c.showUnavailable(w, r, err, "The store")
		return
	}
	main := bulkPage{
		What: bulkWords[b.Action][1], Number: done.Found, Confirm: confirm, Removes: b.Action == wire.ActionRemove, Back: s.with("after", ""),
		Done: int64(done.Done), Failed: int64(done.Failed),
	}
	if confirm {
		main.What = bulkWords[b.Action][0]
	}
	if confirm || done.Next != "" {
		main.Keep = keepBulk(r.PostForm, done.Next)
	}
	for _, f := range done.Reasons {
		main.Reasons = append(main.Reasons, bulkFailed{feedPath(f.ID), f.Why})
	}
	c.render(w, r, http.StatusOK, "feed-bulk", page{Title: "Change feeds", Here: feedsPath, Scripts: []string{"feeds.js"}, Main: main})
}

// badBulk responds to an invalid form.
func (c feedPages) badBulk(w http.ResponseWriter, r *http.Request, why string) {
	c.showMessage(w, r, http.StatusBadRequest, message{Heading: "No feeds were changed", Text: []string{why}, Links: []choice{toFeeds}})
}

const maxBulkForm = 128 << 10 // bytes: a thousand IDs and the other fields

// readBulk returns the operation of a form, and the state of the list on which it was submitted.
func readBulk(form url.Values) (wire.BulkChange, feedState, error) {
	query := url.Values{}
	for _, p := range feedParams {
		if p.of != "page" && form.Has(p.name) {
			query.Set(p.name, form.Get(p.name))
		}
	}
	values, err := readParams(query.Encode(), feedParams)
	s := feedState(values)
	b := wire.BulkChange{Action: form.Get("do"), After: form.Get("from")}
	if _, registered := bulkWords[b.Action]; !registered {
		return b, s, errors.New("choose an action")
	}
	if b.Action == wire.ActionTag || b.Action == wire.ActionUntag {
		b.Tags = tagsIn(form.Get("tags"))
	}
	if form.Get("all") != "" {
		filter := s.filter()
		b.Filter, b.All = &filter, true
	} else if b.IDs = form["id"]; len(b.IDs) > 1000 {
		return b, s, errors.New("more feeds are selected than a page has")
	}
	return b, s, err
}

// keepBulk returns the fields of a form that the next request repeats.
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
