package role

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fault"
	"feedmesh/agent/mesh"
	"feedmesh/agent/policy"
	"feedmesh/subjects"
)

// dispatch hands out what is due, as far as the queues have room: when they get
// long, cold feeds wait first and hot ones last.
func (s *scheduler) dispatch(ctx context.Context) error {
	if !s.anyRipe() || s.room() != nil { // of which the node's watch tells
		return nil
	}
	if err := s.look(ctx); err != nil {
		s.log.Warn("can't see the queues; nothing is handed out", "err", err)
		return nil
	}
	// What becomes due meanwhile is for the next round: else one tier that always
	// has something would keep the others waiting.
	for now := s.clock.Now(); ; {
		tasks, out := s.takeTasks(now)
		if len(tasks) == 0 {
			return nil
		}
		if err := s.handOut(ctx, tasks, out); err != nil {
			return err
		}
	}
}

func (s *scheduler) anyRipe() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for tier := range subjects.Tiers {
		if s.plan.Ripe(policy.Tier(tier), now) {
			return true
		}
	}
	return false
}

// roomFor says up to which fill of the queues feeds of a tier are handed out.
var roomFor = [3]float64{policy.Hot: 0.9, policy.Warm: 0.7, policy.Cold: 0.5}

// publishTime bounds how long a task waits for its servers to be back. A schedule
// that gives up begins anew, and publishes the task then.
const publishTime = 20 * time.Second

// look sees how full the queues are.
func (s *scheduler) look(ctx context.Context) error {
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		return err
	}
	s.fill = 0
	for _, d := range depths {
		switch d.Queue {
		case subjects.Crawls.Name:
			s.crawlTasks = d.Tasks
		case subjects.QuarantineStream, subjects.Observes.Name, subjects.Pages.Name: // parse goes around full pages
		default:
			s.fill = max(s.fill, d.Fill)
		}
	}
	return nil
}

// tasksAtOnce is how many tasks are handed out at once, at most: their feeds fit
// one batch, and what is known of the last ones with them.
const tasksAtOnce = (mesh.MaxBatch - 1) / subjects.MaxFeeds

// takeTasks takes tasks out of the plan, hot ones first, as far as the queues have
// room, and returns what that changes.
func (s *scheduler) takeTasks(now time.Time) (tasks []subjects.Crawl, out changes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for i := range subjects.Tiers {
		tier := policy.Tier(i)
		for len(tasks) < tasksAtOnce && s.plan.Ripe(tier, now) {
			if s.fill >= roomFor[tier] || s.crawlTasks >= crawlAhead {
				s.metrics.dispatchHolds.WithLabelValues(subjects.Tiers[tier]).Inc()
				break
			}
			feeds := s.plan.Take(tier, now)
			for _, f := range feeds {
				f.HandedOut = s.wall.Now()
			}
			task := s.plan.Task(tier, feeds, now)
			tasks, ids = append(tasks, task), append(ids, task.ID())
			out.states = append(out.states, statesOf(feeds)...)
			s.crawlTasks++
		}
	}
	if len(tasks) > 0 {
		s.last.State.Crawl = strings.Join(ids, " ")
		out.states, out.together = append(out.states, &s.last), true
	}
	return tasks, out
}

// handOut publishes tasks. The states are written first: a schedule that has been
// replaced fails there, before it can send anybody to fetch what is not its to
// decide. The trace of each task's way begins here.
func (s *scheduler) handOut(ctx context.Context, tasks []subjects.Crawl, out changes) error {
	if err := s.states.write(ctx, out); err != nil {
		return err
	}
	fault.Point("written schedule")
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	var group errgroup.Group
	for _, task := range tasks { // side by side, as each waits for its queue's disk
		group.Go(func() error {
			if err := s.publish(ctx, task); err != nil {
				return fmt.Errorf("hand out %d feeds: %w", len(task.Feeds), err)
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
	span.Number("feedmesh.feeds", float64(len(task.Feeds)))
	return subjects.Publish(ctx, s.mesh, subjects.Crawls, task)
}
