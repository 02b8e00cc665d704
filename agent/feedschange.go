package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A removeCommand removes feeds.
type removeCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs or URLs of feeds."`
}

// Help implements kong's HelpProvider.
func (removeCommand) Help() string {
	return `Remove a feed with all its items:

    agent feeds remove https://example.org/feed.xml`
}

// Run implements the command.
func (c *removeCommand) Run(ctx context.Context, p *program) error {
	return c.change(ctx, p, c.IDs, "removed", wire.RemoveFeed)
}

// A refreshCommand requests an immediate poll of feeds.
type refreshCommand struct {
	query
	feedFilter
	IDs []string `arg:"" optional:"" name:"id" help:"IDs or URLs of feeds; or select feeds by flags."`
}

// Help implements kong's HelpProvider.
func (refreshCommand) Help() string {
	return `Poll a feed now, and show the result:

    agent feeds refresh https://example.org/feed.xml
    agent feeds show https://example.org/feed.xml

All feeds with DNS errors:

    agent feeds refresh --class dns`
}

// Run implements the command.
func (c *refreshCommand) Run(ctx context.Context, p *program) error {
	filter := c.filter()
	switch {
	case len(c.IDs) > 0 && filter != wire.FeedFilter{}:
		return usageError("name feeds or select them by flags, not both")
	case len(c.IDs) > 0:
		return c.change(ctx, p, c.IDs, "will be polled now", wire.RefreshFeed)
	case filter == wire.FeedFilter{}:
		return usageError("no feeds selected: name their IDs or URLs, or use flags")
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	done, err := client.ChangeFeeds(ctx, api, wire.BulkChange{Action: wire.ActionRefresh, Filter: &filter})
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

// change applies an operation to each feed.
func (q query) change(ctx context.Context, p *program, feeds []string, done string, o wire.Operation[wire.ByID, wire.None]) error {
	api, err := q.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, feeds, func(name string) error {
		id, err := feedID(name)
		if err != nil {
			return err
		}
		_, err = client.Call(ctx, api, o, wire.ByID{ID: id})
		return err
	})
	q.printDone(p, d, "%s: "+done)
	return err
}

// An exportCommand writes all feeds as OPML.
type exportCommand struct {
	remote
	File string `arg:"" optional:"" help:"File to write; by default standard output."`
}

// Help implements kong's HelpProvider.
func (exportCommand) Help() string {
	return `Write a list that other readers can import:

    agent feeds export feeds.opml`
}

// Run implements the command.
func (c *exportCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	list, err := client.Call(ctx, api, wire.ExportFeeds, wire.None{})
	switch {
	case err != nil:
		return err
	case c.File != "" && c.File != "-":
		return writeList(c.File, list.Data)
	case isTerminal(p.out):
		pg := p.page()
		for line := range bytes.Lines(list.Data) {
			pg.printf("%s\n", string(bytes.TrimRight(line, "\r\n")))
		}
		return nil
	}
	_, err = p.out.Write(list.Data)
	return err
}

// writeList writes a list to a file. An existing regular file is replaced as a whole; a device or pipe is
// written to directly.
func writeList(path string, list []byte) error {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	temporary := path + ".part"
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		temporary = path
	}
	file, err := os.Create(temporary)
	if err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	_, err = file.Write(list)
	err = errors.Join(err, file.Close())
	if temporary == path {
		return err
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}
