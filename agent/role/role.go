// Package role implements the nine roles that a process can run: [Schedule], [Crawl], [Parse], [Prepare],
// [Classify], [Cluster], [Store], [Index] and [API], one file each. Roles connect tasks and stored records
// with the pure packages that process them. [All] lists them; an [Env] contains their dependencies. Memory is
// bounded by batch, queue and window sizes stated at each role.
package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/bodycache"
	"feedmesh/agent/service"
	"feedmesh/agent/trace"
	"feedmesh/agent/websub"
	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/classify/text"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Role is a function that a process can perform in the mesh.
type Role struct {
	Name        string
	Description string // description in one line
	Store       bool   // needs the store
	Index       bool   // needs the index

	// Run performs the role until ctx ends, and returns after the work in progress is finished.
	Run func(ctx context.Context, env *Env) error
}

// All lists the roles in the order in which an item passes them.
var All = []Role{Schedule, Crawl, Parse, Prepare, Classify, Cluster, Store, Index, API}

// Select returns the roles with the given names, each once, in the order of [All]; "all" selects every role.
func Select(names []string) ([]Role, error) {
	var roles []Role
	for _, r := range All {
		if slices.Contains(names, r.Name) || slices.Contains(names, "all") {
			roles = append(roles, r)
		}
	}
	var faults []error
	for _, name := range names {
		isNamed := func(r Role) bool { return r.Name == name }
		if name != "all" && !slices.ContainsFunc(All, isNamed) {
			faults = append(faults, fmt.Errorf("roles: unknown role %q; available: %s", name, strings.Join(Names(All), ", ")))
		}
	}
	return roles, errors.Join(faults...)
}

// Names returns the names of the roles.
func Names(roles []Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	return names
}

// An Env contains the dependencies that the roles of one process share.
type Env struct {
	Config config.Config
	Mesh   *mesh.Mesh
	Store  storage.Store // nil unless a role needs it
	Index  storage.Index // nil unless a role needs it
	Fetch  Fetcher
	Post   websub.Poster   // to hubs
	Bodies bodycache.Cache // documents from crawl to parse

	// The current rules for cleaning and for classification. They return new values after the rules change.
	Prepare    func() *text.Rules
	Classifier func() *classify.Classifier

	Clock          Clock
	Log            *slog.Logger
	Metrics        *Metrics
	Trace          *trace.Tracer // nil disables tracing
	Workers        int           // goroutines for CPU-bound work
	CheckDiskSpace func() error  // returns an error if the disk is too full for new documents

	// For the API role.
	Version     string
	Listen      net.Listener
	Checks      func(ctx context.Context) []wire.Check // readiness of this process's dependencies
	MetricsPage http.Handler
	RuleSets    []service.RuleSetSpec // available rule sets
}

// Clock returns the current time. The nil Clock returns the system time.
type Clock func() time.Time

// Now returns the time in UTC, truncated to microseconds, the resolution of the stores.
func (c Clock) Now() time.Time {
	now := time.Now
	if c != nil {
		now = c
	}
	return now().UTC().Truncate(time.Microsecond)
}

// publishObservation reports the result of one feed to the schedule.
func publishObservation(ctx context.Context, to subjects.Publisher, from string, o subjects.Observation) error {
	return subjects.Publish(ctx, to, subjects.ObserveQueue, subjects.Observe{
		Source:       from + "/" + o.ID(),
		Observations: []subjects.Observation{o},
	})
}

// publishParts publishes a task with as many parts of a document (entries or items) as one message can carry,
// from the first on. If parts are left out, the document's validators are cleared, so that the next poll
// fetches it again for the rest.
func publishParts[T subjects.Task, P any](
	ctx context.Context, to subjects.Publisher, queue subjects.Queue[T],
	d subjects.Document, parts []P, task func(subjects.Document, []P) T,
) error {
	for {
		err := subjects.Publish(ctx, to, queue, task(d, parts))
		if len(parts) < 2 || !errors.Is(err, subjects.ErrTooLarge) {
			return err
		}
		parts = parts[:len(parts)/2]
		d.ETag, d.LastModified, d.BodyHash = "", "", ""
	}
}

// repeatEvery calls do at an interval until ctx ends or do fails.
func repeatEvery(ctx context.Context, interval time.Duration, do func(ctx context.Context) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		// A started call is completed even if ctx ends.
		if err := do(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
}
