// Package api is the REST interface: feeds, items, search and the mesh itself,
// over the store and the index. Its description, made from the same code, is
// served at /openapi.json. What goes wrong is answered as problem+json.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Mesh is what the API asks and tells the mesh, as [mesh.Mesh] does.
type Mesh interface {
	subjects.Publisher
	State(ctx context.Context, feedID string) (*subjects.State, error)
	Polls(ctx context.Context, feedID string) ([]subjects.Poll, error) // newest first
	LoadStates(ctx context.Context, each func(subjects.FeedState)) error
	Proxy(ctx context.Context, id string) (*subjects.Proxy, error) // nil: nothing is known of it
	Depths(ctx context.Context) ([]mesh.Depth, error)
	Agents(ctx context.Context) ([]subjects.Agent, error)
	Leases(ctx context.Context) (map[string]subjects.Lease, error)
	Quarantined(ctx context.Context, after uint64, limit int) ([]subjects.Quarantined, error)
	QuarantinedTask(ctx context.Context, seq uint64) (subjects.Quarantined, error)
	Replay(ctx context.Context, seq uint64) error
	DropQuarantined(ctx context.Context, seq uint64) error
	Single(ctx context.Context, name string, run func(ctx context.Context) error) error
	PutRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error
}

// A Fetcher fetches one document, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
}

// Deps are what a [Server] stands on.
type Deps struct {
	Store     storage.Store
	Index     storage.Index
	Mesh      Mesh
	Fetch     Fetcher                           // of pages whose feeds are looked for
	Checks    func(ctx context.Context) []Check // what this process stands on, and how it is
	Metrics   http.Handler
	Rulebooks []Rulebook               // the rule sets there are
	Decider   func() workbench.Decider // what decides here now what items are
	Token     string                   // what clients must show; empty: nothing, but only this machine is served
	Version   string
	Now       func() time.Time
	Log       *slog.Logger
}

// A Server answers requests.
type Server struct {
	Deps
	begun   chan struct{} // a list of feeds waits to be taken in
	jobs    chan struct{} // a job waits to be done
	benches chan struct{} // holds a token for each back-test under way
	states  summary
	reindex reindexing

	patience time.Duration // with what persons decide of stories
}

// New returns a server.
func New(d Deps) *Server {
	return &Server{
		Deps: d, begun: make(chan struct{}, 1), jobs: make(chan struct{}, 1), benches: make(chan struct{}, maxBacktests),
		patience: handPatience,
	}
}

// Handler returns the API, with pages for people at all paths it has no use for.
// Both are guarded alike.
func (s *Server) Handler(pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	cfg := huma.DefaultConfig("feedmesh", s.Version)
	cfg.Info.Description = "Feeds in, searchable items out."
	cfg.DocsPath = "" // its pages load scripts from elsewhere
	cfg.CreateHooks = nil
	api := humago.New(mux, cfg)

	s.feedRoutes(api)
	s.importRoutes(api)
	s.exportRoutes(api)
	s.discoverRoutes(api)
	s.proxyRoutes(api)
	s.itemRoutes(api)
	s.meshRoutes(api)
	s.quarantineRoutes(api)
	s.ruleRoutes(api)
	s.workbenchRoutes(api)
	s.jobRoutes(api)
	s.spamRoutes(api)
	s.correctionRoutes(api)
	s.storyRoutes(api)
	s.reindexRoutes(api)

	s.healthRoutes(mux)
	mux.Handle("/api/", deny(http.StatusNotFound, "there is nothing at this path for this method; /openapi.json lists all there is"))
	mux.Handle("/", pages)
	return s.guarded(mux)
}

// op describes an operation.
func op(method, path, name, summary string, errors ...int) huma.Operation {
	return huma.Operation{Method: method, Path: path, OperationID: name, Summary: summary, Errors: errors,
		MaxBodyBytes: maxImport, BodyReadTimeout: time.Minute}
}

// problem makes an error of ours the client's answer.
func (s *Server) problem(err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return huma.Error409Conflict(refusal.Why)
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, mesh.ErrNoTask):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, storage.ErrConflict), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, storage.ErrBadCursor):
		return huma.Error400BadRequest(err.Error())
	case errors.Is(err, workbench.ErrBusy):
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(499, "the client has gone")
	}
	s.Log.Error("request failed", "err", err)
	return huma.Error503ServiceUnavailable(err.Error())
}
