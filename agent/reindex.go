package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/api"
)

// A reindexCommand repairs the index, or makes all of it anew.
type reindexCommand struct {
	query
	All  bool `help:"Index all items anew, not only those that differ from the store's."`
	Wait bool `default:"true" negatable:"" help:"Wait until it is done."`
}

// Help implements kong's HelpProvider.
func (reindexCommand) Help() string {
	return `The index is compared with the store, and items that are missing in it, out of
date or left over are put right. Searches go on meanwhile. A node does so by
itself, hourly and when its index is lost; this does it now.

Should searches still not find what they should, index all items anew, which may
take hours where there are millions:

    agent reindex --all --no-wait`
}

// pollEvery is how often we ask how it is getting on.
const pollEvery = 300 * time.Millisecond

// Run implements the command.
func (c *reindexCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	job, err := client.BeginReindex(ctx, c.All)
	if err == nil && c.Wait {
		job, err = p.awaitReindex(ctx, client, job)
	}
	if err != nil {
		return err
	}
	return c.print(p, job, func(pg *page) {
		switch {
		case !c.Wait:
			pg.printf("begun: %d items; it goes on in the node\n", job.Total)
		case job.Missing+job.Stale+job.Surplus == 0:
			pg.printf("done: the index had all %d items as they are in the store\n", job.Total)
		default:
			pg.printf("done: of %d items the index lacked %d, had %d out of date and %d left over; it is repaired\n",
				job.Compared, job.Missing, job.Stale, job.Surplus)
		}
		if c.Wait && job.All {
			pg.printf("all of them were indexed anew\n")
		}
	})
}

// awaitReindex waits until all items are compared, and what was queued is done.
func (p *program) awaitReindex(ctx context.Context, client *api.Client, job api.Reindex) (api.Reindex, error) {
	bar := p.bar(-1, "comparing", true)
	defer bar.Clear()
	begun := job.Started
	for {
		switch {
		case job.State == "failed":
			return job, fmt.Errorf("it failed: %s: begin it again with: agent reindex", job.Error)
		case job.State == "none" || !job.Started.Equal(begun):
			return job, errors.New("the node no longer knows of it, it was most likely restarted: begin again with: agent reindex")
		case job.State == "done" && (job.Waiting == 0 || job.Queued == 0):
			return job, nil
		case job.State == "done":
			bar.Describe(fmt.Sprintf("indexing, %d tasks wait", job.Waiting))
		default:
			// What only the index has comes on top of Total.
			bar.ChangeMax64(max(job.Total, job.Compared+1))
			bar.Set64(job.Compared)
		}
		select {
		case <-ctx.Done():
			p.say("it goes on in the node")
			return job, ctx.Err()
		case <-time.After(pollEvery):
		}
		var err error
		if job, err = client.Reindex(ctx); err != nil {
			return job, err
		}
	}
}
