// Package service answers the requests of package wire: feeds, items, search, stories, rules and the state of
// the mesh, from the store, the index and the mesh. It knows nothing of HTTP: the REST interface, the console,
// outputs, and the Google Reader API call its methods. Errors that a user caused are an [*Error]. Concurrent
// searches, streams, tests and bulk changes are bounded; what exceeds a bound is an error of [KindBusy] or
// [KindTooLarge].
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/access/oidc"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/secret"
	"feedmesh/agent/service/briefing"
	"feedmesh/agent/service/front"
	"feedmesh/agent/service/fulltext"
	"feedmesh/agent/service/imageproxy"
	"feedmesh/agent/service/interest"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Mesh is the part of [mesh.Mesh] that the API uses.
type Mesh interface {
	subjects.Publisher
	Schema(ctx context.Context) int                                                      // newest schema version that all agents decode
	StatesOf(ctx context.Context, feedIDs ...string) (map[string]*subjects.State, error) // by feed ID
	Polls(ctx context.Context, feedID string) ([]subjects.Poll, error)                   // newest first
	LoadStates(ctx context.Context, each func(subjects.FeedState)) error
	Proxy(ctx context.Context, id string) (*subjects.Proxy, error) // nil: no state stored
	Host(ctx context.Context, name string) (*subjects.Host, error) // nil: no state stored
	Depths(ctx context.Context) ([]subjects.Depth, error)
	Agents(ctx context.Context) ([]subjects.Agent, error)
	Leases(ctx context.Context) (map[string]subjects.Lease, error)
	IsAlone() bool
	Cordon(ctx context.Context, cordon subjects.Cordon) error
	Uncordon(ctx context.Context, name string) error
	Cordons(ctx context.Context) ([]subjects.Cordon, error)
	Quarantined(ctx context.Context, after uint64, limit int) ([]subjects.Quarantined, error)
	QuarantinedTask(ctx context.Context, seq uint64) (subjects.Quarantined, error)
	Replay(ctx context.Context, seq uint64) error
	DeleteQuarantined(ctx context.Context, seq uint64) error
	Single(ctx context.Context, name string, run func(ctx context.Context) error) error
	PutRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error
	SubscribeEvents(ctx context.Context, subscribed func(), each func(subjects.Event)) error
}

// A Fetcher fetches one document, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
}

// Deps are the dependencies of a [Service].
type Deps struct {
	Store         storage.Store
	Index         storage.Index
	Mesh          Mesh
	Channels      map[string]channel.Channel                   // through which subscriptions send, by name
	Secrets       *secret.Keys                                 // seal passwords
	Fetcher       Fetcher                                      // for feed discovery and fetch tests
	PublicFetcher Fetcher                                      // for pictures and pages: it refuses private networks, which Fetcher may be allowed
	Checks        func(ctx context.Context) []wire.Check       // dependencies of this process and their health
	Stalled       func() []string                              // work of the mesh that stands still, since when, and what to do; may be nil
	DiskSpace     func() error                                 // returns an error if the disk is too full for changes; may be nil
	MakeBackup    func(context.Context) (wire.Download, error) // of store and schedule; nil: no backups are made
	BackupState   func() *wire.BackupState                     // of backups; may be nil, and return nil
	RuleSetSpecs  []RuleSetSpec                                // all rule sets of this program
	Decider       func() workbench.Decider                     // the rules in force in this process
	Prepare       func() *text.Rules                           // those by which entries become items; nil: the built-in rules
	Token         string                                       // of the owner, allows everything; empty: requests from this machine are allowed everything
	Unique        int                                          // percentage from which searches hide results that repeat others; 0: none
	OIDC          oidc.Options                                 // provider by which people log in; the zero value: none
	Briefing      briefing.Options                             // endpoint that writes briefings; without a URL: none. Its clock and log are those below
	HealthToken   string                                       // of clients that may read readiness and metrics only; optional
	Version       string
	Now           func() time.Time
	Log           *slog.Logger
	PictureCache  string // folder of cached pictures; empty: none are cached

	// CompareCommand runs [compare.Worker] in a child process; nil: this program.
	CompareCommand []string
}

// A core is shared by all nouns.
type core struct {
	Deps
	writer     *briefing.Writer
	feedStates stateCache
}

// A Service answers requests, a field for each noun. Its methods may be called concurrently.
type Service struct {
	*core
	Bulk       *Bulk
	Feeds      *Feeds
	Imports    *Imports
	Proxies    *Proxies
	Tokens     *Tokens
	People     *People
	Backups    *Backups
	Rules      *Rules
	Trials     *Trials
	Jobs       *Jobs
	Cordons    *Cordons
	Quarantine *Quarantine
	Reindexing *Reindexing

	Items       *Items
	Corrections *Corrections
	Duplicates  *Duplicates
	Stories     *Stories
	StoryEdits  *StoryEdits
	Briefings   *Briefings
	Front       *front.Pages
	Follows     *Follows

	Search        *Search
	Views         *Views
	Subscriptions *Subscriptions
	Spam          *Spam
	Reading       *reading.Lists
	Interests     *interest.Interests
	Pictures      *imageproxy.Proxy

	Discovery  *Discovery
	FetchTests *FetchTests
	Status     *Status
	Statistics *Statistics
	Retention  *Retention
	Events     *Events
}

// maxPictureCache bounds the cached pictures, in bytes.
const maxPictureCache = 500 << 20

