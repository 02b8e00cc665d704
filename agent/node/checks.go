package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
)

// A probe asks whether one of the things is well that this process stands on.
type probe struct {
	name string
	ask  func(context.Context) error
	turn chan struct{} // has room for the one who asks
}

func newProbe(name string, ask func(context.Context) error) *probe {
	return &probe{name: name, ask: ask, turn: make(chan struct{}, 1)}
}

// probeTime is how long a thing may take to answer.
const probeTime = 2 * time.Second

// check asks, and gives up on what does not answer in time, even if it does not
// heed its context. Such a thing is not asked again before it has answered: those
// who wait for it would add up.
func (p *probe) check(ctx context.Context) api.Check {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	answer := make(chan error, 1)
	select {
	case p.turn <- struct{}{}:
		go func() {
			answer <- p.ask(ctx)
			<-p.turn
		}()
	case <-ctx.Done():
	}
	select {
	case err := <-answer:
		return result(p.name, err)
	case <-ctx.Done():
		return result(p.name, fmt.Errorf("it has not answered for %v", probeTime))
	}
}

func result(name string, err error) api.Check {
	c := api.Check{Name: name, OK: err == nil}
	if err != nil {
		c.Detail = err.Error()
	}
	return c
}

// probesOf returns what asks about all that this process stands on.
func (n *node) probesOf(env *role.Env) []*probe {
	probes := []*probe{newProbe("mesh", n.mesh.Ping)}
	if n.server != nil {
		probes = append(probes, newProbe("nats server", func(context.Context) error { return n.server.Healthy() }))
	}
	if env.Store != nil {
		probes = append(probes, newProbe("store", env.Store.Ping))
	}
	if env.Index != nil {
		probes = append(probes, newProbe("index", func(ctx context.Context) error {
			_, err := env.Index.Count(ctx)
			return err
		}))
	}
	if n.needsData() {
		probes = append(probes, newProbe("disk", func(context.Context) error { return n.room() }))
	}
	return probes
}

// checks asks about all of them, side by side.
func (n *node) checks(ctx context.Context) []api.Check {
	if !n.running.Load() {
		return []api.Check{result("agent", errors.New("it is starting, or stopping"))}
	}
	checks := make([]api.Check, len(n.probes))
	var group sync.WaitGroup
	for i, p := range n.probes {
		group.Go(func() { checks[i] = p.check(ctx) })
	}
	group.Wait()
	return checks
}
