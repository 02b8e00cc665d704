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

// An importCommand adds the feeds of a list.
type importCommand struct {
	query
	Wait bool   `default:"true" negatable:"" help:"Wait until all of the list is taken in."`
	File string `arg:"" help:"File with the list; - reads it from standard input."`
}

// Help implements kong's HelpProvider.
func (importCommand) Help() string {
	return `The list that another reader exports:

    agent feeds import subscriptions.opml

From a program, an address a line:

    list-feeds | agent feeds import -

A list may have 200,000 feeds. It is taken in by the node, which goes on with it when this command is interrupted, or the node started again; agent imports list tells how it is getting on. Importing a list again adds nothing. The exit code is 3 if some of the feeds have addresses that are none; the first 20 are named.`
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
	imp, err := client.BeginImport(ctx, filepath.Base(name), struct{ io.Reader }{&sent})
	bar.Clear()
	var refusal *api.Problem
	if errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w; nothing was added", name, err)
	}
	if err != nil {
		return err
	}
	if !c.Wait {
		return c.print(p, imp, func(pg *page) {
			pg.printf("%d feeds are being taken in; agent imports show %s tells how that is getting on\n", imp.Total, imp.ID)
		})
	}
	if imp, err = p.waitForImport(ctx, client, imp); err != nil {
		return err
	}
	err = c.print(p, imp, func(pg *page) {
		pg.printf("%d added, %d known already, %d no feed addresses\n", imp.Added, imp.Known, imp.Invalid)
	})
	return errors.Join(err, p.sayInvalidLines(ctx, client, name, imp))
}

// waitForImport shows how an import is getting on until it is done.
func (p *program) waitForImport(ctx context.Context, client *api.Client, imp api.Import) (api.Import, error) {
	bar := p.bar(int64(imp.Total), "taking in", imp.Total > 1000)
	defer bar.Clear()
	return client.WaitForImport(ctx, imp.ID, func(now api.Import) { bar.Set(now.Done) })
}

// maxSaid is how many lines of a list are named that are wrong.
const maxSaid = 20

// sayInvalidLines says which lines of a list were not taken in, and returns the
// fault that this makes.
func (p *program) sayInvalidLines(ctx context.Context, client *api.Client, file string, imp api.Import) error {
	if imp.Invalid == 0 {
		return nil
	}
	page, err := client.ImportLines(ctx, api.ImportSearch{ID: imp.ID, Outcome: api.Invalid, Limit: maxSaid})
	if err != nil {
		return err
	}
	for _, l := range page.Lines {
		p.say("%s:%d: %s", file, l.Line, l.Reason)
	}
	if more := imp.Invalid - len(page.Lines); more > 0 {
		p.say("and %d more; agent imports show %s --invalid prints them all", more, imp.ID)
	}
	if imp.Added+imp.Known == 0 {
		return fault{errSaid, misused}
	}
	return fault{errSaid, partly}
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
