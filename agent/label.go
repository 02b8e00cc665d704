package main

import (
	"context"
	"time"

	"feedmesh/agent/api"
)

// A labelCommand says what an item is.
type labelCommand struct {
	query
	Category     []string `placeholder:"NAME" help:"What it is about, best first, in place of what it has."`
	NoCategories bool     `help:"It is about nothing that has a name."`
	Topic        []string `placeholder:"NAME" help:"Its topics, best first, in place of those it has."`
	NoTopics     bool     `help:"It has no topic."`
	Spam         *bool    `negatable:"" help:"It is spam; --no-spam: it is not."`
	Forget       bool     `help:"Forget what people said of it: rules decide again when they are applied."`
	ID           string   `arg:"" help:"ID of the item, as agent search prints it."`
}

// Help implements kong's HelpProvider.
func (labelCommand) Help() string {
	return `An item that the rules take for something else:

    agent items label wvtk3hvrmk2mkkubukz6ph3h4m --category databases --topic postgresql

It stays so whatever rules say, and they can learn from it. What is not named
stays as it is; if nothing is, all its labels are right.`
}

// Run implements the command.
func (c *labelCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	said, err := c.said()
	if err != nil {
		return err
	}
	var item api.ItemView
	if c.Forget {
		item, err = client.UnlabelItem(ctx, c.ID)
	} else {
		item, err = client.LabelItem(ctx, c.ID, said)
	}
	if err != nil {
		return err
	}
	return c.print(p, item, func(pg *page) { showItem(pg, item, time.Now()) })
}

// said returns what the flags say of the item.
func (c *labelCommand) said() (said api.Correction, err error) {
	switch {
	case c.ID == "":
		return said, wrong("the ID is empty; agent search prints the IDs of items")
	case len(c.Category) > 0 && c.NoCategories:
		return said, wrong("--category and --no-categories can't both be")
	case len(c.Topic) > 0 && c.NoTopics:
		return said, wrong("--topic and --no-topics can't both be")
	case c.Forget && (len(c.Category)+len(c.Topic) > 0 || c.NoCategories || c.NoTopics || c.Spam != nil):
		return said, wrong("--forget can't be with anything else")
	}
	said.Spam = c.Spam
	// An empty list says that there are none, a nil one would say nothing.
	if len(c.Category) > 0 || c.NoCategories {
		names := append([]string{}, c.Category...)
		said.Categories = &names
	}
	if len(c.Topic) > 0 || c.NoTopics {
		names := append([]string{}, c.Topic...)
		said.Topics = &names
	}
	return said, nil
}
