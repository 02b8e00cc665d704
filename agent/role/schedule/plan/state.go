package plan

import (
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/subjects"
)

// Options configure a plan.
type Options struct {
	Partition int // of the schedule, in its tasks
	Policy    policy.Policy
	Budget    float64       // requests a second, at most; 0: no limit
	Spacing   time.Duration // minimum interval between starts of requests to one host
}

// A Plan is the state of the active schedule. Its methods must not be called concurrently.
type Plan struct {
	proxies   // the methods on proxies
	hostTable // the methods on hosts

	options    Options
	feeds      map[string]*Feed
	inFlight   map[string]*Feed // dispatched feeds whose documents are not finished
	tierCounts [3]TierCounts    // by tier
	counts     subjects.ScheduleCounts

	budget     tokenBucket
	outage     outage
	newPolls   int // polls since the last RecordPolls, without first fetches
	calibrated int // number of polled feeds at the last Recalibrate
	behind     int // observations since the last TakeBehind that showed an older state of the store

	// Changes since the last call of TakeHistory or TakeMoves.
	polls []Poll
	moves []Move
}

// A Feed is in a queue of its host unless it is in flight or has no Next.
type Feed struct {
	subjects.FeedState
	Dispatched   time.Time // by the wall clock, which may differ from the clock of due times
	host         *host
	tier         policy.Tier
	index        int   // in its queue; -1 if in none
	similarPolls uint8 // polls like the one before, since the last history entry
}

// A Poll is one request with its result.
type Poll struct {
	FeedID string
	subjects.Poll
}

// A Move is a confirmed change of a feed's address.
type Move struct {
	FeedID string
	URL    string
}

// TierCounts counts feeds of a tier.
type TierCounts struct {
	Waiting, InFlight, Failing int
}

// New returns an empty plan.
func New(o Options) *Plan {
	p := &Plan{
		options: o, feeds: map[string]*Feed{}, inFlight: map[string]*Feed{}, budget: tokenBucket{rate: o.Budget},
		hostTable: hostTable{spacing: o.Spacing, hosts: map[string]*host{}, changedHosts: map[*host]bool{}},
	}
	p.network = &p.outage
	return p
}

func tierOf(name string) policy.Tier {
	for i, t := range subjects.Tiers {
		if t == name {
			return policy.Tier(i)
		}
	}
	return policy.Warm
}
