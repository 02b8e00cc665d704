package schedule

import (
	"context"
	"slices"

	"feedmesh/subjects"
)

// observeRegions reads which regions have crawlers, and how many further tasks the queue of each takes: as many as that
// of the crawlers without a region. Tasks of a region without crawlers are removed, and their feeds count as lost.
func (s *scheduler) observeRegions(ctx context.Context) error {
	s.mu.Lock()
	used := s.plan.HasRegions()
	s.mu.Unlock()
	if !used && (s.partition != 0 || s.mesh.IsAlone()) {
		return nil
	}
	agents, err := s.mesh.Agents(ctx)
	var waiting map[string]uint64
	if err == nil {
		waiting, err = s.mesh.Waiting(ctx, subjects.CrawlQueue.Name)
	}
	if err != nil {
		s.log.Warn("regions unreadable", "err", err)
		return nil
	}
	capacity := map[string]int{}
	for _, a := range agents {
		if a.Region != "" && slices.Contains(a.Roles, subjects.CrawlQueue.Name) && !a.Drained {
			capacity[a.Region] = maxQueuedCrawls
		}
	}
	var tasks uint64
	for partition, n := range waiting {
		region := subjects.RegionOfCrawls(partition)
		if region == "" {
			continue
		}
		_, crawled := capacity[region]
		if !crawled && s.partition == 0 {
			err := s.mesh.RemoveWaiting(ctx, subjects.CrawlQueue.Name, partition)
			if err == nil {
				s.log.Warn("tasks removed, their region has no crawlers", "region", region, "tasks", n)
				continue
			}
			s.log.Warn("tasks of a region without crawlers not removed", "region", region, "err", err)
		}
		tasks += n
		if crawled {
			capacity[region] -= int(n)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regionTasks = tasks
	s.plan.SetRegions(capacity, s.now())
	return nil
}
