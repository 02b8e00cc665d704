package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/wire"
)

// probe checks one dependency of this process.
type probe struct {
	name string
	ping func(context.Context) error
	busy chan struct{} // holds a token while a check is in progress
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
	}
	return c
}

// probesOf returns the checks of all dependencies of this process.
func (n *node) probesOf(env *role.Env) []*probe {
	probes := []*probe{newProbe("mesh", n.mesh.Ping)}
	if n.server != nil {
		probes = append(probes, newProbe("nats server", func(context.Context) error { return n.server.Healthy() }))
	}
	if env.Store != nil {
		probes = append(probes, newProbe("store", func(ctx context.Context) error {
			_, err := env.Store.ID(ctx)
			return err
		}))
	}
	if env.Index != nil {
		probes = append(probes, newProbe("index", func(ctx context.Context) error {
			_, err := env.Index.Count(ctx)
			return err
		}))
	}
	if n.needsData() {
		probes = append(probes, newProbe("disk", func(context.Context) error { return n.checkDiskSpace() }))
	}
	return probes
}

// checks runs all checks concurrently.
func (n *node) checks(ctx context.Context) []wire.Check {
	if !n.running.Load() {
		return []wire.Check{result("agent", errors.New("starting or stopping"))}
	}
	checks := make([]wire.Check, len(n.probes))
	var group sync.WaitGroup
	for i, p := range n.probes {
		group.Go(func() { checks[i] = p.check(ctx) })
	}
	group.Wait()
	return checks
}
