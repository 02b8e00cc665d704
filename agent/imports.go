package main

import (
	"context"
	"time"

	"feedmesh/agent/api"
)

// An importsCommand is the commands about lists that are being taken in.
type importsCommand struct {
	List   importsListCommand   `cmd:"" help:"List the last imports, newest first."`
	Show   importsShowCommand   `cmd:"" help:"Print what became of each feed of an import."`
	Cancel importsCancelCommand `cmd:"" help:"Have an import end; what it added by then stays."`
}

// An importsListCommand lists imports.
type importsListCommand struct{ query }

// Help implements kong's HelpProvider.
func (importsListCommand) Help() string {
	return `How the lists are getting on:

    agent imports list`
}

// Run implements the command.
func (c *importsListCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.Imports(ctx)
	if err != nil {
		return err
	}
	if len(all.Imports) == 0 && !c.JSON {
		p.say("nothing was imported; do so with: agent feeds import FILE")
		return nil
	}
	return c.print(p, all, func(pg *page) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "STATE", "STARTED", "FEEDS", "DONE", "ADDED", "KNOWN", "INVALID", "NAME")
			for _, i := range all.Imports {
				row(i.ID, i.State, ago(i.Started, now), i.Total, i.Done, i.Added, i.Known, i.Invalid, cut(i.Name, 40))
			}
		})
	})
}

// An importsShowCommand prints what became of a list.
type importsShowCommand struct {
	query
	Invalid bool   `help:"Only feeds that were not taken in, and why."`
	Verdict string `placeholder:"VERDICT" enum:",waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid" default:"" help:"Only feeds with this verdict: waiting, left out, added, read, duplicate, redirected, blocked, not a feed, failed, gone, invalid."`
	CSV     bool   `name:"csv" help:"Write all of it as CSV."`
	ID      string `arg:"" help:"ID of the import."`
}

// Help implements kong's HelpProvider.
func (importsShowCommand) Help() string {
	return `What was wrong with a list:

    agent imports show 0123456789abcdef --invalid

Which feeds of it can't be read by now, for a spreadsheet:

    agent imports show 0123456789abcdef --csv > report.csv`
}

// Run implements the command.
func (c *importsShowCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	imp, err := client.Import(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.CSV {
		return client.ImportReport(ctx, c.ID, p.out)
	}
	outcome := ""
	if c.Invalid {
		outcome = api.Invalid
	}
	answer := struct {
		api.Import
		Lines []api.ImportLine `json:"lines"`
	}{imp, []api.ImportLine{}}
	for after := 0; ; {
		page, err := client.ImportLines(ctx, api.ImportSearch{ID: c.ID, Outcome: outcome, Verdict: c.Verdict, After: after, Limit: 1000})
		if err != nil {
			return err
		}
		answer.Lines = append(answer.Lines, page.Lines...)
		if after = page.Next; after == 0 {
			break
		}
	}
	return c.print(p, answer, func(pg *page) {
		pg.printf("%s %s, begun %s: %d of %d feeds done, %d added, %d known already, %d no feed addresses\n\n",
			imp.Name, imp.State, ago(imp.Started, time.Now()), imp.Done, imp.Total, imp.Added, imp.Known, imp.Invalid)
		pg.table(func(row func(...any)) {
			row("LINE", "VERDICT", "URL", "WHY")
			for _, l := range answer.Lines {
				row(l.Line, l.Verdict, l.URL, l.Detail)
			}
		})
	})
}

// An importsCancelCommand has an import end.
type importsCancelCommand struct {
	query
	ID string `arg:"" help:"ID of the import."`
}

// Help implements kong's HelpProvider.
func (importsCancelCommand) Help() string {
	return `The wrong file was sent:

    agent imports cancel 0123456789abcdef`
}

// Run implements the command.
func (c *importsCancelCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	imp, err := client.CancelImport(ctx, c.ID)
	if err != nil {
		return err
	}
	return c.print(p, imp, func(pg *page) {
		if imp.State == "running" {
			pg.printf("%s will end: %d of %d feeds are done\n", c.ID, imp.Done, imp.Total)
		} else {
			pg.printf("%s has ended already: it is %s\n", c.ID, imp.State)
		}
	})
}
