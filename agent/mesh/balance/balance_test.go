package balance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"feedmesh/agent/mesh/balance"
)

// mesh returns agents that compete for all leases.
func mesh(agents, leases int) map[string][]string {
	names := make([]string, leases)
	for i := range names {
		names[i] = fmt.Sprint("lease-", i)
	}
	competing := map[string][]string{}
	for i := range agents {
		competing[fmt.Sprint("agent-", i)] = names
	}
	return competing
}

// loads returns the number of leases of each agent.
func loads(assigned map[string]string) map[string]int {
	n := map[string]int{}
	for _, agent := range assigned {
		n[agent]++
	}
	return n
}

func TestAssign_SpreadsEvenly(t *testing.T) {
	for _, size := range []struct{ agents, leases int }{{1, 30}, {2, 31}, {3, 14}, {4, 64}, {10, 64}, {10, 7}, {50, 64}} {
		assigned := balance.Assign(mesh(size.agents, size.leases))
		if len(assigned) != size.leases {
			t.Errorf("%d agents, %d leases: assigned %d", size.agents, size.leases, len(assigned))
		}
		share := (size.leases + size.agents - 1) / size.agents
		for agent, n := range loads(assigned) {
			if n > share {
				t.Errorf("%d agents, %d leases: %s has %d, want at most %d", size.agents, size.leases, agent, n, share)
			}
		}
	}
}

// An agent that comes takes its share from the others; few leases move between those that stay.
func TestAssign_FewMoves(t *testing.T) {
	for agents := 1; agents < 12; agents++ {
		before, after := balance.Assign(mesh(agents, 64)), balance.Assign(mesh(agents+1, 64))
		moved := 0
		for lease, agent := range before {
			if after[lease] != agent {
				moved++
			}
		}
		if share := (64 + agents) / (agents + 1); moved > 3*share {
			t.Errorf("from %d to %d agents %d of 64 leases move, want at most three times the share of %d", agents, agents+1, moved, share)
		}
	}
}

// An agent that competes for a few leases only has them counted, and the others get the rest.
func TestAssign_DifferentRoles(t *testing.T) {
	competing := map[string][]string{
		"all":      {"a", "b", "c", "d", "e", "f"},
		"cluster":  {"a", "b", "c"},
		"schedule": {"f"},
		"crawl":    nil,
	}
	assigned := balance.Assign(competing)
	for lease, agent := range assigned {
		if !slices.Contains(competing[agent], lease) {
			t.Errorf("%s is assigned to %s, which does not compete for it", lease, agent)
		}
	}
	if n := loads(assigned); len(assigned) != 6 || n["all"] != 3 || n["cluster"] != 2 || n["schedule"] != 1 {
		t.Errorf("got %v, want all 3 (of d and e no other is a candidate), cluster 2, schedule 1", assigned)
	}
	if again := balance.Assign(competing); !maps.Equal(again, assigned) {
		t.Errorf("got %v, then %v for the same agents", assigned, again)
	}
}

func TestAssign_NoAgents(t *testing.T) {
	if got := balance.Assign(map[string][]string{"crawl": nil}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
