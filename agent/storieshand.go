package main

import (
	"context"
	"time"

	"feedmesh/agent/api"
)

// A storiesSplitCommand takes an event or an item out of a story.
type storiesSplitCommand struct {
	query
	ID    string `arg:"" help:"ID of the story, as agent stories list prints it."`
	Event string `placeholder:"ID" xor:"what" required:"" help:"Event that becomes a story of its own, with all its items."`
	Item  string `placeholder:"ID" xor:"what" required:"" help:"Item that gets an event and a story of its own."`
}

// Help implements kong's HelpProvider.
func (storiesSplitCommand) Help() string {
	return `An event that has nothing to do with the rest; agent stories show prints its ID:

    agent stories split wvtk3hvrmk2mkkubukz6ph3h4m --event mk2mkkubukz6ph3h4mwvtk3hvr

It stays apart whatever is found later.`
}

// Run implements the command.
func (c *storiesSplitCommand) Run(ctx context.Context, p *program) error {
	return c.arrange(p, c.ID, func(client *api.Client) (api.StoryView, error) {
		return client.SplitStory(ctx, c.ID, api.Splitting{EventID: c.Event, ItemID: c.Item})
	})
}

// A storiesJoinCommand makes two stories one.
type storiesJoinCommand struct {
	query
	ID    string `arg:"" help:"ID of a story, as agent stories list prints it."`
	Other string `arg:"" help:"ID of the other one, in the same language."`
}

// Help implements kong's HelpProvider.
func (storiesJoinCommand) Help() string {
	return `Two stories that are one; the larger one keeps its ID:

    agent stories join wvtk3hvrmk2mkkubukz6ph3h4m mk2mkkubukz6ph3h4mwvtk3hvr

They stay together whatever is found later.`
}

// Run implements the command.
func (c *storiesJoinCommand) Run(ctx context.Context, p *program) error {
	if c.Other == "" {
		return wrong("the ID is empty; agent stories list prints the IDs of stories")
	}
	return c.arrange(p, c.ID, func(client *api.Client) (api.StoryView, error) { return client.JoinStories(ctx, c.ID, c.Other) })
}

// arrange does something to a story and prints what it is then.
func (q query) arrange(p *program, id string, do func(*api.Client) (api.StoryView, error)) error {
	client, err := q.client()
	if err != nil {
		return err
	}
	if id == "" {
		return wrong("the ID is empty; agent stories list prints the IDs of stories")
	}
	story, err := do(client)
	if err != nil {
		return err
	}
	return q.print(p, story, func(pg *page) { showStory(pg, story, time.Now()) })
}
