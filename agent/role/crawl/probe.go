package crawl

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/subjects"
)

// probe probes a task's proxies concurrently and reports the results to the schedule.
func (c *crawler) probe(ctx context.Context, task subjects.Crawl) error {
	if len(task.Probes) == 0 {
		return nil
	}
	results := make([]subjects.Observation, len(task.Probes))
	group, inner := errgroup.WithContext(ctx)
	for i, route := range task.Probes {
		group.Go(func() (err error) {
			results[i], err = c.probeOne(inner, task.ID(), route)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return subjects.Publish(ctx, c.out, subjects.ObserveQueue, subjects.Observe{Source: "probe/" + task.ID(), Observations: results})
}

func (c *crawler) probeOne(ctx context.Context, task string, route subjects.Route) (subjects.Observation, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return subjects.Observation{}, ctx.Err()
	}
	began := time.Now()
	url, err := c.secrets.OpenProxy(route.ID, route.URL)
	if err == nil {
		err = c.fetcher.Probe(ctx, url)
	}
	if ctx.Err() != nil {
		return subjects.Observation{}, ctx.Err() // the task's timeout, not the proxy's failure
	}
	o := subjects.Observation{
		Receipt: subjects.Receipt{Crawl: task, Fetched: c.clock.Now(), ProxyID: route.ID, Duration: time.Since(began)},
		Outcome: subjects.Probed,
	}
	if err != nil {
		o.FailedProxies, o.Class, o.Error = []string{route.ID}, string(fetch.ClassProxy), err.Error()
	}
	return o, nil
}
