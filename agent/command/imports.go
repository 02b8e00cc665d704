package command

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

// An importsCommand groups the commands about imports.
type importsCommand struct {
	List   importsListCommand   `cmd:"" help:"List the last imports, newest first."`
	Show   importsShowCommand   `cmd:"" help:"Show the outcome of each feed of an import."`
	Cancel importsCancelCommand `cmd:"" help:"Cancel an import; feeds added so far are kept."`
}

// An importsListCommand lists imports.
type importsListCommand struct{ query }

// Help implements kong's HelpProvider.
func (importsListCommand) Help() string {
	return `Progress of the last imports:

    agent imports list`
}

// Run implements the command.
func (c *importsListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListImports, wire.None{}, func(pg *page, all wire.Imports) {
		if len(all.Imports) == 0 {
			p.notice("no imports yet; start one with: agent feeds import FILE")
			return
		}
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "STATE", "STARTED", "FEEDS", "DONE", "ADDED", "KNOWN", "INVALID", "NAME")
			for _, i := range all.Imports {
				row(i.ID, i.State, ago(i.Started, now), i.Total, i.Done, i.Added, i.Existing, i.Invalid, truncate(i.Name, 40))
			}
		})
	})
}

// An importsShowCommand prints the outcome of each feed of an import.
type importsShowCommand struct {
	query
	Invalid bool   `help:"Only invalid lines, with the reason."`
	Verdict string `placeholder:"VERDICT" enum:",waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid" default:"" help:"Only feeds with this verdict: waiting, left out, added, read, duplicate, redirected, blocked, not a feed, failed, gone, invalid."`
	CSV     bool   `name:"csv" help:"Print the full report as CSV."`
	ID      string `arg:"" help:"ID of the import."`
}

// Help implements kong's HelpProvider.
func (importsShowCommand) Help() string {
	return `The invalid lines of a list:

    agent imports show 0123456789abcdef --invalid

The state of its feeds, for a spreadsheet:

    agent imports show 0123456789abcdef --csv > report.csv`
}

// Run implements the command.
func (c *importsShowCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	imp, err := client.Call(ctx, api, wire.GetImport, wire.ByID{ID: c.ID})
	if err != nil {
		return err
	}
	if c.CSV {
		return api.ImportReport(ctx, c.ID, p.out)
	}
	outcome := ""
	if c.Invalid {
		outcome = wire.ImportInvalid
	}
	answer := struct {
		wire.Import
		Lines []wire.ImportLine `json:"lines"`
	}{imp, []wire.ImportLine{}}
	for after := 0; ; {
		page, err := client.Call(ctx, api, wire.ListImportLines, wire.ImportSearch{ID: c.ID, Outcome: outcome, Verdict: c.Verdict, After: after, Limit: 1000})
		if err != nil {
			return err
		}
		answer.Lines = append(answer.Lines, page.Lines...)
		if after = page.Next; after == 0 {
			break
		}
	}
	return c.print(p, answer, func(pg *page) {
		pg.printf("%s %s, started %s: %d of %d feeds done, %d added, %d existing, %d invalid\n\n",
			imp.Name, imp.State, ago(imp.Started, time.Now()), imp.Done, imp.Total, imp.Added, imp.Existing, imp.Invalid)
		pg.table(func(row func(...any)) {
			row("LINE", "VERDICT", "URL", "REASON")
			for _, l := range answer.Lines {
				row(l.Line, l.Verdict, l.URL, l.Detail)
			}
		})
	})
}

// An importsCancelCommand cancels an import.
type importsCancelCommand struct {
	query
	ID string `arg:"" help:"ID of the import."`
}

// Help implements kong's HelpProvider.
func (importsCancelCommand) Help() string {
	return `Cancel a running import:

    agent imports cancel 0123456789abcdef`
}

// Run implements the command.
func (c *importsCancelCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.CancelImport, wire.ByID{ID: c.ID}, func(pg *page, imp wire.Import) {
		if imp.State == "running" {
			pg.printf("cancelling %s: %d of %d feeds done\n", c.ID, imp.Done, imp.Total)
		} else {
			pg.printf("%s has already finished: %s\n", c.ID, imp.State)
		}
	})
}

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
	api, err := c.client(p)
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
