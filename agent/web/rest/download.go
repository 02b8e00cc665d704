package rest

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
)

// maxDownload is the maximum duration of a download.
const maxDownload = 24 * time.Hour

// handleDownload returns the route of an operation whose answer is a file.
func handleDownload[In any](o wire.Operation[In, wire.Download], serve func(context.Context, In) (wire.Download, error)) route {
	return route{o.ID, o.Scope, func(api huma.API, s *Server) {
		described := describe(o)
		described.Responses = documentResponse(o.Type)
		huma.Register(api, described, func(ctx context.Context, in *In) (*huma.StreamResponse, error) {
			file, err := serve(ctx, *in)
			if err != nil {
				return nil, problem.Of(err, s.Log)
			}
			return &huma.StreamResponse{Body: func(answer huma.Context) {
				defer file.Body.Close()
				_, w := humago.Unwrap(answer)
				// Without this the deadline of all answers would apply, from the start of the request.
				_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(maxDownload))
				answer.SetHeader("Content-Type", file.Type)
				answer.SetHeader("Content-Disposition", `attachment; filename="`+file.Name+`"`)
				answer.SetHeader("Content-Length", strconv.FormatInt(file.Size, 10))
				io.Copy(answer.BodyWriter(), file.Body) // an error ends the file early: the client misses bytes
			}}, nil
		})
	}}
}
