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

func oneKind(string) string { return "" }

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
		assigned := balance.Assign(mesh(size.agents, size.leases), oneKind)
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
		before, after := balance.Assign(mesh(agents, 64), oneKind), balance.Assign(mesh(agents+1, 64), oneKind)
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
	assigned := balance.Assign(competing, oneKind)
	for lease, agent := range assigned {
		if !slices.Contains(competing[agent], lease) {
			t.Errorf("%s is assigned to %s, which does not compete for it", lease, agent)
		}
	}
	if n := loads(assigned); len(assigned) != 6 || n["all"] != 3 || n["cluster"] != 2 || n["schedule"] != 1 {
		t.Errorf("got %v, want all 3 (of d and e no other is a candidate), cluster 2, schedule 1", assigned)
	}
	if again := balance.Assign(competing, oneKind); !maps.Equal(again, assigned) {
		t.Errorf("got %v, then %v for the same agents", assigned, again)
	}
}

func TestAssign_NoAgents(t *testing.T) {
	if got := balance.Assign(map[string][]string{"crawl": nil}, oneKind); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// The leases of each kind are spread evenly, and all together too.
func TestAssign_EachKind(t *testing.T) {
	names := []string{"x-1", "x-2"}
	for i := range 8 {
		names = append(names, fmt.Sprint("y-", i), fmt.Sprint("z-", i))
	}
	kindOf := func(lease string) string { return lease[:1] }
	for agents := 1; agents < 12; agents++ {
		competing := map[string][]string{}
		for i := range agents {
			competing[fmt.Sprint("agent-", i)] = names
		}
		byKind := map[string]map[string]int{"x": {}, "y": {}, "z": {}}
		assigned := balance.Assign(competing, kindOf)
		for lease, agent := range assigned {
			byKind[kindOf(lease)][agent]++
		}
		for kind, n := range map[string]int{"x": 2, "y": 8, "z": 8} {
			for agent, got := range byKind[kind] {
				if got > (n+agents-1)/agents {
					t.Errorf("%d agents: %s has %d of %d leases of kind %s", agents, agent, got, n, kind)
				}
			}
		}
		for agent, got := range loads(assigned) {
			if got > (len(names)+agents-1)/agents+1 { // bounds of kinds come first
				t.Errorf("%d agents: %s has %d of all %d leases", agents, agent, got, len(names))
			}
		}
	}
}
