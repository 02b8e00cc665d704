// Package role has the nine roles a process can play, one file each. Here tasks
// and records meet the pure code that works on them.
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

	"feedmesh/agent/api"
	"feedmesh/agent/mesh"
	"feedmesh/agent/trace"
	"feedmesh/agent/websub"
	"feedmesh/classify"
	"feedmesh/classify/text"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Role is a part that a process can play in the mesh.
type Role struct {
	Name  string
	Does  string // in a line
	Store bool   // needs the store
	Index bool   // needs the index

	// Run plays the role until ctx ends, and returns when the work in hand is
	// finished.
	Run func(ctx context.Context, env *Env) error
}

// All lists the roles in the order of an item's way.
var All = []Role{Schedule, Crawl, Parse, Prepare, Classify, Cluster, Store, Index, API}

// Select returns the roles with the given names, each once, in the order of
// [All]; "all" stands for all of them.
func Select(names []string) ([]Role, error) {
	var roles []Role
	for _, r := range All {
		if slices.Contains(names, r.Name) || slices.Contains(names, "all") {
			roles = append(roles, r)
		}
	}
	var faults []error
	for _, name := range names {
		known := func(r Role) bool { return r.Name == name }
		if name != "all" && !slices.ContainsFunc(All, known) {
			faults = append(faults, fmt.Errorf("roles: there is no role %q; there are %s", name, strings.Join(Names(All), ", ")))
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

// An Env is what the roles of one process share.
type Env struct {
	Config config.Config
	Mesh   *mesh.Mesh
	Store  storage.Store // nil unless a role needs it
	Index  storage.Index // nil unless a role needs it
	Fetch  Fetcher
	Post   websub.Poster // to hubs

	// By which items are made of entries, and labelled: others each time the rules change.
	Prepare    func() *text.Rules
	Classifier func() *classify.Classifier

	Clock   Clock
	Log     *slog.Logger
	Metrics *Metrics
	Trace   *trace.Tracer // nil: nothing is traced
	Workers int           // goroutines for work that needs a processor
	Room    func() error  // nil if there is room on disk for what would be fetched

	// For the api.
	Version     string
	Listen      net.Listener
	Checks      func(ctx context.Context) []api.Check // what this process stands on
	MetricsPage http.Handler
	Rulebooks   []api.Rulebook // the rule sets there are
}

// Clock tells the time. The nil Clock tells the real one.
type Clock func() time.Time

// Now returns the time, in UTC, to the microsecond as the stores keep it.
func (c Clock) Now() time.Time {
	now := time.Now
	if c != nil {
		now = c
	}
	return now().UTC().Truncate(time.Microsecond)
}

// observe tells the schedule what became of one feed.
func observe(ctx context.Context, to subjects.Publisher, from string, o subjects.Observation) error {
	return subjects.Publish(ctx, to, subjects.Observes, subjects.Observe{
		From:         from + "/" + o.ID(),
		Observations: []subjects.Observation{o},
	})
}

// publishParts publishes a task with as many parts of a document (its entries or
// items), first ones first, as one message carries. If those are not all, the
// document's validators are left out, so that the next poll brings it again for
// the others.
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

// every calls do again and again until ctx ends or do fails.
func every(ctx context.Context, interval time.Duration, do func(ctx context.Context) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		// What was begun is finished even if we are to stop.
		if err := do(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
}
