package main

import (
	"context"
	"time"

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
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.Call(ctx, api, wire.ListImports, wire.None{})
	if err != nil {
		return err
	}
	if len(all.Imports) == 0 && !c.JSON {
		p.notice("no imports yet; start one with: agent feeds import FILE")
		return nil
	}
	return c.print(p, all, func(pg *page) {
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
	api, err := c.client()
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
	api, err := c.client()
	if err != nil {
		return err
	}
	imp, err := client.Call(ctx, api, wire.CancelImport, wire.ByID{ID: c.ID})
	if err != nil {
		return err
	}
	return c.print(p, imp, func(pg *page) {
		if imp.State == "running" {
			pg.printf("cancelling %s: %d of %d feeds done\n", c.ID, imp.Done, imp.Total)
		} else {
			pg.printf("%s has already finished: %s\n", c.ID, imp.State)
		}
	})
}
