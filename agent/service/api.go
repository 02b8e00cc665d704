// Package service is the REST interface: feeds, items, search, stories, rules and the state of the mesh, served
// from the store and the index. [Server] implements it and [Client] calls it. The OpenAPI description at
// /openapi.json is generated from the same code. Errors are answered as application/problem+json. Request
// bodies, concurrent searches, streams, tests and bulk changes are bounded; what exceeds a bound gets status
// 413 or 429.
package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/access"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/web/output"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Mesh is the part of [mesh.Mesh] that the API uses.
type Mesh interface {
	subjects.Publisher
	Schema(ctx context.Context) int // newest schema version that all agents decode
	State(ctx context.Context, feedID string) (*subjects.State, error)
	Polls(ctx context.Context, feedID string) ([]subjects.Poll, error) // newest first
	LoadStates(ctx context.Context, each func(subjects.FeedState)) error
	Proxy(ctx context.Context, id string) (*subjects.Proxy, error) // nil: no state stored
	Depths(ctx context.Context) ([]mesh.Depth, error)
	Agents(ctx context.Context) ([]subjects.Agent, error)
	Leases(ctx context.Context) (map[string]subjects.Lease, error)
	Quarantined(ctx context.Context, after uint64, limit int) ([]subjects.Quarantined, error)
	QuarantinedTask(ctx context.Context, seq uint64) (subjects.Quarantined, error)
	Replay(ctx context.Context, seq uint64) error
	DeleteQuarantined(ctx context.Context, seq uint64) error
	Single(ctx context.Context, name string, run func(ctx context.Context) error) error
	PutRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error
	SubscribeEvents(ctx context.Context, each func(subjects.Event)) error
}

// A Fetcher fetches one document, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
}

// Deps are the dependencies of a [Server].
type Deps struct {
	Store        storage.Store
	Index        storage.Index
	Mesh         Mesh
	Fetcher      Fetcher                                // for feed discovery and fetch tests
	Checks       func(ctx context.Context) []wire.Check // dependencies of this process and their health
	Metrics      http.Handler
	RuleSetSpecs []RuleSetSpec            // all rule sets of this program
	Decider      func() workbench.Decider // the rules in force in this process
	Token        string                   // of the owner, allows everything; empty: requests from this machine are allowed everything
	CORSOrigins  []string                 // origins whose pages may search here; "*" allows all
	Idempotency  IdempotencyStore         // responses for repeated requests; nil: requests with an Idempotency-Key are refused
	Version      string
	Now          func() time.Time
	Log          *slog.Logger

	RequestsPerClient int // a second; 0: unlimited

	// CompareCommand runs [compare.Worker] in a child process; nil: this program.
	CompareCommand []string
}

// A core is shared by all nouns.
type core struct {
	Deps
	feedStates stateCache
}

// A Server answers requests of the API. Its methods may be called concurrently.
type Server struct {
	*core
	Bulk       *Bulk
	Feeds      *Feeds
	Imports    *Imports
	Proxies    *Proxies
	Tokens     *Tokens
	Rules      *Rules
	Trials     *Trials
	Jobs       *Jobs
	Quarantine *Quarantine
	Reindexing *Reindexing

	Items       *Items
	Corrections *Corrections
	Duplicates  *Duplicates
	Stories     *Stories
	StoryEdits  *StoryEdits

	Search        *Search
	SavedSearches *SavedSearches
	Spam          *Spam

	Discovery  *Discovery
	FetchTests *FetchTests
	Status     *Status
	Statistics *Statistics
	Events     *Events

	tokens         *access.TokenStore
	requestLimiter *access.Limiter // by client
	failedLogins   *access.Limiter // failed authentications, by address
}

// New returns a server.
func New(d Deps) *Server {
	c := &core{Deps: d}
	feeds := &Feeds{c}
	tokens := access.NewTokenStore(d.Store, d.Token)
	stories, edits, corrections := &Stories{c}, &editor{c, defaultEditTimeout}, &Corrections{c}
	status := &Status{c}
	return &Server{
		core: c, Bulk: newBulk(feeds), Feeds: feeds, Imports: newImports(c), Proxies: &Proxies{c}, Tokens: &Tokens{c, tokens}, Rules: &Rules{c},
		Trials: &Trials{core: c, slots: make(chan struct{}, maxBacktests)}, Jobs: &Jobs{c, make(chan struct{}, 1)},
		Items: &Items{c}, Corrections: corrections, Duplicates: &Duplicates{edits}, Stories: stories, StoryEdits: &StoryEdits{edits, stories},
		Search: &Search{c, make(chan struct{}, maxStoreSearches)}, SavedSearches: &SavedSearches{c}, Spam: &Spam{c, corrections},
		Quarantine: &Quarantine{c}, Reindexing: &Reindexing{core: c},
		Discovery: &Discovery{c}, FetchTests: &FetchTests{core: c, comparisons: make(chan struct{}, 1)},
		Status: status, Statistics: &Statistics{core: c}, Events: &Events{c, status, newStreams()},
		tokens: tokens, failedLogins: access.NewLimiter(wrongTokens/60., wrongTokens),
		requestLimiter: access.NewLimiter(float64(d.RequestsPerClient), burst*d.RequestsPerClient),
	}
}

// Close cancels the background work of the server, a repair and back-tests, and waits for it. The rest of a
// repair must be started again.
func (s *Server) Close() {
	s.Reindexing.end()
	s.Trials.backtests.end()
}

// wrongTokens is the number of wrong tokens accepted from one address a minute.
const wrongTokens = 10

// TokenStore returns the store that checks tokens.
func (s *Server) TokenStore() *access.TokenStore { return s.tokens }

// Handler returns the API and passes all other paths to pages. The same guard protects both.
func (s *Server) Handler(pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	cfg := huma.DefaultConfig("feedmesh", s.Version)
	cfg.Info.Description = "Feeds in, searchable items out."
	cfg.DocsPath = "" // its pages load scripts from other sites
	cfg.CreateHooks = nil
	cfg.Components.SecuritySchemes = schemes
	api := humago.New(mux, cfg)

	for _, r := range s.routes() {
		r.register(api, s)
	}
	describeQueryProblem(api)

	s.healthRoutes(mux)
	mux.Handle("/outputs/", output.Handler(mux, s.Store))
	readers := s.reader(mux)
	mux.Handle("/reader/", readers)
	mux.Handle(loginPath, readers)
	mux.Handle("/accounts/", readers)
	mux.Handle("/api/", notFound(mux))
	mux.Handle("/", pages)
	return s.guarded(mux, scopesOf(api, s.scopeTable()))
}

// statusGone is the status of a response whose client has disconnected.
const statusGone = 499

// problem converts an error to a response. Errors that no client caused are logged.
func (s *Server) problem(err error) error {
	if p := asProblem(err); p != nil {
		return p
	}
	var syntaxErr *query.SyntaxError
	switch {
	case errors.As(err, &syntaxErr):
		return queryError(err, syntaxErr)
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, mesh.ErrNoTask):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, storage.ErrConflict), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, storage.ErrBadCursor):
		return huma.Error400BadRequest(err.Error())
	case errors.Is(err, workbench.ErrBusy):
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(statusGone, "the client disconnected")
	}
	s.Log.Error("request failed", "err", err)
	return huma.Error503ServiceUnavailable(err.Error())
}
