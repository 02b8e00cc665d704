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

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// An importCommand adds the feeds of a list.
type importCommand struct {
	query
	Wait bool   `default:"true" negatable:"" help:"Wait until the import is finished."`
	File string `arg:"" help:"File with the list; - for standard input."`
}

// Help implements kong's HelpProvider.
func (importCommand) Help() string {
	return `Import a list exported by another reader:

    agent feeds import subscriptions.opml

From standard input, one URL per line:

    list-feeds | agent feeds import -

A list may have up to 200,000 feeds. The import runs in the node, and continues if this command is interrupted or the node restarts; agent imports list shows its progress. Importing a list again adds nothing. The exit code is 3 if some feeds have invalid URLs; the first 20 are printed.`
}

// Run implements the command.
func (c *importCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
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
	imp, err := api.StartImport(ctx, filepath.Base(name), struct{ io.Reader }{&sent})
	bar.Clear()
	var refusal *client.Problem
	if errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w; nothing was added", name, err)
	}
	if err != nil {
		return err
	}
	if !c.Wait {
		return c.print(p, imp, func(pg *page) {
			pg.printf("importing %d feeds; agent imports show %s shows the progress\n", imp.Total, imp.ID)
		})
	}
	if imp, err = p.waitForImport(ctx, api, imp); err != nil {
		return err
	}
	err = c.print(p, imp, func(pg *page) {
		pg.printf("%d added, %d existing, %d invalid\n", imp.Added, imp.Existing, imp.Invalid)
	})
	return errors.Join(err, p.reportInvalidLines(ctx, api, name, imp))
}

// waitForImport shows the progress of an import until it has finished.
func (p *program) waitForImport(ctx context.Context, client *client.Client, imp wire.Import) (wire.Import, error) {
	bar := p.bar(int64(imp.Total), "importing", imp.Total > 1000)
	defer bar.Clear()
	return client.WaitForImport(ctx, imp.ID, func(now wire.Import) { bar.Set(now.Done) })
}

// maxInvalidLines bounds the invalid lines that are printed.
const maxInvalidLines = 20

// reportInvalidLines prints the invalid lines of a list. If any, it returns an exit error: 2 if no feed was
// imported, else 3.
func (p *program) reportInvalidLines(ctx context.Context, api *client.Client, file string, imp wire.Import) error {
	if imp.Invalid == 0 {
		return nil
	}
	page, err := client.Call(ctx, api, wire.ListImportLines, wire.ImportSearch{ID: imp.ID, Outcome: wire.ImportInvalid, Limit: maxInvalidLines})
	if err != nil {
		return err
	}
	for _, l := range page.Lines {
		p.notice("%s:%d: %s", file, l.Line, l.Reason)
	}
	if more := imp.Invalid - len(page.Lines); more > 0 {
		p.notice("and %d more; agent imports show %s --invalid prints all of them", more, imp.ID)
	}
	if imp.Added+imp.Existing == 0 {
		return exitError{errReported, exitUsage}
	}
	return exitError{errReported, exitPartial}
}

// openList opens a list of feeds and returns its size.
func openList(path string) (*os.File, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, usageError("read list: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New(path + " is a folder; give a file")
	}
	if err != nil {
		file.Close()
		return nil, 0, usageError("read list: %w", err)
	}
	return file, info.Size(), nil
}

// bar returns a progress bar on standard error. It is visible only on a terminal and for long work.
func (p *program) bar(total int64, what string, long bool, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append(more,
		progressbar.OptionSetDescription(clean(what)),
		progressbar.OptionSetWriter(p.err),
		progressbar.OptionSetVisibility(long && isTerminal(p.err)),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
	)...)
}
