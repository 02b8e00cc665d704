package console

import (
	"errors"
	"net/http"

	"feedmesh/agent/mesh"
	"feedmesh/agent/service"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// showError responds with the reason of a client error and a link back. Other errors are reported as a
// failure of the component named by what, such as "The store".
func (c *console) showError(w http.ResponseWriter, r *http.Request, err error, what string, back choice) {
	status := statusOf(err)
	if status == 0 {
		c.showUnavailable(w, r, err, what)
		return
	}
	m := message{Heading: "This cannot be done", Text: []string{sentence(err.Error())}, Links: []choice{back}}
	if status == http.StatusNotFound {
		m.Heading = "Not found"
	}
	c.showMessage(w, r, status, m)
}

// handleError reports whether err is not nil, and then responds: with missing for [storage.ErrNotFound], else
// with a failure of the component named by what.
func (c *console) handleError(w http.ResponseWriter, r *http.Request, err error, what string, missing http.HandlerFunc) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, storage.ErrNotFound):
		missing(w, r)
	default:
		c.showUnavailable(w, r, err, what)
	}
	return true
}

// badAddress responds with 400 to invalid URL parameters; wrong is an error of [readParams] or
// [storage.ErrBadCursor].
func (c *console) badAddress(w http.ResponseWriter, r *http.Request, heading string, invalid error, back choice) {
	detail := "The URL is invalid: " + invalid.Error() + "."
	if errors.Is(invalid, storage.ErrBadCursor) {
		detail = "The URL belongs to another list. Start again from the first page."
	}
	c.showMessage(w, r, http.StatusBadRequest, message{Heading: heading, Text: []string{detail}, Links: []choice{back}})
}

// statusOf returns the HTTP status of a client error, or 0 for a server error.
func statusOf(err error) int {
	var wrong *service.Error
	switch {
	case errors.Is(err, mesh.ErrNoTask), errors.Is(err, storage.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, storage.ErrConflict), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return http.StatusConflict
	case errors.Is(err, workbench.ErrBusy):
		return http.StatusTooManyRequests
	case errors.As(err, &wrong):
		return problem.StatusOf(wrong.Kind)
	}
	return 0
}
