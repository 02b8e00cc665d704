package role

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/fault"
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
	now := s.clock.Now()
	for i := range subjects.Tiers {
		tier := policy.Tier(i)
		for {
			if s.fill >= roomFor[tier] || s.crawlTasks >= crawlAhead {
				s.metrics.dispatchHolds.WithLabelValues(subjects.Tiers[tier]).Inc()
				break
			}
			more, err := s.handOut(ctx, tier, now)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return nil
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

// takeTask takes a task of the tier out of the plan, and returns what that changes;
// the task has no feeds if none are to be handed out.
func (s *scheduler) takeTask(tier policy.Tier, now time.Time) (subjects.Crawl, changes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.plan.Ripe(tier, now) {
		return subjects.Crawl{}, changes{}
	}
	feeds := s.plan.Take(tier, now)
	for _, f := range feeds {
		f.HandedOut = s.wall.Now()
	}
	task := s.plan.Task(tier, feeds, now)
	s.last.State.Crawl = task.ID()
	return task, changes{states: append(statesOf(feeds), &s.last)}
}

// handOut publishes one task of the tier, and reports whether there was one.
// The states are written first: a schedule that has been replaced fails there,
// before it can send anybody to fetch what is not its to decide. The trace of the
// task's way begins here.
func (s *scheduler) handOut(ctx context.Context, tier policy.Tier, now time.Time) (_ bool, err error) {
	task, out := s.takeTask(tier, now)
	if len(task.Feeds) == 0 {
		return false, nil
	}
	ctx, span := s.trace.Begin(ctx, "schedule")
	defer func() { span.End(err) }()
	span.Text("feedmesh.task", task.ID())
	span.Text("feedmesh.tier", task.Tier)
	span.Number("feedmesh.feeds", float64(len(task.Feeds)))
	if err := s.states.write(ctx, out); err != nil {
		return false, err
	}
	fault.Point("written schedule")
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	if err := subjects.Publish(ctx, s.mesh, subjects.Crawls, task); err != nil {
		return false, fmt.Errorf("hand out %d feeds: %w", len(task.Feeds), err)
	}
	s.crawlTasks++
	return true, nil
}
