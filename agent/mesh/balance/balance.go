// Package balance distributes leases over the agents that compete for them.
package balance

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// Assign returns the agent of each lease, given the leases that each agent competes for. Every process computes the same
// result from the same input. No agent gets more than its share, the number of leases divided by that of agents and rounded
// up, unless a lease has no other candidate. Within that bound a lease goes to the candidate of the highest hash, so that
// an agent that comes or goes changes the agent of few leases (rendezvous hashing with bounded loads).
func Assign(competing map[string][]string) map[string]string {
	candidates := map[string][]string{}
	for agent, leases := range competing {
		for _, lease := range leases {
			candidates[lease] = append(candidates[lease], agent)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	agents := 0
	for _, leases := range competing {
		if len(leases) > 0 {
			agents++
		}
	}
	share := (len(candidates) + agents - 1) / agents
	assigned, load := make(map[string]string, len(candidates)), map[string]int{}
	// Leases with few candidates come first: the others can still choose among the agents that these leave.
	names := slices.SortedFunc(maps.Keys(candidates), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(candidates[a]), len(candidates[b])), cmp.Compare(a, b))
	})
	for _, lease := range names {
		agent := choose(lease, candidates[lease], load, share)
		assigned[lease] = agent
		load[agent]++
	}
	return assigned
}

// choose returns the candidate of the highest hash whose load is below the share, or else the one of the least load.
func choose(lease string, candidates []string, load map[string]int, share int) string {
	var best string
	var bestExcess int
	var bestHash uint64
	for _, agent := range candidates {
		excess, hash := max(load[agent]-share+1, 0), hash(agent, lease)
		if best == "" || excess < bestExcess || excess == bestExcess && hash > bestHash {
			best, bestExcess, bestHash = agent, excess, hash
		}
	}
	return best
}

// hash is the rank of an agent for a lease.
func hash(agent, lease string) uint64 {
	sum := sha256.Sum256([]byte(agent + "\x00" + lease))
	return binary.BigEndian.Uint64(sum[:])
}
