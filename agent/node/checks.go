package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/wire"
	"feedmesh/embedded"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// probe checks one dependency of this process.
type probe struct {
	name string
	ping func(context.Context) error
	busy chan struct{} // holds a value while a check is in progress
}

func newProbe(name string, ping func(context.Context) error) *probe {
	return &probe{name: name, ping: ping, busy: make(chan struct{}, 1)}
}

// probeTimeout is the timeout of a check.
const probeTimeout = 2 * time.Second

// check runs the check with a timeout, even if the dependency ignores its context. A check that has not
// returned yet is not started again, so that blocked goroutines do not accumulate.
func (p *probe) check(ctx context.Context) wire.Check {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	answer := make(chan error, 1)
	select {
	case p.busy <- struct{}{}:
		go func() {
			answer <- p.ping(ctx)
			<-p.busy
		}()
	case <-ctx.Done():
	}
	select {
	case err := <-answer:
		return result(p.name, err)
	case <-ctx.Done():
		return result(p.name, fmt.Errorf("no response within %v", probeTimeout))
	}
}

func result(name string, err error) wire.Check {
	c := wire.Check{Name: name, OK: err == nil}
	if err != nil {
		c.Detail = err.Error()
		c.Warning = errors.As(err, new(warning))
	}
	return c
}

// The names of checks that are also made without a request.
const (
	storeCheck = "store"
	indexCheck = "index"
)

// newProbes returns the checks of all dependencies of a process; server is nil without an embedded NATS server.
func newProbes(p *process, server *embedded.Server, env *role.Env) []*probe {
	probes := []*probe{newProbe("mesh", env.Mesh.Ping)}
	if server != nil {
		probes = append(probes, newProbe("nats server", func(context.Context) error { return cmp.Or(server.Healthy(), checkLost(server)) }))
	}
	if env.Store != nil {
		probes = append(probes, newProbe(storeCheck, func(ctx context.Context) error {
			_, err := env.Store.ID(ctx)
			return err
		}), newProbe("subscriptions", func(ctx context.Context) error { return checkDelivered(ctx, env) }))
	}
	if env.Index != nil {
		probes = append(probes, newIndexProbe(env))
	}
	if p.search != nil {
		probes = append(probes, newProbe("meilisearch", func(context.Context) error { return p.search.Running() }))
	}
	if p.needsData() {
		probes = append(probes, newProbe("disk", func(context.Context) error { return p.checkDiskSpace() }))
	}
	return append(probes, newProbe("passwords", func(ctx context.Context) error {
		if err := env.Secrets.Check(ctx); err != nil {
			return warning{err}
		}
		return nil
	}))
}

// checkDelivered warns if there are subscriptions and no agent sends their items.
func checkDelivered(ctx context.Context, env *role.Env) error {
	is, err := storage.Subscriptions(env.Store).Any(ctx)
	if err != nil || !is {
		return nil // the check of the store reports an error
	}
	agents, err := env.Mesh.Agents(ctx)
	if err != nil {
		return nil // the check of the mesh reports it
	}
	if !slices.ContainsFunc(agents, func(a subjects.Agent) bool { return slices.Contains(a.Roles, role.Deliver) }) {
		return warning{errors.New("no agent sends the items of subscriptions: start one with the role " + role.Deliver)}
	}
	return nil
}

// A warning is the error of a check whose process is ready nevertheless.
type warning struct{ error }

// fillGrace is the time that the index lacks most items without a pause before a check warns: in the first seconds of
// an import, more items are stored than are searchable, since the index takes them in larger batches.
const fillGrace = 10 * time.Second

// newIndexProbe returns the check of the index. It warns while an index that was replaced or lost is filled again.
func newIndexProbe(env *role.Env) *probe {
	var r refill
	return newProbe(indexCheck, func(ctx context.Context) error {
		indexed, err := env.Index.Count(ctx)
		if err != nil || env.Store == nil || !r.mustCount(time.Now(), indexed) {
			return err
		}
		counts, err := env.Store.CountFeeds(ctx, storage.FeedQuery{})
		if err != nil {
			return nil // the check of the store reports it
		}
		if r.goesOn(time.Now(), indexed, counts.Items) {
			return warning{fmt.Errorf("the index is being rebuilt from the store: %d of %d items are searchable", indexed, counts.Items)}
		}
		return nil
	})
}

// A refill is the state of an index that may have to be filled again.
type refill struct {
	since   time.Time // when the index began to lack most items; zero if it has more
	lost    bool      // whether it lacked them for fillGrace, until it has nearly all again
	stored  int64     // items at the last count
	counted time.Time // when that was
}

// recountInterval is the interval at which the items of the store are counted while the index has most of them: the
// count reads all feeds.
const recountInterval = time.Minute

// mustCount reports whether the stored items have to be counted to find out whether the index lacks most of them.
func (r *refill) mustCount(now time.Time, indexed int64) bool {
	return r.lost || indexed == 0 || 2*indexed < r.stored || now.Sub(r.counted) >= recountInterval
}

// goesOn reports whether an index that was lost is still being filled, from the numbers of its items and of those
// stored.
func (r *refill) goesOn(now time.Time, indexed, stored int64) bool {
	r.stored, r.counted = stored, now
	if 2*indexed >= stored {
		r.since = time.Time{}
	} else if r.since.IsZero() {
		r.since = now
	}
	lost := r.lost || !r.since.IsZero() && now.Sub(r.since) >= fillGrace
	r.lost = lost && indexed < stored-stored/50
	return r.lost
}

// checkLost warns of messages that the embedded NATS server lost.
func checkLost(server *embedded.Server) error {
	lost, err := server.Lost()
	if err != nil || len(lost) == 0 {
		return err
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		kind := "stream"
		bucket, is := strings.CutPrefix(name, "KV_")
		if is {
			kind = "bucket"
		}
		parts = append(parts, fmt.Sprintf("%d of %s %s", lost[name], kind, bucket))
	}
	return warning{fmt.Errorf("files of the NATS server were damaged, and it lost messages: %s: feeds are polled again and the index is compared with the store, "+
		"so that items come again; check the disk; a restart of the agent ends this warning", strings.Join(parts, ", "))}
}
