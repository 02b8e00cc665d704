package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A bulkPage is the confirmation of a bulk operation on feeds, or its result.
type bulkPage struct {
	Heading locale.Text // the question before the operation, the result after it
	Verb    locale.Text // label of the button that confirms
	Confirm bool
	Removes bool
	Keep    []field     // hidden fields of the next request
	Failed  locale.Text // how many feeds could not be changed; nil: none
	Reasons []bulkFailed
	Back    string // URL of the list of feeds
}

type bulkFailed struct {
	URL    string
	Reason locale.Text
}

// bulkWords are the words for each operation, with the number of its feeds.
var bulkWords = map[string]struct {
	verb             locale.Text
	question, result func(feeds int64) locale.Text
}{
	wire.ActionPin: {
		locale.T("Pin"), func(n int64) locale.Text { return locale.N(n, "Pin %d feed?", "Pin %d feeds?") },
		func(n int64) locale.Text { return locale.N(n, "%d feed pinned", "%d feeds pinned") },
	},
	wire.ActionUnpin: {
		locale.T("Unpin"), func(n int64) locale.Text { return locale.N(n, "Unpin %d feed?", "Unpin %d feeds?") },
		func(n int64) locale.Text { return locale.N(n, "%d feed unpinned", "%d feeds unpinned") },
	},
	wire.ActionTag: {
		locale.T("Add tags"), func(n int64) locale.Text { return locale.N(n, "Tag %d feed?", "Tag %d feeds?") },
		func(n int64) locale.Text { return locale.N(n, "%d feed tagged", "%d feeds tagged") },
	},
	wire.ActionUntag: {
		locale.T("Remove tags"), func(n int64) locale.Text { return locale.N(n, "Untag %d feed?", "Untag %d feeds?") },
		func(n int64) locale.Text { return locale.N(n, "%d feed untagged", "%d feeds untagged") },
	},
	wire.ActionRefresh: {
		locale.T("Poll"), func(n int64) locale.Text { return locale.N(n, "Poll %d feed?", "Poll %d feeds?") },
		func(n int64) locale.Text {
			return locale.N(n, "%d feed queued for polling", "%d feeds queued for polling")
		},
	},
	wire.ActionRemove: {
		locale.T("Remove"), func(n int64) locale.Text { return locale.N(n, "Remove %d feed?", "Remove %d feeds?") },
		func(n int64) locale.Text { return locale.N(n, "%d feed removed", "%d feeds removed") },
	},
}

// bulk applies an operation to feeds. Removals, and operations on a whole list, require confirmation on a
// page first.
func (c feedPages) bulk(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBulkForm)
	if err := r.ParseForm(); err != nil {
		c.badBulk(w, r, locale.T("The form is too large."))
		return
	}
	b, s, err := readBulk(r.PostForm)
	if err != nil {
		c.badBulk(w, r, explanation(err))
		return
	}
	confirm := r.PostForm.Get("sure") == "" && (b.Filter != nil || b.Action == wire.ActionRemove)
	b.DryRun = confirm
	done, err := c.Bulk.Change(r.Context(), wire.ChangeFeedsRequest{Body: b})
	switch kind := service.KindOf(err); {
	case kind == service.KindInvalid, errors.Is(err, storage.ErrBadCursor):
		c.badBulk(w, r, locale.T("Select feeds and an action. To tag or untag, enter the tags."))
		return
	case kind == service.KindBusy:
		c.showMessage(w, r, http.StatusTooManyRequests, message{
			Heading: locale.T("Another bulk change is running"), Text: []locale.Text{locale.T("Retry in a minute.")},
			Links: []choice{{Label: locale.T("Back to the feeds"), URL: s.with("after", "")}},
		})
		return
	case err != nil:
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	words := bulkWords[b.Action]
	main := bulkPage{
		Heading: words.result(int64(done.Done)), Verb: words.verb, Confirm: confirm, Removes: b.Action == wire.ActionRemove, Back: s.with("after", ""),
	}
	if confirm {
		main.Heading = words.question(done.Found)
	}
	if done.Failed > 0 {
		main.Failed = locale.N(int64(done.Failed), "%d feed could not be changed:", "%d feeds could not be changed:")
	}
	if confirm || done.Next != "" {
		main.Keep = keepBulk(r.PostForm, done.Next)
	}
	for _, f := range done.Reasons {
		main.Reasons = append(main.Reasons, bulkFailed{feedPath(f.ID), locale.Composed(f.Why)})
	}
	c.render(w, r, http.StatusOK, "feed-bulk", page{Title: locale.T("Change feeds"), Here: feedsPath, Scripts: []string{"feeds.js"}, Main: main})
}

// badBulk responds to an invalid form.
func (c feedPages) badBulk(w http.ResponseWriter, r *http.Request, why locale.Text) {
	c.showMessage(w, r, http.StatusBadRequest, message{Heading: locale.T("No feeds were changed"), Text: []locale.Text{why}, Links: []choice{toFeeds}})
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
