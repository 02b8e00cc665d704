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

	"feedmesh/agent/access"
	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/agent/output"
	"feedmesh/agent/workbench"
	"feedmesh/classify/query"
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
	Listen(ctx context.Context, each func(subjects.Event)) error
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
	Token     string                   // of the owner, who may do all; empty: who is on this machine is that
	CORS      []string                 // origins whose pages may search here; "*" is all
	Answers   Answers                  // to requests that may come again; nil: such are refused
	Version   string
	Now       func() time.Time
	Log       *slog.Logger

	RequestsPerClient int // a second; 0: any number
}

// A Server answers requests.
type Server struct {
	Deps
	begun   chan struct{} // a list of feeds waits to be taken in
	jobs    chan struct{} // a job waits to be done
	benches chan struct{} // holds a token for each back-test under way
	bulks   chan struct{} // holds a token for each change of many feeds under way
	tests   underway      // of feeds that are fetched for a person to see
	states  summary
	counted counted
	streams *streams
	reindex reindexing
	inStore chan struct{} // holds a token for each search in the store

	backtests backtests

	keeper   *access.Keeper
	requests *access.Limiter // of each client
	wrong    *access.Limiter // tokens from each address

	patience time.Duration // with what persons decide of stories
}

// New returns a server.
func New(d Deps) *Server {
	return &Server{
		Deps: d, begun: make(chan struct{}, 1), jobs: make(chan struct{}, 1), benches: make(chan struct{}, maxBacktests),
		bulks:  make(chan struct{}, maxBulks),
		keeper: access.NewKeeper(d.Store, d.Token), wrong: access.NewLimiter(wrongTokens/60., wrongTokens),
		requests: access.NewLimiter(float64(d.RequestsPerClient), burst*d.RequestsPerClient),
		inStore:  make(chan struct{}, storeSearches), patience: handPatience, streams: newStreams(),
	}
}

// wrongTokens is how many wrong tokens an address may show a minute.
const wrongTokens = 10

// Keeper returns what knows the tokens.
func (s *Server) Keeper() *access.Keeper { return s.keeper }

// Handler returns the API, with pages for people at all paths it has no use for.
// Both are guarded alike.
func (s *Server) Handler(pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	cfg := huma.DefaultConfig("feedmesh", s.Version)
	cfg.Info.Description = "Feeds in, searchable items out."
	cfg.DocsPath = "" // its pages load scripts from elsewhere
	cfg.CreateHooks = nil
	cfg.Components.SecuritySchemes = schemes
	api := humago.New(mux, cfg)

	s.feedRoutes(api)
	s.bulkRoutes(api)
	s.testRoutes(api)
	s.pollRoutes(api)
	s.importRoutes(api)
	s.exportRoutes(api)
	s.discoverRoutes(api)
	s.proxyRoutes(api)
	s.searchRoutes(api)
	s.itemRoutes(api)
	s.similarRoutes(api)
	s.suggestRoutes(api)
	s.meshRoutes(api)
	s.quarantineRoutes(api)
	s.ruleRoutes(api)
	s.workbenchRoutes(api)
	s.jobRoutes(api)
	s.spamRoutes(api)
	s.correctionRoutes(api)
	s.storyRoutes(api)
	s.reindexRoutes(api)
	s.statisticsRoutes(api)
	s.eventRoutes(api)
	s.tokenRoutes(api)

	s.savedSearchRoutes(api)

	s.healthRoutes(mux)
	mux.Handle("/outputs/", output.Handler(mux, s.Store))
	readers := s.reader(mux)
	mux.Handle("/reader/", readers)
	mux.Handle(loginPath, readers)
	mux.Handle("/accounts/", readers)
	mux.Handle("/api/", missing(mux))
	mux.Handle("/", pages)
	return s.guarded(mux, scopesOf(api))
}

// op describes an operation, whose scope is in the table [scopes], with all that
// any operation may answer.
func op(method, path, name, summary string, errors ...int) huma.Operation {
	o := huma.Operation{Method: method, Path: path, OperationID: name, Summary: summary, Security: securityOf(name),
		Errors:       append(errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests),
		MaxBodyBytes: maxImport, BodyReadTimeout: time.Minute}
	switch method {
	case http.MethodGet:
		o.Responses = map[string]*huma.Response{"304": {Description: "The client has this answer, by If-None-Match"}}
	case http.MethodPost:
		o.Parameters = []*huma.Param{&onceParam}
		o.Errors = append(o.Errors, http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	}
	if method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch { // they have bodies
		o.Errors = append(o.Errors, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return o
}

// onceParam describes how a POST names itself.
var onceParam = huma.Param{Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
	Description: "Names this request, as a UUID. When it comes again within a day, it is not done again but gets the same answer."}

// statusGone is the status of an answer that nobody waits for any more.
const statusGone = 499

// problem makes an error of ours the client's answer.
func (s *Server) problem(err error) error {
	var refusal *Refusal
	var list *WrongList
	var fault *query.Fault
	switch {
	case errors.As(err, &fault):
		return faultProblem(err, fault)
	case errors.As(err, &refusal):
		return huma.Error409Conflict(refusal.Why)
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, mesh.ErrNoTask):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, storage.ErrConflict), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, storage.ErrBadCursor):
		return huma.Error400BadRequest(err.Error())
	case errors.As(err, &list):
		return huma.Error422UnprocessableEntity(list.Why)
	case errors.Is(err, ErrWrongBulk):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, ErrTooMuch):
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, workbench.ErrBusy):
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(statusGone, "the client has gone")
	}
	s.Log.Error("request failed", "err", err)
	return huma.Error503ServiceUnavailable(err.Error())
}
