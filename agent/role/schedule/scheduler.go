package schedule

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/schedule/plan"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/role/work"
	"feedmesh/agent/trace"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	dispatchEvery    = 100 * time.Millisecond // least interval, while feeds are due
	maxDispatchRest  = time.Second            // the same at most, after which a jump of the clock is noticed
	reconcileEvery   = 10 * time.Minute
	recalibrateEvery = 5 * time.Minute
	recordPollsEvery = time.Minute
	checkGrowthEvery = time.Second
	reportEvery      = time.Second
	measureEvery     = 5 * time.Second
	checkStoreEvery  = 10 * time.Second
	maxStored        = 100 // feeds that a check of the store reads
	saveEvery        = 10 * time.Second
	saveStatesEvery  = 30 * time.Second // the NATS server keeps what was read or written in memory for 10 seconds
	saveAllEvery     = 5 * time.Minute

	// maxQueuedCrawls bounds the crawl tasks in the queue: enough to keep many crawlers busy, and few enough
	// to be finished long before InFlightTimeout.
	maxQueuedCrawls = 64
)

// scheduler is the active schedule of a partition. It writes its changes under the revisions that it read. If a write fails,
// its memory may be stale or another schedule has taken over: it steps down, and reloads when it becomes
// active again.
type scheduler struct {
	partition      int     // number of this one
	partitions     int     // of the whole schedule
	budget         float64 // of the whole schedule, requests a second; 0: no limit
	mesh           *mesh.Mesh
	store          storage.Store
	clock          work.Clock // of due times
	wall           work.Clock // of timeouts: the system clock
	uptime         func() time.Duration
	watch          clockWatch
	checkDiskSpace func() error
	secrets        *sealer
	log            *slog.Logger
	metrics        *metrics
	trace          *trace.Tracer

	states *stateWriter
	wake   chan struct{} // notifies dispatch of changed due times; has a buffer of one
	mu     sync.Mutex    // protects plan, watch, and the fields up to notices
	plan   *plan.Plan

	unwritten map[string]bool // IDs of feeds with results that are not written yet

	last subjects.FeedState // names the last dispatched tasks, if they may not have been published

	// observing is held while observations are applied and written: by the workers of the queue, by those of tasks in
	// memory, and by WriteStates, so that no feed is removed between the start and the end of a write.
	observing sync.Mutex

	stored  []string        // IDs of the last feeds whose items were stored, at most maxStored
	checked <-chan struct{} // announces a change of the store since checkStore read it; of checkStore alone

	dispatchable int64  // due feeds that could be dispatched at the last measurement
	paused       string // why no feeds are dispatched
	pausedSince  time.Time
	notices      []subjects.Notice // newest first
	dispatched   atomic.Int64      // feeds

	fill          float64       // of the fullest queue after crawl, 0 to 1
	crawlTasks    uint64        // in the queue, of crawlers without a region
	published     time.Time     // of the last task
	regionTasks   uint64        // in the queue, of those with a region
	queuesCreated time.Time     // creation time of the newest pipeline queue
	waits         time.Duration // recent waiting time of documents in the pipeline
	outage        bool          // whether a network outage was active at the last check
}

func newScheduler(env *work.Env, m *metrics, partition, partitions int) *scheduler {
	s := &scheduler{
		partition: partition, partitions: partitions, budget: env.Config.RequestsPerSecond,
		mesh: env.Mesh, store: env.Store, clock: env.Clock, wake: make(chan struct{}, 1), uptime: env.Uptime, checkDiskSpace: env.CheckDiskSpace, log: env.Log, metrics: m, trace: env.Trace,
		unwritten: map[string]bool{},
		plan: plan.New(plan.Options{
			Partition: partition,
			Policy:    policy.New(policySettings(env.Config)),
			Budget:    env.Config.RequestsPerSecond,
			Spacing:   env.Config.Schedule.HostSpacing,
		}),
	}
	s.states = newStateWriter(env.Mesh, &s.mu, func(feedID string) *subjects.State {
		if f := s.plan.State(feedID); f != nil {
			return f.State
		}
		return nil
	})
	s.secrets = &sealer{env.Secrets, env.Store, &s.mu, s.plan, s.states, partition == 0, env.Log}
	return s
}

func policySettings(c config.Config) policy.Settings {
	s := policy.Settings{
		Kind: c.Schedule.Policy, Interval: c.Schedule.Interval, Budget: c.RequestsPerSecond, Floor: c.Schedule.Floor,
		Tiers: policy.TierSettings(c.Schedule.Tiers),
	}
	if s.Interval > 0 {
		s.Kind = policy.KindUniform
	}
	return s
}

// statesOf returns the states of feeds.
func statesOf(feeds []*plan.Feed) []*subjects.FeedState {
	states := make([]*subjects.FeedState, len(feeds))
	for i, f := range feeds {
		states[i] = &f.FeedState
	}
	return states
}
