package schedule

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// owns reports whether the feed with a URL is in this partition.
func (s *scheduler) owns(url string) bool {
	return subjects.PartitionOf(url, s.partitions) == s.partition
}

// passOn publishes observations that concern other partitions to them: what the API reports has no partition. An observation of a
// feed that only its partition can find goes to all; those without the feed ignore it.
func (s *scheduler) passOn(ctx context.Context, tasks []subjects.Observe) error {
	var out []subjects.Message
	for _, t := range tasks {
		others := make([][]subjects.Observation, s.partitions)
		for _, o := range t.Observations {
			first, last := 1, s.partitions-1
			if o.Outcome == subjects.Added {
				first = subjects.PartitionOf(o.URL, s.partitions)
				last = first
			} else if s.has(o.FeedID) {
				continue
			}
			for i := max(1, first); i <= last; i++ {
				o.Partition = i
				others[i] = append(others[i], o)
			}
		}
		for i, some := range others {
			if len(some) > 0 {
				task := subjects.Observe{Source: fmt.Sprintf("%s/partition %d", t.Source, i), Observations: some}
				out = append(out, subjects.ObserveQueue.Message(task))
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	if err := s.mesh.Publish(ctx, out...); err != nil {
		return fmt.Errorf("pass observations on to other partitions: %w", err)
	}
	return nil
}

// slotReaders is the number of slots of hosts that a partition reads from the store at once. An agent may have all partitions, and the
// pool of connections serves its other roles too.
const slotReaders = 2

// forEachVersion calls do with the version of each stored feed of this partition, concurrently if it is one of several.
func (s *scheduler) forEachVersion(ctx context.Context, do func(storage.FeedVersion) error) error {
	if s.partitions == 1 {
		return storage.ForEachVersion(ctx, s.store, nil, do)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(slotReaders)
	for slot := range subjects.SlotsOf(s.partition, s.partitions) {
		group.Go(func() error { return storage.ForEachVersion(ctx, s.store, &slot, do) })
	}
	return group.Wait()
}

func (s *scheduler) has(feedID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan.Has(feedID)
}

// addElsewhere adds a stored feed to the plan of another partition.
func (s *scheduler) addElsewhere(ctx context.Context, feedID, url string) error {
	o := subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID, Partition: subjects.PartitionOf(url, s.partitions)}, Outcome: subjects.Added, URL: url}
	task := subjects.Observe{Source: fmt.Sprintf("moved to %s at %d", feedID, s.clock.Now().UnixNano()), Observations: []subjects.Observation{o}}
	if err := subjects.Publish(ctx, s.mesh, subjects.ObserveQueue, task); err != nil {
		return fmt.Errorf("add a moved feed to its partition of the schedule: %w", err)
	}
	return nil
}

// updateShare sets this partition's share of the budget for requests: that of its feeds. As long as it is not known, it is that
// of an average partition.
func (s *scheduler) updateShare(ctx context.Context) {
	if s.partitions == 1 || s.budget == 0 {
		return
	}
	share := 1 / float64(s.partitions)
	leases, err := s.mesh.Leases(ctx)
	if sum := subjects.SumCounts(leases); err == nil && sum != nil && sum.Polled > 0 {
		if own := leases[subjects.ScheduleLease(s.partition)].Feeds; own != nil {
			share = max(float64(own.Polled), 1) / float64(sum.Polled)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.SetBudget(s.budget * share)
}
