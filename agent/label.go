package main

import (
	"context"
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
	api, err := c.client()
	if err != nil {
		return err
	}
	correction, err := c.correction()
	if err != nil {
		return err
	}
	var item wire.ItemView
	if c.Forget {
		item, err = client.Call(ctx, api, wire.UnlabelItem, wire.ByID{ID: c.ID})
	} else {
		item, err = client.Call(ctx, api, wire.LabelItem, wire.LabelItemRequest{ID: c.ID, Body: correction})
	}
	if err != nil {
		return err
	}
	return c.print(p, item, func(pg *page) { showItem(pg, item, time.Now()) })
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
