package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fault"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/role/work"
	"feedmesh/subjects"
)

// dispatchAll dispatches feeds as they become due, until ctx ends or a write fails.
func (s *scheduler) dispatchAll(ctx context.Context) error {
	for ctx.Err() == nil {
		began := time.Now()
		if err := s.dispatch(context.WithoutCancel(ctx)); err != nil { // a started round is completed
			return err
		}
		work.Rest(ctx, nil, s.untilDue(), 0, s.wake)
		if early := dispatchEvery - time.Since(began); early > 0 { // woken
			work.Sleep(ctx, early)
		}
	}
	return nil
}

// untilDue returns the time until feeds are due, at most maxDispatchRest.
func (s *scheduler) untilDue() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now() // moves due times
	next := s.plan.NextDue()
	switch {
	case s.uptime == nil:
		return dispatchEvery // a clock of tests or simulations, which does not run like the system clock
	case next.IsZero():
		return mesh.UntilTick(maxDispatchRest)
	}
	return max(dispatchEvery, min(next.Sub(now), mesh.UntilTick(maxDispatchRest)))
}

// dispatch publishes due feeds as crawl tasks while the queues have capacity: as they fill, cold feeds are
// held back first and hot feeds last.
func (s *scheduler) dispatch(ctx context.Context) error {
	mesh.Alive(ctx)
	if !s.anyDue() {
		s.pause("")
		return nil
	}
	if err := s.checkDiskSpace(); err != nil { // the node's disk watch logs it
		s.pause(err.Error())
		return nil
	}
	if err := s.readQueues(ctx); err != nil {
		s.pause("the queues can't be read: " + err.Error())
		s.log.Warn("queues unreadable, dispatch paused", "err", err)
		return nil
	}
	s.pause("")
	// Feeds that become due meanwhile wait for the next round: otherwise one tier with a constant supply
	// would delay the others.
	s.mu.Lock()
	now := s.now()
	s.mu.Unlock()
	for {
		inMemory := s.mesh.PassesInMemory(subjects.CrawlQueue.Name)
		tasks, out := s.popTasks(now, inMemory)
		if len(tasks) == 0 {
			return nil
		}
		if inMemory {
			ctx = mesh.Repeatable(ctx)
		}
		if err := s.publishTasks(ctx, tasks, out); err != nil {
			return err
		}
		s.published = time.Now()
		for _, task := range tasks {
			s.dispatched.Add(int64(len(task.Feeds)))
		}
	}
}

func (s *scheduler) anyDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for tier := range subjects.Tiers {
		if s.plan.Due(policy.Tier(tier), now) {
			return true
		}
	}
	return false
}

// maxFill is the fill of the queues up to which feeds of a tier are dispatched.
var maxFill = [3]float64{policy.Hot: 0.9, policy.Warm: 0.7, policy.Cold: 0.5}

// publishTime is the timeout for publishing a task while NATS servers are away. After it the schedule
// restarts and publishes the task again.
const publishTime = 20 * time.Second

// readQueues reads the fill of the queues, with all tasks of this partition.
func (s *scheduler) readQueues(ctx context.Context) error {
	depths, err := s.mesh.RecentDepths(ctx, min(dispatchEvery, time.Since(s.published)))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill = 0
	for _, d := range depths {
		switch d.Queue {
		case subjects.CrawlQueue.Name:
			s.crawlTasks = d.Tasks - min(d.Tasks, s.regionTasks)
		case subjects.QuarantineStream, subjects.ObserveQueue.Name, subjects.PageQueue.Name: // parse bypasses a full page queue
		default:
			s.fill = max(s.fill, d.Fill)
		}
	}
	return nil
}

// maxTasksPerRound bounds the tasks of a round: their feeds' states and the record of the last tasks fit into
// one entry of the journal.
const maxTasksPerRound = (mesh.MaxEntry - 1) / subjects.MaxFeeds

// popTasks pops tasks from the plan, hot feeds first, within the capacity of the queues, and returns them
// with the changed states. If the tasks pass in memory, no states need to be written: after a crash the feeds are due as
// before, and their tasks are lost.
func (s *scheduler) popTasks(now time.Time, inMemory bool) (tasks []subjects.Crawl, out changes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for i := range subjects.Tiers {
		tier := policy.Tier(i)
		for len(tasks) < maxTasksPerRound && s.plan.Due(tier, now) {
			if s.fill >= maxFill[tier] || s.crawlTasks >= maxQueuedCrawls {
				s.metrics.dispatchHolds.WithLabelValues(subjects.Tiers[tier]).Inc()
				break
			}
			feeds := s.plan.PopDue(tier, now)
			for _, f := range feeds {
				f.Dispatched, f.State.InMemory = s.wall.Now(), inMemory
			}
			for _, task := range s.plan.Tasks(tier, feeds, now) {
				tasks, ids = append(tasks, task), append(ids, task.ID())
				if task.Region == "" {
					s.crawlTasks++
				}
			}
			if !inMemory {
				out.states = append(out.states, statesOf(feeds)...)
			}
		}
	}
	if len(tasks) > 0 && !inMemory {
		s.last.State.Crawl = strings.Join(ids, " ")
		out.states = append(out.states, &s.last)
	}
	return tasks, out
}

// publishTasks publishes tasks after writing their states: a replaced schedule fails at the write, before it
// can start fetches. Each task's trace begins here.
func (s *scheduler) publishTasks(ctx context.Context, tasks []subjects.Crawl, out changes) error {
	if err := s.states.write(ctx, out); err != nil {
		return err
	}
	fault.Point("written schedule")
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	var group errgroup.Group
	for _, task := range tasks { // in parallel, because each waits for its queue's disk
		group.Go(func() error {
			if err := s.publish(ctx, task); err != nil {
				return fmt.Errorf("dispatch %d feeds: %w", len(task.Feeds), err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (s *scheduler) publish(ctx context.Context, task subjects.Crawl) (err error) {
	ctx, span := s.trace.Begin(ctx, "schedule")
	defer func() { span.End(err) }()
	span.Text("feedmesh.task", task.ID())
	span.Text("feedmesh.tier", task.Tier)
	span.Text("feedmesh.region", task.Region)
	span.Number("feedmesh.feeds", float64(len(task.Feeds)))
	return subjects.Publish(ctx, s.mesh, subjects.CrawlQueue, task)
}

// probeEvery is the interval at which due probes of proxies are dispatched.
const probeEvery = 5 * time.Second

// probe publishes a task that probes the due proxies. A lost task needs no retry: its proxies are due again
// soon.
func (s *scheduler) probe(ctx context.Context) error {
	s.mu.Lock()
	now := s.now()
	due := s.plan.Probes(now)
	s.mu.Unlock()
	if len(due) == 0 || s.crawlersLag(ctx) {
		return nil
	}
	s.mu.Lock()
	s.plan.Probed(due, now)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	task := subjects.Crawl{Tier: subjects.Hot, Probes: due, ProbesDue: now}
	if err := subjects.Publish(ctx, s.mesh, subjects.CrawlQueue, task); err != nil {
		s.log.Warn("proxy probe dispatch failed", "err", err)
	}
	return nil
}

// crawlersLag reports whether the crawl queue is too long for probes, or can't be read, which dispatch logs.
func (s *scheduler) crawlersLag(ctx context.Context) bool {
	depths, err := s.mesh.Depths(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err != nil || slices.ContainsFunc(depths, func(d subjects.Depth) bool {
		return d.Queue == subjects.CrawlQueue.Name && d.Tasks >= maxQueuedCrawls+s.regionTasks
	})
}
