package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A reindexCommand repairs the search index or rebuilds it.
type reindexCommand struct {
	query
	All  bool `help:"Reindex all items, not only those that differ from the store."`
	Wait bool `default:"true" negatable:"" help:"Wait until the job is finished."`
}

// Help implements kong's HelpProvider.
func (reindexCommand) Help() string {
	return `Compares the index with the store and repairs missing, outdated and surplus
documents. Searches stay available. A node also does this by
itself, hourly and when its index is lost.

If searches still return wrong results, reindex all items, which may
take hours for millions of items:

    agent reindex --all --no-wait`
}

// reindexPollInterval is the interval of progress requests.
const reindexPollInterval = 300 * time.Millisecond

// Run implements the command.
func (c *reindexCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	job, err := client.Call(ctx, api, wire.BeginReindex, wire.ReindexRequest{All: c.All})
	if err == nil && c.Wait {
		job, err = p.awaitReindex(ctx, api, job)
	}
	if err != nil {
		return err
	}
	return c.print(p, job, func(pg *page) {
		switch {
		case !c.Wait:
			pg.printf("reindex started: %d items; it continues in the node\n", job.Total)
		case job.Missing+job.Stale+job.Surplus == 0:
			pg.printf("reindex done: all %d items match the store\n", job.Total)
		default:
			pg.printf("reindex done: %d items compared, %d missing, %d outdated, %d surplus; all repaired\n",
				job.Compared, job.Missing, job.Stale, job.Surplus)
		}
		if c.Wait && job.All {
			pg.printf("all items were reindexed\n")
		}
	})
}

// awaitReindex waits until all items are compared and the queued tasks are done.
func (p *program) awaitReindex(ctx context.Context, api *client.Client, job wire.Reindex) (_ wire.Reindex, err error) {
	bar := p.bar(-1, "comparing", true)
	defer func() {
		bar.Clear()
		if err != nil && ctx.Err() != nil {
			p.notice("the reindex continues in the node")
		}
	}()
	begun := job.Started
	for {
		switch {
		case job.State == "failed":
			return job, fmt.Errorf("reindex failed: %s: retry with: agent reindex", job.Error)
		case job.State == "none" || !job.Started.Equal(begun):
			return job, errors.New("reindex job not found, the node was probably restarted: retry with: agent reindex")
		case job.State == "done" && (job.Waiting == 0 || job.Queued == 0):
			return job, nil
		case job.State == "done":
			bar.Describe(fmt.Sprintf("indexing, %d tasks waiting", job.Waiting))
		default:
			// Surplus documents of the index are not counted in Total.
			bar.ChangeMax64(max(job.Total, job.Compared+1))
			bar.Set64(job.Compared)
		}
		select {
		case <-ctx.Done():
			return job, ctx.Err()
		case <-time.After(reindexPollInterval):
		}
		if job, err = client.Call(ctx, api, wire.GetReindex, wire.None{}); err != nil {
			return job, err
		}
	}
}
