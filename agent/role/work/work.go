// Package work contains the parts that all roles share: the environment of their process ([Env]), publishing of
// documents in parts, addresses of entries, and work at intervals. It does not depend on any role.
package work

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/fault"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role/bodycache"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/secret"
	"feedmesh/agent/trace"
	"feedmesh/agent/websub"
	"feedmesh/classify"
	"feedmesh/classify/text"
	"feedmesh/config"
	"feedmesh/storage"
)

// An Env contains the dependencies that the roles of one process share.
type Env struct {
	Config config.Config
	Mesh   *mesh.Mesh
	Store  storage.Store // nil unless a role needs it
	Index  storage.Index // nil unless a role needs it
	Fetch  Fetcher
	Public Fetcher       // refuses private networks, which Fetch may be allowed
	Post   websub.Poster // to hubs

	Receivers http.RoundTripper // to receivers of subscriptions; refuses private networks, except those that feeds may be fetched from
	Bodies    bodycache.Cache   // documents from crawl to parse
	Secrets   *secret.Keys      // of passwords

	// The current rules for cleaning and for classification. They return new values after the rules change.
	Prepare    func() *text.Rules
	Classifier func() *classify.Classifier

	Clock          Clock
	Uptime         func() time.Duration // time since a fixed point, unlike Clock never changed; nil if Clock is not the system clock
	Log            *slog.Logger
	Metrics        prometheus.Registerer // each role registers its metrics when it starts
	Trace          *trace.Tracer         // nil disables tracing
	Workers        int                   // size of worker pools for CPU-bound work
	CheckDiskSpace func() error          // returns an error if the disk is too full for new documents, or the store damaged
}

// A Fetcher fetches one document, or probes one proxy, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
	Probe(ctx context.Context, url string) error
}

// Clock returns the current time. The nil Clock returns the system time.
type Clock func() time.Time

// Now returns the time in UTC, truncated to microseconds, the resolution of the stores.
func (c Clock) Now() time.Time {
	now := fault.Now
	if c != nil {
		now = c
	}
	return now().UTC().Truncate(time.Microsecond)
}

// RepeatEvery calls do at each tick of an interval, see [mesh.UntilTick], until ctx ends or do fails.
func RepeatEvery(ctx context.Context, interval time.Duration, do func(ctx context.Context) error) error {
	for Sleep(ctx, mesh.UntilTick(interval)) {
		// A started call is completed even if ctx ends.
		if err := do(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// Sleep waits for d and reports whether ctx is still valid.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
