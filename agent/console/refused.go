package console

import (
	"errors"
	"net/http"

	"feedmesh/agent/api"
	"feedmesh/agent/mesh"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// refused answers for what can't be done, with why and the way back. What is not
// the asker's doing is said to be the fault of what, as in "The store".
func (c *console) refused(w http.ResponseWriter, r *http.Request, err error, what string, back choice) {
	status := statusOf(err)
	if status == 0 {
		c.sorry(w, r, err, what)
		return
	}
	m := message{Heading: "This cannot be done", Text: []string{sentence(err.Error())}, Links: []choice{back}}
	if status == http.StatusNotFound {
		m.Heading = "There is no such thing"
	}
	c.say(w, r, status, m)
}

// failed answers for a source that failed, and reports whether it did: with missing if
// what was asked for is not there, else with what failed, as in "The store".
func (c *console) failed(w http.ResponseWriter, r *http.Request, err error, what string, missing http.HandlerFunc) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, storage.ErrNotFound):
		missing(w, r)
	default:
		c.sorry(w, r, err, what)
	}
	return true
}

// badAddress answers for an address that asks for no page there may be: wrong is what
// [readParams] returned, or [storage.ErrBadCursor].
func (c *console) badAddress(w http.ResponseWriter, r *http.Request, heading string, wrong error, back choice) {
	why := "There is a mistake in its address: " + wrong.Error() + "."
	if errors.Is(wrong, storage.ErrBadCursor) {
		why = "Its address belongs to another list. Go to the first page and on from there."
	}
	c.say(w, r, http.StatusBadRequest, message{Heading: heading, Text: []string{why}, Links: []choice{back}})
}

// statusOf returns the HTTP status that says whose fault an error is: the asker's,
// or 0 if it is ours.
func statusOf(err error) int {
	var refusal *api.Refusal
	var problem interface{ GetStatus() int } // the API's own errors
	switch {
	case errors.Is(err, mesh.ErrNoTask), errors.Is(err, storage.ErrNotFound):
		return http.StatusNotFound
	case errors.As(err, &refusal), errors.Is(err, storage.ErrConflict), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return http.StatusConflict
	case errors.Is(err, workbench.ErrBusy):
		return http.StatusTooManyRequests
	case errors.As(err, &problem) && problem.GetStatus()/100 == 4:
		return problem.GetStatus()
	}
	return 0
}
