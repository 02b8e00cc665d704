package node

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/wire"
	"feedmesh/embedded"
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

// newProbes returns the checks of all dependencies of a process; server is nil without an embedded NATS server.
func newProbes(p *process, server *embedded.Server, env *role.Env) []*probe {
	probes := []*probe{newProbe("mesh", env.Mesh.Ping)}
	if server != nil {
		probes = append(probes, newProbe("nats server", func(context.Context) error { return server.Healthy() }))
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
	if p.needsData() {
		probes = append(probes, newProbe("disk", func(context.Context) error { return p.checkDiskSpace() }))
	}
	return probes
}
