package main

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A spamCommand groups the commands about spam.
type spamCommand struct {
	List    spamListCommand    `cmd:"" help:"List spam with the reasons, the last classified first."`
	Release spamReleaseCommand `cmd:"" help:"Mark items as not spam."`
	Report  spamReportCommand  `cmd:"" help:"Mark items as spam."`
}

// A spamListCommand lists spam.
type spamListCommand struct {
	query
	Feed  string    `placeholder:"ID" help:"Only items of the feed with this ID or URL."`
	Limit countFlag `default:"20" help:"Maximum number of items, up to 100."`
}

// Help implements kong's HelpProvider.
func (spamListCommand) Help() string {
	return `The latest spam, with the reasons:

    agent spam list`
}

// Run implements the command.
func (c *spamListCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	feed := c.Feed
	if feed != "" {
		if feed, err = feedID(feed); err != nil {
			return err
		}
	}
	found, err := client.Call(ctx, api, wire.ListSpam, wire.ListSpamRequest{Feed: feed, Limit: int(c.Limit)})
	if err != nil {
		return err
	}
	if len(found.Items) == 0 && !c.JSON {
		p.notice("no spam found")
		return nil
	}
	return c.print(p, found, func(pg *page) {
		now := time.Now()
		for _, item := range found.Items {
			pg.printf("%v\n", pg.strong(item.Title))
			pg.printf("  %s · %s · score %.2f\n", item.FeedTitle, ago(item.Judged, now), item.SpamScore)
			for _, reason := range item.Reasons {
				pg.printf("  %s\n", reason)
			}
			pg.printf("  agent spam release %s\n\n", item.ID)
		}
		pg.printf("%d of %d\n", len(found.Items), found.Total)
	})
}

// A spamReleaseCommand marks items as not spam.
type spamReleaseCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of items, as agent spam list prints them."`
}

// Help implements kong's HelpProvider.
func (spamReleaseCommand) Help() string {
	return `Manual labels override rules, and training uses them:

    agent spam release wvtk3hvrmk2mkkubukz6ph3h4m
    agent rules train spam`
}

// Run implements the command.
func (c *spamReleaseCommand) Run(ctx context.Context, p *program) error {
	return c.markItems(ctx, p, c.IDs, "marked as not spam", wire.ReleaseSpam)
}

// A spamReportCommand marks items as spam.
type spamReportCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of items, as agent search prints them."`
}

// Help implements kong's HelpProvider.
func (spamReportCommand) Help() string {
	return `Manual labels override rules, and training uses them:

    agent spam report wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *spamReportCommand) Run(ctx context.Context, p *program) error {
	return c.markItems(ctx, p, c.IDs, "marked as spam", wire.ReportSpam)
}

// markItems marks each item as spam or not spam.
func (q query) markItems(ctx context.Context, p *program, items []string, what string, mark wire.Operation[wire.ByID, wire.ItemView]) error {
	api, err := q.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, items, func(id string) error {
		if strings.TrimSpace(id) == "" {
			return usageError("item ID is empty; agent search prints the IDs of items")
		}
		_, err := client.Call(ctx, api, mark, wire.ByID{ID: id})
		return err
	})
	q.printDone(p, d, "%s: "+what)
	return err
}