// New returns a service.
func New(d Deps) *Service {
	d.Briefing.Now, d.Briefing.Log = d.Now, d.Log
	c := &core{Deps: d, writer: briefing.New(d.Briefing)}
	feeds := &Feeds{c}
	stories, edits, corrections := &Stories{c}, &editor{c, defaultEditTimeout}, &Corrections{c}
	status, tokens := &Status{c}, access.NewTokenStore(d.Store, d.Token, d.HealthToken)
	pages := front.New(front.Options{Store: d.Store, Index: d.Index, Across: stories.across, Now: d.Now, Log: d.Log})
	lists := reading.New(d.Store, d.Mesh, d.Now, d.Log)
	search := &Search{c, lists, make(chan struct{}, maxStoreSearches)}
	events := &Events{c, status, newStreams()}
	views := &Views{core: c, search: search, events: events}
	lists.ReadViews(readableViews{views})
	subscriptions := &Subscriptions{core: c, views: views}
	interests := interest.New(d.Store, lists, d.Now, d.Log)
	return &Service{
		core: c, Bulk: &Bulk{feeds, make(chan struct{}, MaxBulks)}, Feeds: feeds, Imports: &Imports{c, make(chan struct{}, 1)}, Proxies: &Proxies{c}, Tokens: &Tokens{c, tokens, interests, subscriptions}, People: newPeople(c, tokens, interests, subscriptions), Backups: &Backups{c}, Rules: &Rules{c},
		Trials: &Trials{core: c, Slots: make(chan struct{}, MaxBacktests)}, Jobs: &Jobs{c, make(chan struct{}, 1)},
		Items: &Items{c, fulltext.New(d.Fetcher, d.PublicFetcher, d.Prepare, d.Now)}, Corrections: corrections, Duplicates: &Duplicates{edits}, Stories: stories, StoryEdits: &StoryEdits{edits, stories},
		Briefings: &Briefings{c, stories, search, views},
		Front:     pages, Follows: &Follows{pages},
		Search: search, Views: views, Subscriptions: subscriptions, Spam: &Spam{c, corrections},
		Reading: lists, Interests: interests,
		Pictures: imageproxy.New(imageproxy.Options{
			Store: d.Store, Fetcher: d.Fetcher, Public: d.PublicFetcher, Folder: d.PictureCache, Limit: maxPictureCache, Space: d.DiskSpace, Log: d.Log,
		}),
		Cordons:    &Cordons{c},
		Quarantine: &Quarantine{c}, Reindexing: &Reindexing{core: c},
		Discovery: &Discovery{c}, FetchTests: &FetchTests{core: c, comparisons: make(chan struct{}, 1)},
		Status: status, Statistics: &Statistics{c, newActivityCache()}, Retention: &Retention{c}, Events: events,
	}
}

// Close cancels the background work of the service, a repair, back-tests, comparisons of stories, learning and briefings, and waits for it. The rest of a
// repair must be started again.
func (s *Service) Close() {
	s.Reindexing.end()
	s.Trials.backtests.end()
	s.Front.Close()
	s.Interests.Close()
	s.writer.Close()
}

// CheckSpace returns an error of [KindFull] if the disk has no space for changes. REST, console and Google Reader call it
// before each change: without space a change would fail after a timeout, or half done.
func (s *Service) CheckSpace() error {
	if s.DiskSpace == nil {
		return nil
	}
	if err := s.DiskSpace(); err != nil {
		return errorf(KindFull, "nothing can be changed now, only read: %v", err)
	}
	return nil
}

// convert returns the results of f, an empty list rather than nil, since clients get a list and not null.
func convert[S, T any](list []S, f func(S) T) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// firstPage returns the first limit rows of a list that was read with a limit of one more, and whether more exist.
func firstPage[T any](rows []T, limit int) (page []T, more bool) {
	if len(rows) > limit {
		return rows[:limit], true
	}
	return rows, false
}

// A Kind says why a request can't be done.
type Kind int

// The kinds of errors.
const (
	KindMalformed    Kind = iota + 1 // it can't be read
	KindInvalid                      // a value is not allowed
	KindNotFound                     // it names nothing that exists
	KindConflict                     // the current state does not allow it
	KindPrecondition                 // it must state the version that it is based on
	KindTooLarge                     // its content exceeds a limit
	KindBusy                         // too many of its kind are running: retry later
	KindFull                         // the disk has no space for the change
)

// An Error is a request that can't be done as asked. Its message is for the user who asked.
type Error struct {
	Kind    Kind
	Message string
	Fields  []FieldError // errors in single parts of the request; optional
}

// A FieldError is an error in one part of a request.
type FieldError struct {
	At      string // such as body.url; empty: the whole body
	Message string
}

// Error returns the message and the errors in single parts.
func (e *Error) Error() string {
	words := e.Message
	for i, f := range e.Fields {
		words += [2]string{": ", "; "}[min(i, 1)] + f.Message
	}
	return words
}

// KindOf returns the kind of an [*Error], or 0 for another error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

// errorf returns an error of a kind.
func errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// fieldf returns an error in one part of a request.
func fieldf(at, format string, args ...any) FieldError {
	return FieldError{At: at, Message: fmt.Sprintf(format, args...)}
}

// Backups makes backups.
type Backups struct{ *core }

// Make makes a backup of store and schedule. The caller closes its body.
func (b *Backups) Make(ctx context.Context, _ wire.None) (wire.Download, error) {
	if b.MakeBackup == nil {
		return wire.Download{}, errorf(KindConflict, "this agent makes no backups")
	}
	return b.MakeBackup(ctx)
}
