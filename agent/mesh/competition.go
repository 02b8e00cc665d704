package mesh

import (
	"maps"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/mesh/balance"
	"feedmesh/subjects"
)

const (
	// moveDelay is how long a lease must be assigned to the same other agent until its holder releases it: an agent that
	// restarts, or several that join one after the other, move a lease once.
	moveDelay = 15 * time.Second

	// yieldDelay is how long a free lease is left to the agent to which it is assigned.
	yieldDelay = 6 * time.Second

	// failureDelay is how long an agent does not compete for a lease after its actor failed, and how long no lease is
	// moved to an agent again that did not acquire it.
	failureDelay = 5 * time.Minute
)

// A competition has the leases that each agent competes for, and computes the agent to which each lease is assigned.
type competition struct {
	agent string // this one

	mu       sync.Mutex
	cordoned bool                 // it competes for no lease
	own      map[string]time.Time // leases that this process competes for, with the times from which on it does
	others   map[string]agentInfo // heartbeats of the other agents; nil if they are not watched

	assigned map[string]string // by lease
	computed time.Time         // when assigned was computed
}

// maxAssignmentAge is the age at which assignments are computed again.
const maxAssignmentAge = time.Second

// compete records that this process competes for a lease from a time on.
func (c *competition) compete(lease string, from time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.own = map[string]time.Time{}
	}
	c.own[lease], c.computed = from, time.Time{}
}

// withdraw records that this process does not compete for a lease any more.
func (c *competition) withdraw(lease string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.own, lease)
	c.computed = time.Time{}
}

// observe sets the last heartbeats of all agents.
func (c *competition) observe(agents map[string]agentInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others = maps.Clone(agents)
	delete(c.others, c.agent)
}

// cordon sets whether this process is cordoned, and reports whether that is new.
func (c *competition) cordon(is bool) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed = c.cordoned != is
	c.cordoned, c.computed = is, time.Time{}
	return changed
}

func (c *competition) isCordoned() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cordoned
}

// leases returns the leases that this process competes for, sorted: none while it is cordoned.
func (c *competition) leases() (names []string, cordoned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ownLeases(time.Now()), c.cordoned
}

func (c *competition) ownLeases(now time.Time) []string {
	if c.cordoned {
		return nil
	}
	names := make([]string, 0, len(c.own))
	for name, from := range c.own {
		if !now.Before(from) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// assignee returns the agent to which a lease is assigned, as if the agents named except did not compete. It is this agent
// if it is the only one, also while it does not compete because its actor failed. others reports whether another agent
// competes for the lease.
func (c *competition) assignee(lease string, except ...string) (agent string, others bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	competing := map[string][]string{c.agent: c.ownLeases(now)}
	for id, info := range c.others {
		if now.Sub(info.lastSeen) < subjects.AgentExpiry && !slices.Contains(except, id) {
			competing[id] = info.leases
			others = others || slices.Contains(info.leases, lease)
		}
	}
	if !others {
		return c.agent, false
	}
	if len(except) > 0 {
		if slices.Contains(except, c.agent) {
			delete(competing, c.agent)
		}
		return balance.Assign(competing, subjects.LeaseKind)[lease], true
	}
	if now.Sub(c.computed) > maxAssignmentAge {
		c.assigned, c.computed = balance.Assign(competing, subjects.LeaseKind), now
	}
	return c.assigned[lease], true
}

// leaseMoves are the moves of a lease by this process.
type leaseMoves struct {
	competition *competition
	lease       string

	refused   string    // agent that did not acquire the lease when it was free for it
	refusedAt time.Time // end of the wait for it
	target    string    // agent to which the lease is assigned; empty if that is this one
	since     time.Time // from when on
}

// assignee returns the assignee of the lease, without an agent that did not acquire it within the last failureDelay.
func (m *leaseMoves) assignee() (agent string, others bool) {
	if m.refused != "" && time.Since(m.refusedAt) < failureDelay {
		return m.competition.assignee(m.lease, m.refused)
	}
	return m.competition.assignee(m.lease)
}

// due returns the agent to which this process has to move the lease that it holds, or "".
func (m *leaseMoves) due() string {
	agent, _ := m.assignee()
	switch {
	case agent == m.competition.agent:
		m.target = ""
	case m.competition.isCordoned():
		return agent
	case agent != m.target:
		m.target, m.since = agent, time.Now()
	case time.Since(m.since) >= moveDelay:
		return agent
	}
	return ""
}

// reason returns why this process holds the lease.
func (m *leaseMoves) reason() subjects.LeaseReason {
	switch agent, others := m.assignee(); {
	case !others:
		return subjects.LeaseOnly
	case agent == m.competition.agent:
		return subjects.LeaseAssigned
	default:
		return subjects.LeaseMoves
	}
}
