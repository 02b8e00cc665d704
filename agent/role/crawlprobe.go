package role

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fetch"
	"feedmesh/subjects"
)

// probe tries a task's proxies side by side, and tells the schedule which of them
// work.
func (c *crawler) probe(ctx context.Context, task subjects.Crawl) error {
	if len(task.Ways) == 0 {
		return nil
	}
	seen := make([]subjects.Observation, len(task.Ways))
	group, inner := errgroup.WithContext(ctx)
	for i, way := range task.Ways {
		group.Go(func() (err error) {
			seen[i], err = c.probeOne(inner, task.ID(), way)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return subjects.Publish(ctx, c.out, subjects.Observes, subjects.Observe{From: "probe/" + task.ID(), Observations: seen})
}

func (c *crawler) probeOne(ctx context.Context, task string, way subjects.Way) (subjects.Observation, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return subjects.Observation{}, ctx.Err()
	}
	began := time.Now()
	err := c.fetch.Probe(ctx, way.URL)
	if ctx.Err() != nil {
		return subjects.Observation{}, ctx.Err() // our time is up, not the proxy's fault
	}
	o := subjects.Observation{
		Receipt: subjects.Receipt{Crawl: task, Fetched: c.clock.Now(), Way: way.ID, Took: time.Since(began)},
		Outcome: subjects.Probed,
	}
	if err != nil {
		o.Dead, o.Class, o.Error = []string{way.ID}, string(fetch.ClassProxy), err.Error()
	}
	return o, nil
}
