package main

import (
	"context"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A storiesSplitCommand splits an event or an item from a story.
type storiesSplitCommand struct {
	query
	ID    string `arg:"" help:"ID of the story, as agent stories list prints it."`
	Event string `placeholder:"ID" xor:"what" required:"" help:"Event to split off as a new story, with all its items."`
	Item  string `placeholder:"ID" xor:"what" required:"" help:"Item to split off as a new event and story."`
}

// Help implements kong's HelpProvider.
func (storiesSplitCommand) Help() string {
	return `Split an unrelated event from a story; agent stories show prints its ID:

    agent stories split wvtk3hvrmk2mkkubukz6ph3h4m --event mk2mkkubukz6ph3h4mwvtk3hvr

Later clustering does not undo a manual split.`
}

// Run implements the command.
func (c *storiesSplitCommand) Run(ctx context.Context, p *program) error {
	return c.editStory(p, c.ID, func(api *client.Client) (wire.StoryView, error) {
		return client.Call(ctx, api, wire.SplitStory, wire.SplitStoryRequest{ID: c.ID, Body: wire.SplitRequest{EventID: c.Event, ItemID: c.Item}})
	})
}

// A storiesJoinCommand joins two stories.
type storiesJoinCommand struct {
	query
	ID    string `arg:"" help:"ID of a story, as agent stories list prints it."`
	Other string `arg:"" help:"ID of another story in the same language."`
}

// Help implements kong's HelpProvider.
func (storiesJoinCommand) Help() string {
	return `Join two stories; the larger one keeps its ID:

    agent stories join wvtk3hvrmk2mkkubukz6ph3h4m mk2mkkubukz6ph3h4mwvtk3hvr

Later clustering does not undo a manual join.`
}

// Run implements the command.
func (c *storiesJoinCommand) Run(ctx context.Context, p *program) error {
	if c.Other == "" {
		return usageError("story ID is empty; agent stories list prints the IDs of stories")
	}
	return c.editStory(p, c.ID, func(api *client.Client) (wire.StoryView, error) {
		return client.Call(ctx, api, wire.JoinStories, wire.JoinStoriesRequest{ID: c.ID, Body: wire.JoinRequest{StoryID: c.Other}})
	})
}

// editStory applies a manual edit to a story and prints the result.
func (q query) editStory(p *program, id string, do func(*client.Client) (wire.StoryView, error)) error {
	client, err := q.client()
	if err != nil {
		return err
	}
	if id == "" {
		return usageError("story ID is empty; agent stories list prints the IDs of stories")
	}
	story, err := do(client)
	if err != nil {
		return err
	}
	return q.print(p, story, func(pg *page) { showStory(pg, story, time.Now()) })
}
