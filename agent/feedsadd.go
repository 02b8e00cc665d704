package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"

	"feedmesh/agent/api"
)

// An addCommand adds feeds.
type addCommand struct {
	query
	Tag  []string `placeholder:"TAG" help:"Tags of the feeds."`
	URLs []string `arg:"" name:"url" help:"Addresses of feeds."`
}

// Help implements kong's HelpProvider.
func (addCommand) Help() string {
	return `Add two feeds under a tag:

    agent feeds add --tag go https://go.dev/blog/feed.atom https://blog.golang.org/feed

Adding a feed that is known already changes nothing.`
}

// Run implements the command.
func (c *addCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	got, err := client.AddFeeds(ctx, c.URLs, c.Tag)
	if err != nil {
		return err
	}
	err = c.print(p, got, func(pg *page) {
		pg.table(func(row func(...any)) {
			for _, f := range got.Feeds {
				if f.Outcome != api.Invalid {
					row(f.Outcome, f.FeedID, f.URL)
				}
			}
		})
	})
	return errors.Join(err, p.sayInvalid("", got))
}

// sayInvalid says which of the addresses that came from a file, or from none,
// were not taken in, and returns the fault that this makes.
func (p *program) sayInvalid(file string, got api.Intakes) error {
	for _, f := range got.Feeds {
		switch {
		case f.Outcome != api.Invalid:
		case file == "":
			p.say("%s", f.Reason)
		default:
			p.say("%s:%d: %s", file, f.Line, f.Reason)
		}
	}
	switch {
	case got.Invalid == 0:
		return nil
	case got.Added+got.Known == 0:
		return fault{errSaid, misused}
	}
	return fault{errSaid, partly}
}

// An importCommand adds the feeds of a list.
type importCommand struct {
	query
	File string `arg:"" help:"File with the list; - reads it from standard input."`
}

// Help implements kong's HelpProvider.
func (importCommand) Help() string {
	return `The list that another reader exports:

    agent feeds import subscriptions.opml

From a program, an address a line:

    list-feeds | agent feeds import -

Importing a list again adds nothing. The exit code is 3 if some of an OPML file's feeds have addresses that are none; those are named.`
}

// Run implements the command.
func (c *importCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	list, name, size := p.in, "standard input", int64(-1)
	if c.File != "-" {
		file, n, err := openList(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		list, name, size = file, c.File, n
	}
	bar := p.bar(size, "sending "+filepath.Base(name), size > 1<<20, progressbar.OptionShowBytes(true))
	sent := progressbar.NewReader(list, bar)
	got, err := client.ImportFeeds(ctx, struct{ io.Reader }{&sent})
	bar.Clear()
	var refusal *api.Problem
	if errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w; nothing was added", name, err)
	}
	if err != nil {
		return err
	}
	err = c.print(p, got, func(pg *page) {
		pg.printf("%d added, %d known already, %d no feed addresses\n", got.Added, got.Known, got.Invalid)
	})
	return errors.Join(err, p.sayInvalid(name, got))
}

// openList opens a list of feeds and returns its size.
func openList(path string) (*os.File, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, wrong("can't read the list: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New(path + " is a folder; name a file")
	}
	if err != nil {
		file.Close()
		return nil, 0, wrong("can't read the list: %w", err)
	}
	return file, info.Size(), nil
}

// bar returns a progress bar on standard error: one that is seen if that is a
// terminal and the work long.
func (p *program) bar(total int64, what string, long bool, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append(more,
		progressbar.OptionSetDescription(clean(what)),
		progressbar.OptionSetWriter(p.err),
		progressbar.OptionSetVisibility(long && isTerminal(p.err)),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
	)...)
}
