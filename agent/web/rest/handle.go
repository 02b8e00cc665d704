package rest

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
)

// A route registers one operation.
type route struct {
	id       string
	scope    access.Scope
	register func(api huma.API, s *Server)
}

// handle returns the route of an operation. serve answers its requests.
func handle[In, Out any](o wire.Operation[In, Out], serve func(context.Context, In) (Out, error)) route {
	return route{o.ID, o.Scope, func(api huma.API, s *Server) {
		described := describe(o)
		answer := func(ctx context.Context, in *In) (Out, error) {
			out, err := *new(Out), error(nil)
			if needsSpace(o.Method, o.Scope) {
				err = s.CheckSpace()
			}
			if err == nil {
				out, err = serve(ctx, *in)
			}
			if err != nil {
				err = problem.Of(err, s.Log)
			}
			return out, err
		}
		switch typed := any(answer).(type) {
		case func(context.Context, *In) (wire.None, error):
			huma.Register(api, described, func(ctx context.Context, in *In) (*struct{}, error) {
				_, err := typed(ctx, in)
				return nil, err
			})
		case func(context.Context, *In) (wire.Document, error):
			described.Responses = documentResponse(o.Type)
			huma.Register(api, described, func(ctx context.Context, in *In) (*documentAnswer, error) {
				d, err := typed(ctx, in)
				if err != nil {
					return nil, err
				}
				return &documentAnswer{ContentType: d.Type, ETag: d.ETag, Body: d.Data}, nil
			})
		default:
			if o.Pending != nil {
				described.Responses = acceptedResponse[Out](api)
			}
			huma.Register(api, described, func(ctx context.Context, in *In) (*jsonAnswer[Out], error) {
				out, err := answer(ctx, in)
				if err != nil {
					return nil, err
				}
				a := &jsonAnswer[Out]{Status: cmp.Or(o.Status, http.StatusOK), Body: out}
				if o.Pending != nil && o.Pending(out) {
					a.Status = http.StatusAccepted
				}
				if o.NoStore {
					a.CacheControl = "no-store"
				}
				return a, nil
			})
		}
	}}
}

// needsSpace reports whether an operation needs space on the disk. A removal is attempted without, since it may free some.
func needsSpace(method string, scope access.Scope) bool {
	return method != http.MethodGet && method != http.MethodDelete && access.Client{Scopes: []access.Scope{scope}}.May(access.Write)
}

type jsonAnswer[T any] struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         T
}

// acceptedResponse describes the response of an operation that is not applied yet.
func acceptedResponse[T any](api huma.API) map[string]*huma.Response {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return map[string]*huma.Response{"202": {
		Description: "Accepted: the edit is not applied yet", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
}

// documentResponse describes the response of an operation that answers with a document.
func documentResponse(mediaType string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Content: map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

type documentAnswer struct {
	ContentType string `header:"Content-Type"`
	ETag        string `header:"ETag"`
	Body        []byte
}

// describe returns the OpenAPI description of an operation, with the statuses that any operation may answer.
func describe[In, Out any](o wire.Operation[In, Out]) huma.Operation {
	d := huma.Operation{
		Method: o.Method, Path: o.Path, OperationID: o.ID, Summary: o.Summary, Description: o.Description, Tags: []string{o.Tag},
		Security: securityFor(o.Scope), DefaultStatus: o.Status, MaxBodyBytes: service.MaxImport, BodyReadTimeout: time.Minute,
		Errors: append(slices.Clone(o.Errors), http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests),
	}
	switch o.Method {
	case http.MethodGet:
		d.Responses = map[string]*huma.Response{"304": {Description: "The client has this answer, by If-None-Match"}}
	case http.MethodPost:
		d.Parameters = []*huma.Param{&idempotencyParam}
		d.Errors = append(d.Errors, http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	}
	if o.Method == http.MethodPost || o.Method == http.MethodPut || o.Method == http.MethodPatch { // these have bodies
		d.Errors = append(d.Errors, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if needsSpace(o.Method, o.Scope) {
		d.Errors = append(d.Errors, http.StatusInsufficientStorage)
	}
	if _, none := any(*new(Out)).(wire.None); none && o.Status == 0 {
		d.DefaultStatus = http.StatusNoContent
	}
	if o.MaxBody != 0 {
		d.MaxBodyBytes = o.MaxBody + 1 // exclusive
	}
	return d
}

// idempotencyParam describes the header that makes a POST idempotent.
var idempotencyParam = huma.Param{Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
	Description: "Identifies this request, such as a UUID. A retry within a day is not executed again and gets the same response."}
