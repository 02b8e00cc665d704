// Package balance distributes leases over the agents that compete for them.
package balance

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// Assign returns the agent of each lease, given the leases that each agent competes for and their kinds. Every process computes
// the same result from the same input. No agent gets more than its share of the leases of a kind, their number divided by that of
// agents and rounded up, unless a lease has no other candidate; nor of all leases, as far as that allows it. Within these bounds a
// lease goes to the candidate of the highest hash, so that an agent that comes or goes changes the agent of few leases
// (rendezvous hashing with bounded loads).
func Assign(competing map[string][]string, kindOf func(lease string) string) map[string]string {
	candidates := map[string][]string{}
	for agent, leases := range competing {
		for _, lease := range leases {
			candidates[lease] = append(candidates[lease], agent)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	whole, kinds := newLoad(), map[string]*load{}
	for lease, agents := range candidates {
		kind := kindOf(lease)
		if kinds[kind] == nil {
			kinds[kind] = newLoad()
		}
		kinds[kind].add(agents)
		whole.add(agents)
	}
	// Leases with few candidates come first: the others can still choose among the agents that these leave.
	names := slices.SortedFunc(maps.Keys(candidates), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(candidates[a]), len(candidates[b])), cmp.Compare(a, b))
	})
	assigned := make(map[string]string, len(candidates))
	for _, lease := range names {
		ofKind := kinds[kindOf(lease)]
		agent := choose(lease, candidates[lease], ofKind, whole)
		assigned[lease] = agent
		ofKind.assigned[agent]++
		whole.assigned[agent]++
	}
	return assigned
}

// A load counts leases, and those of them that are assigned to each agent that competes for one.
type load struct {
	leases   int
	assigned map[string]int
}

func newLoad() *load { return &load{assigned: map[string]int{}} }

// add adds a lease with its candidates.
func (l *load) add(candidates []string) {
	l.leases++
	for _, agent := range candidates {
		l.assigned[agent] += 0
	}
}

// excess returns by how many leases an agent would exceed its share with one more.
func (l *load) excess(agent string) int {
	share := (l.leases + len(l.assigned) - 1) / len(l.assigned)
	return max(l.assigned[agent]+1-share, 0)
}

// choose returns the candidate that exceeds its share least, of the lease's kind and then of all leases, and of these the one of
// the highest hash.
func choose(lease string, candidates []string, ofKind, whole *load) string {
	return slices.MinFunc(candidates, func(a, b string) int {
		return cmp.Or(cmp.Compare(ofKind.excess(a), ofKind.excess(b)), cmp.Compare(whole.excess(a), whole.excess(b)),
			cmp.Compare(hash(b, lease), hash(a, lease)))
	})
}

// hash is the rank of an agent for a lease.
func hash(agent, lease string) uint64 {
	sum := sha256.Sum256([]byte(agent + "\x00" + lease))
	return binary.BigEndian.Uint64(sum[:])
}
