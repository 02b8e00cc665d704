package command

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A labelCommand corrects the labels of an item.
type labelCommand struct {
	query
	Category     []string `placeholder:"NAME" help:"Categories, best first, replacing the current ones."`
	NoCategories bool     `help:"Remove all categories."`
	Topic        []string `placeholder:"NAME" help:"Topics, best first, replacing the current ones."`
	NoTopics     bool     `help:"Remove all topics."`
	Spam         *bool    `negatable:"" help:"Mark as spam; --no-spam: as not spam."`
	Forget       bool     `help:"Remove manual corrections: rules decide again when they are applied."`
	ID           string   `arg:"" help:"ID of the item, as agent search prints it."`
}

// Help implements kong's HelpProvider.
func (labelCommand) Help() string {
	return `Correct an item that the rules labelled wrong:

    agent items label wvtk3hvrmk2mkkubukz6ph3h4m --category databases --topic postgresql

Manual labels override rules, and training uses them. Labels not given do
not change; without flags, all current labels are confirmed.`
}

// Run implements the command.
func (c *labelCommand) Run(ctx context.Context, p *program) error {
	correction, err := c.correction()
	if err != nil {
		return err
	}
	text := func(pg *page, item wire.ItemView) { showItem(pg, item, time.Now()) }
	if c.Forget {
		return printAnswer(ctx, p, c.query, wire.UnlabelItem, wire.ByID{ID: c.ID}, text)
	}
	return printAnswer(ctx, p, c.query, wire.LabelItem, wire.LabelItemRequest{ID: c.ID, Body: correction}, text)
}

// correction returns the correction that the flags specify.
func (c *labelCommand) correction() (correction wire.Correction, err error) {
	switch {
	case c.ID == "":
		return correction, usageError("item ID is empty; agent search prints the IDs of items")
	case len(c.Category) > 0 && c.NoCategories:
		return correction, usageError("--category and --no-categories cannot be used together")
	case len(c.Topic) > 0 && c.NoTopics:
		return correction, usageError("--topic and --no-topics cannot be used together")
	case c.Forget && (len(c.Category)+len(c.Topic) > 0 || c.NoCategories || c.NoTopics || c.Spam != nil):
		return correction, usageError("--forget cannot be used with other flags")
	}
	correction.Spam = c.Spam
	// An empty list removes all labels; nil leaves them unchanged.
	if len(c.Category) > 0 || c.NoCategories {
		names := append([]string{}, c.Category...)
		correction.Categories = &names
	}
	if len(c.Topic) > 0 || c.NoTopics {
		names := append([]string{}, c.Topic...)
		correction.Topics = &names
	}
	return correction, nil
}

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
	search := wire.ListSpamRequest{Limit: int(c.Limit)}
	if c.Feed != "" {
		var err error
		if search.Feed, err = feedID(c.Feed); err != nil {
			return err
		}
	}
	return printAnswer(ctx, p, c.query, wire.ListSpam, search, func(pg *page, found wire.SpamPage) {
		if len(found.Items) == 0 {
			p.notice("no spam found")
			return
		}
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
	return q.each(ctx, p, items, "%s: "+what, func(api *client.Client, id string) error {
		if strings.TrimSpace(id) == "" {
			return usageError("item ID is empty; agent search prints the IDs of items")
		}
		_, err := client.Call(ctx, api, mark, wire.ByID{ID: id})
		return err
	})
}
