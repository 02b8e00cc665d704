package main

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/api"
)

// A spamCommand is the commands about spam.
type spamCommand struct {
	List    spamListCommand    `cmd:"" help:"List items that are spam, and why; what was judged last comes first."`
	Release spamReleaseCommand `cmd:"" help:"Say that items are no spam."`
	Report  spamReportCommand  `cmd:"" help:"Call items spam."`
}

// A spamListCommand lists spam.
type spamListCommand struct {
	query
	Feed  string `placeholder:"ID" help:"Only items of the feed with this ID or URL."`
	Limit int    `default:"20" help:"How many items to print at most, up to 100."`
}

// Help implements kong's HelpProvider.
func (spamListCommand) Help() string {
	return `What was called spam lately, and by what:

    agent spam list`
}

// Run implements the command.
func (c *spamListCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	feed := c.Feed
	if feed != "" {
		if feed, err = feedID(feed); err != nil {
			return err
		}
	}
	found, err := client.Spam(ctx, feed, "", c.Limit)
	if err != nil {
		return err
	}
	if len(found.Items) == 0 && !c.JSON {
		p.say("there is no spam")
		return nil
	}
	return c.print(p, found, func(pg *page) {
		now := time.Now()
		for _, item := range found.Items {
			pg.printf("%v\n", pg.strong(item.Title))
			pg.printf("  %s · %s · score %.2f\n", item.FeedTitle, ago(item.Judged, now), item.SpamScore)
			for _, why := range item.Why {
				pg.printf("  %s\n", why)
			}
			pg.printf("  agent spam release %s\n\n", item.ID)
		}
		pg.printf("%d of %d\n", len(found.Items), found.Total)
	})
}

// A spamReleaseCommand says that items are no spam.
type spamReleaseCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of items, as agent spam list prints them."`
}

// Help implements kong's HelpProvider.
func (spamReleaseCommand) Help() string {
	return `Items stay released whatever the rules say, and these can learn from it:

    agent spam release wvtk3hvrmk2mkkubukz6ph3h4m
    agent rules train spam`
}

// Run implements the command.
func (c *spamReleaseCommand) Run(ctx context.Context, p *program) error {
	return c.callItems(ctx, p, c.IDs, "no spam", (*api.Client).ReleaseSpam)
}

// A spamReportCommand calls items spam.
type spamReportCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of items, as agent search prints them."`
}

// Help implements kong's HelpProvider.
func (spamReportCommand) Help() string {
	return `Items stay spam whatever the rules say, and these can learn from it:

    agent spam report wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *spamReportCommand) Run(ctx context.Context, p *program) error {
	return c.callItems(ctx, p, c.IDs, "spam", (*api.Client).ReportSpam)
}

// callItems says of each of several items what it is.
func (q query) callItems(ctx context.Context, p *program, items []string, what string, do func(*api.Client, context.Context, string) error) error {
	client, err := q.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, items, func(id string) error {
		if strings.TrimSpace(id) == "" {
			return wrong("the ID is empty; agent search prints the IDs of items")
		}
		return do(client, ctx, id)
	})
	q.printDone(p, d, "%s: "+what+" from now on")
	return err
}
