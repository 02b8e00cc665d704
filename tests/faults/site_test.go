//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tests/machines"
)

const (
	siteDelay = time.Millisecond // in each direction

	// balanceTimeout is the time within which leases are spread over agents that came.
	balanceTimeout = 45 * time.Second

	// takeoverTimeout is the time within which other agents have the leases of those that are away.
	takeoverTimeout = 20 * time.Second
)

// siteNetwork is the number of the site's network.
const siteNetwork = 3

// siteAway adds a site: two agents in network namespaces with addresses of their own, which reach all servers by links with a
// delay. When they hold leases, the site and a NATS server are cut off from the rest, while the feeds still answer the site.
// Others must take its leases over, and what it does meanwhile must have no effect.
func siteAway(m *mesh, r *run) {
	network, err := machines.NewNetwork(siteNetwork)
	if errors.Is(err, machines.ErrUnavailable) {
		m.logf("%s SKIPPED, NOT TESTED: %v", r.id, err)
		return
	}
	if err != nil {
		r.miss("%v", err)
		return
	}
	s := &site{mesh: m, network: network}
	defer s.close(r)
	for i, roles := range [][]string{{"schedule", "parse", "cluster", "store", "index"}, helpers} {
		if err := s.add(fmt.Sprintf("site-%d-%d", time.Now().Unix(), i), roles); err != nil {
			r.miss("%v", err)
			return
		}
	}
	for first := true; first || r.left(time.Minute); first = false {
		s.cutOnce(r)
	}
}

// A site is a place of agents.
type site struct {
	*mesh
	network *machines.Network
	agents  []*agent
	links   []*proxy // between the site and the servers
}

// close ends the agents and the network of the site.
func (s *site) close(r *run) {
	for _, a := range s.agents {
		if !a.dismiss(time.Minute) || a.ExitCode() != 0 {
			r.miss("%s did not leave in order: code %d: %s", a.Name, a.ExitCode(), lastLines(a.Log(), 3))
		}
	}
	if err := s.network.Close(); err != nil {
		r.miss("%v", err)
	}
}

// listens matches the arguments for addresses on which an agent listens: on its machine it has none to reach it by.
func listens(arg string) bool { return arg == "--health" || arg == "--listen" }

// add starts an agent of the site.
func (s *site) add(name string, roles []string) error {
	machine, err := s.network.Add(1)
	if err != nil {
		return err
	}
	a := s.newAgent(name, roles)
	a.Args = append(a.Args, "--name", name)
	if i := slices.IndexFunc(a.Args, listens); i >= 0 {
		a.Args = slices.Delete(a.Args, i, i+2)
	}
	a.Args, err = machines.ReplaceServers(a.Args, func(server string) (string, error) {
		p, err := newProxy(s.t, server)
		if err != nil {
			return "", err
		}
		s.links = append(s.links, p)
		return p.address(), nil
	})
	if err == nil {
		a.Args, err = s.network.Linked(a.Args, siteDelay)
	}
	if err != nil {
		return err
	}
	machine.On(a.Process)
	s.register(a)
	s.agents = append(s.agents, a)
	go a.supervise(s.ctx, s.logf)
	return nil
}

// cutOnce cuts the site off until the end of its run, and waits until it is back.
func (s *site) cutOnce(r *run) {
	held, err := s.awaitLeases(balanceTimeout, func(n int) bool { return n > 0 })
	if err != nil {
		r.miss("the site got no leases: %v", err)
	}
	i := r.random.IntN(len(s.nats))
	s.logf("the site, with %d leases, and %s are cut off", held, s.nats[i].Name)
	r.hits.Add(1)
	s.nats[i].isolated.Store(true)
	s.partition(i, true)
	began := time.Now()
	if left, err := s.awaitLeases(takeoverTimeout, func(n int) bool { return n == 0 }); err != nil {
		r.late("%d leases of the site were not taken over: %v", left, err)
	}
	s.logf("others have the leases of the site after %v", time.Since(began).Round(100*time.Millisecond))
	time.Sleep(time.Until(began.Add(r.lasts)))
	s.partition(i, false)
	s.nats[i].isolated.Store(false)
	s.logf("the site is back")
	s.serversBack(r)
	if _, err := s.awaitLeases(balanceTimeout, func(n int) bool { return n > 0 }); err != nil {
		r.miss("the site got no leases when it was back: %v", err)
	}
}

// partition cuts the site and a NATS server off from the rest, or ends that.
func (s *site) partition(server int, cut bool) {
	for _, p := range append(slices.Clone(s.links), s.routes[server]...) {
		p.partition(cut)
	}
}

// awaitLeases waits until the number of leases of the site is as wanted, and returns it.
func (s *site) awaitLeases(timeout time.Duration, wanted func(n int) bool) (held int, err error) {
	err = eventually(timeout, func() error {
		var status wire.Status
		err := s.request(func(ctx context.Context, c *client.Client) (err error) {
			status, err = client.Call(ctx, c, wire.GetStatus, wire.None{})
			return err
		})
		if err != nil {
			return err
		}
		held = 0
		for _, a := range status.Agents {
			if !slices.ContainsFunc(s.agents, func(own *agent) bool { return own.Name == a.Name }) {
				continue
			}
			for _, lease := range status.Active {
				if lease.Agent == a.ID {
					held++
				}
			}
		}
		if !wanted(held) {
			return fmt.Errorf("it has %d leases", held)
		}
		return nil
	})
	return held, err
}
