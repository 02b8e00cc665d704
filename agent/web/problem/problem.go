// Package problem converts errors of the service to HTTP responses of the type application/problem+json.
//
// Source: RFC 9457.
package problem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/mesh"
	"feedmesh/agent/service"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/workbench"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

// StatusGone is the status of a response whose client has disconnected.
const StatusGone = 499

// kindStatus is the HTTP status of each kind of error.
var kindStatus = map[service.Kind]int{
	service.KindMalformed:    http.StatusBadRequest,
	service.KindInvalid:      http.StatusUnprocessableEntity,
	service.KindNotFound:     http.StatusNotFound,
	service.KindConflict:     http.StatusConflict,
	service.KindPrecondition: http.StatusPreconditionRequired,
	service.KindTooLarge:     http.StatusRequestEntityTooLarge,
	service.KindBusy:         http.StatusTooManyRequests,
	service.KindFull:         http.StatusInsufficientStorage,
}

// StatusOf returns the HTTP status of a kind of errors.
func StatusOf(k service.Kind) int { return kindStatus[k] }

// Of converts an error of the service to a response. Errors that no client caused are logged.
func Of(err error, log *slog.Logger) huma.StatusError {
	var wrong *service.Error
	var syntaxErr *query.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return ofService(wrong)
	case errors.As(err, &syntaxErr):
		return ofQuery(err, syntaxErr)
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, mesh.ErrNoTask):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, storage.ErrConflict), errors.Is(err, mesh.ErrNoReplay), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return huma.Error409Conflict(err.Error())
	case errors.As(err, new(*reading.LimitError)):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, storage.ErrBadCursor):
		return huma.Error400BadRequest(err.Error())
	case errors.Is(err, workbench.ErrBusy):
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(StatusGone, "the client disconnected")
	}
	log.Error("request failed", "err", err)
	return huma.Error503ServiceUnavailable(err.Error())
}

// ofService returns the response to a request that can't be done.
func ofService(e *service.Error) huma.StatusError {
	details := make([]error, len(e.Fields))
	for i, f := range e.Fields {
		details[i] = &huma.ErrorDetail{Location: f.At, Message: f.Message}
	}
	return huma.NewError(StatusOf(e.Kind), e.Message, details...)
}

// A queryProblem is the response to a query with a syntax error.
type queryProblem struct {
	huma.ErrorModel
	Pos int `json:"pos"`
}

func ofQuery(err error, syntaxErr *query.SyntaxError) huma.StatusError {
	return &queryProblem{
		ErrorModel: huma.ErrorModel{Title: http.StatusText(http.StatusBadRequest), Status: http.StatusBadRequest, Detail: err.Error()},
		Pos:        syntaxErr.Offset,
	}
}

// DescribePosition adds the position of a query's syntax error to the description of errors.
func DescribePosition(api huma.API) {
	errorSchema := api.OpenAPI().Components.Schemas.Map()["ErrorModel"]
	errorSchema.Properties["pos"] = &huma.Schema{Type: "integer", Description: "Of a query that can't be understood: the bytes before the character at fault."}
}

// Write sends a response to a failed request.
func Write(w http.ResponseWriter, p huma.StatusError) error {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.GetStatus())
	return huma.DefaultJSONFormat.Marshal(w, p)
}
