package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"feedmesh/agent/api"
)

// A removeCommand removes feeds.
type removeCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs or URLs of feeds."`
}

// Help implements kong's HelpProvider.
func (removeCommand) Help() string {
	return `A feed goes with all its items:

    agent feeds remove https://example.org/feed.xml`
}

// Run implements the command.
func (c *removeCommand) Run(ctx context.Context, p *program) error {
	return c.change(ctx, p, c.IDs, "removed", (*api.Client).RemoveFeed)
}

// A refreshCommand has feeds polled now.
type refreshCommand struct {
	query
	feedFilter
	IDs []string `arg:"" optional:"" name:"id" help:"IDs or URLs of feeds; or say by flags which ones."`
}

// Help implements kong's HelpProvider.
func (refreshCommand) Help() string {
	return `Poll a feed now, and see how that went:

    agent feeds refresh https://example.org/feed.xml
    agent feeds show https://example.org/feed.xml

All that failed while the name server was away:

    agent feeds refresh --class dns`
}

// Run implements the command.
func (c *refreshCommand) Run(ctx context.Context, p *program) error {
	filter := c.filter()
	switch {
	case len(c.IDs) > 0 && filter != api.FeedFilter{}:
		return wrong("name feeds, or say by flags which ones, but not both")
	case len(c.IDs) > 0:
		return c.change(ctx, p, c.IDs, "will be polled now", (*api.Client).RefreshFeed)
	case filter == api.FeedFilter{}:
		return wrong("say which feeds, by their IDs or URLs or by flags")
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	done, err := client.ChangeFeeds(ctx, api.FeedBulk{Do: api.Refresh, Filter: &filter})
	if err != nil {
		return err
	}
	return c.print(p, done, func(pg *page) {
		if done.Done == 1 {
			pg.printf("1 feed will be polled now\n")
		} else {
			pg.printf("%d feeds will be polled now\n", done.Done)
		}
	})
}

// change does something to each of several feeds.
func (q query) change(ctx context.Context, p *program, feeds []string, done string, do func(*api.Client, context.Context, string) error) error {
	client, err := q.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, feeds, func(name string) error {
		id, err := feedID(name)
		if err != nil {
			return err
		}
		return do(client, ctx, id)
	})
	q.printDone(p, d, "%s: "+done)
	return err
}

// An exportCommand writes all feeds.
type exportCommand struct {
	remote
	File string `arg:"" optional:"" help:"File to write; by default standard output."`
}

// Help implements kong's HelpProvider.
func (exportCommand) Help() string {
	return `A list that any reader can import:

    agent feeds export feeds.opml`
}

// Run implements the command.
func (c *exportCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	switch {
	case c.File != "" && c.File != "-":
		return exportTo(ctx, client, c.File)
	case isTerminal(p.out):
		var list bytes.Buffer
		if err := client.ExportFeeds(ctx, &list); err != nil {
			return err
		}
		pg := p.page()
		for line := range bytes.Lines(list.Bytes()) {
			pg.printf("%s\n", string(bytes.TrimRight(line, "\r\n")))
		}
		return nil
	}
	return client.ExportFeeds(ctx, p.out)
}

// exportTo writes the list to a file. One that is there is replaced when all of
// the list has come; a device or a pipe is written to as it is.
func exportTo(ctx context.Context, client *api.Client, path string) error {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	part := path + ".part"
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		part = path
	}
	file, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("can't write the list: %w", err)
	}
	err = errors.Join(client.ExportFeeds(ctx, file), file.Close())
	if part == path {
		return err
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}
