package main

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A duplicatesCommand prints the duplicates of an item.
type duplicatesCommand struct {
	query
	ID string `arg:"" help:"ID of the item, as agent search prints it."`
}

// Help implements kong's HelpProvider.
func (duplicatesCommand) Help() string {
	return `The duplicates of an item, and how they were detected:

    agent items duplicates wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *duplicatesCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if c.ID == "" {
		return usageError("item ID is empty; agent search prints the IDs of items")
	}
	found, err := client.Call(ctx, api, wire.ListDuplicates, wire.ByID{ID: c.ID})
	if err != nil {
		return err
	}
	if err := c.print(p, found, func(pg *page) { showDuplicates(pg, found, time.Now()) }); err != nil || c.JSON {
		return err
	}
	if len(found.Items) == 0 {
		p.notice("the item has no duplicates and is no duplicate")
	}
	return nil
}

func showDuplicates(pg *page, found wire.Duplicates, now time.Time) {
	show := func(i wire.ItemBrief) {
		pg.printf("%v\n  %s\n", pg.strong(i.Title), joinNonEmpty([]string{i.Publisher, i.FeedTitle, ago(i.Seen, now), i.URL}, " · "))
		switch {
		case i.DuplicateBy == "hand":
			pg.printf("  %s\n", i.DuplicateWhy)
		case i.DuplicateOf != "":
			pg.printf("  duplicate by %s, score %s: %s\n", i.DuplicateBy, fmt.Sprintf("%.2f", i.DuplicateScore), i.DuplicateWhy)
		}
		pg.printf("  agent items %s\n", i.ID)
	}
	for _, note := range found.Notes {
		pg.printf("%s\n", note)
	}
	show(found.First)
	for _, i := range found.Items {
		pg.printf("\n")
		show(i)
	}
}

// An explainCommand compares two items.
type explainCommand struct {
	query
	ID   string `arg:"" help:"ID of an item, as agent search prints it."`
	With string `arg:"" help:"ID of the other item."`
}

// Help implements kong's HelpProvider.
func (explainCommand) Help() string {
	return `Explain why two items are duplicates, or why not:

    agent items explain wvtk3hvrmk2mkkubukz6ph3h4m mk2mkkubukz6ph3h4mwvtk3hvr`
}

// Run implements the command.
func (c *explainCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if c.ID == "" || c.With == "" {
		return usageError("item ID is empty; agent search prints the IDs of items")
	}
	found, err := client.Call(ctx, api, wire.ExplainItems, wire.ExplainItemsRequest{ID: c.ID, With: c.With})
	if err != nil {
		return err
	}
	return c.print(p, found, func(pg *page) {
		pg.printf("first   %v\nsecond  %v\n\n", pg.strong(found.Item.Title), pg.strong(found.With.Title))
		for _, sentence := range found.Sentences {
			pg.printf("%s\n", sentence)
		}
	})
}
