package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/api"
)

// A reindexCommand rebuilds the index.
type reindexCommand struct {
	query
	Wait bool `default:"true" negatable:"" help:"Wait until it is done."`
}

// Help implements kong's HelpProvider.
func (reindexCommand) Help() string {
	return `Searches go on meanwhile. Begin it, and come back later:

    agent reindex --no-wait`
}

// pollEvery is how often we ask how the rebuild is getting on.
const pollEvery = 300 * time.Millisecond

// Run implements the command.
func (c *reindexCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	job, err := client.BeginReindex(ctx)
	if err == nil && c.Wait {
		job, err = p.awaitReindex(ctx, client, job)
	}
	if err != nil {
		return err
	}
	return c.print(p, job, func(pg *page) {
		if c.Wait {
			pg.printf("done: the index has all %d items\n", job.Total)
		} else {
			pg.printf("begun: %d items; it goes on in the node\n", job.Total)
		}
	})
}

// awaitReindex waits until all items are queued and the queue is empty.
func (p *program) awaitReindex(ctx context.Context, client *api.Client, job api.Reindex) (api.Reindex, error) {
	bar := p.bar(-1, "queueing", true)
	defer bar.Clear()
	begun := job.Started
	for {
		switch {
		case job.State == "failed":
			return job, fmt.Errorf("the rebuild failed: %s: begin it again with: agent reindex", job.Error)
		case job.State == "none" || !job.Started.Equal(begun):
			return job, errors.New("the node no longer knows of this rebuild, it was most likely restarted: begin again with: agent reindex")
		case job.State == "done" && job.Waiting == 0:
			return job, nil
		case job.State == "done":
			bar.Describe(fmt.Sprintf("indexing, %d tasks wait", job.Waiting))
		default:
			// The index is walked after the store, so more than Total may come.
			bar.ChangeMax64(max(job.Total, job.Queued+1))
			bar.Set64(job.Queued)
		}
		select {
		case <-ctx.Done():
			p.say("the rebuild goes on in the node")
			return job, ctx.Err()
		case <-time.After(pollEvery):
		}
		var err error
		if job, err = client.Reindex(ctx); err != nil {
			return job, err
		}
	}
}
