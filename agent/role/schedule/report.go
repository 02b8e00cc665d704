package schedule

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/subjects"
)

const (
	noticeAge  = time.Hour // notices are published for so long
	maxNotices = 10
)

// report publishes the feed counts, for mesh status requests that otherwise would read the state of every feed,
// and the progress.
func (s *scheduler) report(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.notices = slices.DeleteFunc(s.notices, func(n subjects.Notice) bool { return now.Sub(n.At) > noticeAge })
	counts := s.plan.Counts()
	r := mesh.ScheduleReport{
		Feeds: &counts,
		Progress: subjects.ScheduleProgress{
			Dispatched: s.dispatched.Load(), Overdue: s.dispatchable, Paused: s.paused, PausedSince: s.pausedSince,
			Held: s.held(now), Regions: s.plan.RegionsMissing(now), Notices: slices.Clone(s.notices),
		},
	}
	if since := s.plan.Outage(); !since.IsZero() {
		r.Progress.Paused, r.Progress.PausedSince = "no host answers, so this machine seems to have no network: check its connection and name server", since
	}
	mesh.ReportSchedule(ctx, &r)
	return nil
}

// reportEnd publishes only what stays true until the next holder of the lease reports.
func (s *scheduler) reportEnd(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mesh.ReportSchedule(ctx, &mesh.ScheduleReport{Progress: subjects.ScheduleProgress{Notices: slices.Clone(s.notices)}})
}

// pause records why polling is paused; empty if it is not.
func (s *scheduler) pause(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason == "" {
		s.paused, s.pausedSince = "", time.Time{}
		return
	}
	if s.paused == "" {
		s.pausedSince = s.now()
	}
	s.paused = reason
}

// held returns why the queues hold back due feeds of a tier; empty if they do not. s.mu must be locked.
func (s *scheduler) held(now time.Time) string {
	for i, name := range subjects.Tiers {
		if tier := policy.Tier(i); s.fill >= maxFill[tier] && s.plan.Due(tier, now) {
			return fmt.Sprintf("a queue is %.0f %% full, so due feeds of the tier %s wait: see the depths of the queues in the status, and add agents with the role that serves it", 100*s.fill, name)
		}
	}
	if s.crawlTasks >= maxQueuedCrawls {
		return "enough tasks wait for agents with the role crawl: if they do not become fewer, add such agents"
	}
	return ""
}

// notice publishes a fault that was corrected. s.mu must be locked.
func (s *scheduler) notice(format string, args ...any) {
	s.notices = slices.Insert(s.notices, 0, subjects.Notice{At: s.clock.Now(), Text: fmt.Sprintf(format, args...)})
	s.notices = s.notices[:min(len(s.notices), maxNotices)]
}

// measure sets the mesh-wide gauges: those of feeds by partition, those of queues by partition 0. Only the active schedule
// exports them, so that they can be summed over all agents.
func (s *scheduler) measure(ctx context.Context) error {
	s.measureFeeds()
	if s.partition != 0 {
		return nil
	}
	depths, err := s.mesh.RecentDepths(ctx, mesh.DepthAge)
	if err != nil {
		s.metrics.clearQueues() // readiness reports it
		return nil
	}
	for _, d := range depths {
		s.metrics.queuePending.WithLabelValues(d.Queue).Set(float64(d.Tasks))
		s.metrics.queueOldest.WithLabelValues(d.Queue).Set(d.Oldest)
	}
	return nil
}

func (s *scheduler) measureFeeds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, partition := s.now(), strconv.Itoa(s.partition)
	for i, tier := range subjects.Tiers {
		tally := s.plan.TierCounts(policy.Tier(i))
		s.metrics.feeds.WithLabelValues(partition, tier, "waiting").Set(float64(tally.Waiting))
		s.metrics.feeds.WithLabelValues(partition, tier, "out").Set(float64(tally.InFlight))
		s.metrics.feeds.WithLabelValues(partition, tier, "failing").Set(float64(tally.Failing))
	}
	s.metrics.overdue.WithLabelValues(partition).Set(float64(s.plan.Overdue(now)))
	s.dispatchable = int64(s.plan.Dispatchable(now)) // visits all hosts, so report does not count them again
	s.logOutage()
}

// logOutage logs the start and the end of a network outage.
func (s *scheduler) logOutage() {
	since := s.plan.Outage()
	switch down := !since.IsZero(); {
	case down && !s.outage:
		s.log.Warn("network outage started, polling paused", "since", since)
	case !down && s.outage:
		s.log.Info("network outage ended, polling resumed")
	}
	s.outage = !since.IsZero()
}
