package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/role/schedule/plan"
	"feedmesh/subjects"
)

// recall makes feeds in flight due again if their documents must have been lost, without waiting for
// InFlightTimeout: if a pipeline queue is newer than their dispatch, because it was lost and recreated, or if
// they are in flight much longer than the current processing time.
func (s *scheduler) recall(ctx context.Context) error {
	born, waits, err := s.pipelineAge(ctx)
	if err != nil {
		return err
	}
	return s.states.write(ctx, changes{states: statesOf(s.lost(born, waits))})
}

// lost makes lost feeds due and returns them.
func (s *scheduler) lost(born time.Time, waits time.Duration) (feeds []*plan.Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, wall := s.clock.Now(), s.wall.Now()
	if born.After(s.queuesCreated) {
		s.queuesCreated = born
		feeds = s.plan.Recall(now, func(f *plan.Feed) bool { return f.Written.Before(born) })
	}
	// A decaying maximum: tasks that waited long may be followed by those that wait now.
	s.waits = max(waits, s.waits-measureEvery/2)
	grace := min(minGrace+2*s.waits, subjects.InFlightTimeout)
	feeds = append(feeds, s.plan.Recall(now, func(f *plan.Feed) bool { return wall.Sub(f.Dispatched) > grace })...)
	if len(feeds) > 0 {
		s.log.Warn("documents lost, feeds due again", "feeds", len(feeds))
	}
	return feeds
}

// recallIfReadable is recall without an error if the queues can't be read, which dispatch logs.
func (s *scheduler) recallIfReadable(ctx context.Context) error {
	if err := s.recall(ctx); !errors.Is(err, errQueuesUnreadable) {
		return err
	}
	return nil
}

// minGrace is the minimum time in flight before a feed counts as lost; [subjects.InFlightTimeout] is the
// maximum, after which its task may be queued again.
const minGrace = 45 * time.Second

// pipelineAge returns the creation time of the newest pipeline queue, and the sum of the ages of all queues'
// oldest tasks. A document in the pipeline always has a task in one of these queues.
func (s *scheduler) pipelineAge(ctx context.Context) (born time.Time, waits time.Duration, err error) {
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		return born, 0, fmt.Errorf("%w: %w", errQueuesUnreadable, err)
	}
	for _, d := range depths {
		if d.Queue == subjects.IndexQueue.Name || d.Queue == subjects.QuarantineStream {
			continue
		}
		if d.Created.After(born) {
			born = d.Created
		}
		waits += time.Duration(d.Oldest * float64(time.Second))
	}
	return born, waits, nil
}

// errQueuesUnreadable reports that the queues can't be read at present.
var errQueuesUnreadable = errors.New("queues unreadable")
