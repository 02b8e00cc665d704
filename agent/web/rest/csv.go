package rest

import (
	"context"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
)

// handleCSV returns the route of an operation whose answer is a CSV file, sent while serve's function writes it.
func handleCSV[In any](o wire.Operation[In, wire.Document], file string, serve func(context.Context, In) (func(io.Writer) error, error)) route {
	return route{o.ID, o.Scope, func(api huma.API, s *Server) {
		described := describe(o)
		described.Responses = documentResponse(o.Type)
		huma.Register(api, described, func(ctx context.Context, in *In) (*huma.StreamResponse, error) {
			write, err := serve(ctx, *in)
			if err != nil {
				return nil, problem.Of(err, s.Log)
			}
			return &huma.StreamResponse{Body: func(answer huma.Context) {
				answer.SetHeader("Content-Type", o.Type+"; charset=utf-8")
				answer.SetHeader("Content-Disposition", `attachment; filename="`+file+`"`)
				write(answer.BodyWriter()) // an error ends the file early: the status is sent
			}}, nil
		})
	}}
}
