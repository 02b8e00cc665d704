package role

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/plan"
	"feedmesh/subjects"
)

// recall has feeds that are out polled again if their documents must have been
// lost on their way, and nobody would tell for as long as InFlight: if a queue is
// younger than their hand-out, as it was lost and made anew, or if they are out
// for much longer than anything takes at present.
func (s *scheduler) recall(ctx context.Context) error {
	born, waits, err := s.way(ctx)
	if err != nil {
		return err
	}
	return s.states.write(ctx, changes{states: statesOf(s.lost(born, waits))})
}

// lost makes those feeds due that are lost, and returns them.
func (s *scheduler) lost(born time.Time, waits time.Duration) (feeds []*plan.Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, wall := s.clock.Now(), s.wall.Now()
	if born.After(s.queuesBorn) {
		s.queuesBorn = born
		feeds = s.plan.Recall(now, func(f *plan.Feed) bool { return f.Written.Before(born) })
	}
	// What has waited long a while ago may have been followed by what waits now.
	s.waits = max(waits, s.waits-measureEvery/2)
	grace := min(leastGrace+2*s.waits, subjects.InFlight)
	feeds = append(feeds, s.plan.Recall(now, func(f *plan.Feed) bool { return wall.Sub(f.HandedOut) > grace })...)
	if len(feeds) > 0 {
		s.log.Warn("documents were lost on their way: they are fetched again", "feeds", len(feeds))
	}
	return feeds
}

// recallIfSeen is recall, but for when the queues can't be looked at: dispatch
// tells of that.
func (s *scheduler) recallIfSeen(ctx context.Context) error {
	if err := s.recall(ctx); !errors.Is(err, errUnseen) {
		return err
	}
	return nil
}

// leastGrace is how long a feed may be out, at least, before it is taken for lost,
// as [subjects.InFlight] is at most: after that time its task may be queued again.
const leastGrace = 45 * time.Second

// way looks at the queues on a document's way: when the youngest of them was made,
// and how long the oldest tasks of all of them have waited, together. While a
// document is on its way, a task of it is always on one of them.
func (s *scheduler) way(ctx context.Context) (born time.Time, waits time.Duration, err error) {
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		return born, 0, fmt.Errorf("%w: %w", errUnseen, err)
	}
	for _, d := range depths {
		if d.Queue == subjects.Indexes.Name || d.Queue == subjects.QuarantineStream {
			continue
		}
		if d.Created.After(born) {
			born = d.Created
		}
		waits += time.Duration(d.Oldest * float64(time.Second))
	}
	return born, waits, nil
}

// errUnseen says that the queues can't be looked at just now.
var errUnseen = errors.New("can't see the queues")
