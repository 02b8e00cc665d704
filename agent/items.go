package main

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/classify/text"
)

// An itemsCommand is the commands about items.
type itemsCommand struct {
	Show  showItemCommand `cmd:"" default:"withargs" help:"Print one item, whole. What agent items does when no command is named."`
	Label labelCommand    `cmd:"" help:"Say what an item is about, and whether it is spam."`

	Duplicates duplicatesCommand `cmd:"" help:"Print what says the same as an item, and how that was found out."`
	Explain    explainCommand    `cmd:"" help:"Compare two items: do they repeat one another, and are they one story?"`
}

// A showItemCommand prints an item.
type showItemCommand struct {
	query
	ID string `arg:"" help:"ID of the item, as agent search prints it."`
}

// Help implements kong's HelpProvider.
func (showItemCommand) Help() string {
	return `An item with its text, and why it is where it is:

    agent items wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *showItemCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	if c.ID == "" {
		return wrong("the ID is empty; agent search prints the IDs of items")
	}
	item, err := client.Item(ctx, c.ID)
	if err != nil {
		return err
	}
	return c.print(p, item, func(pg *page) { showItem(pg, item, time.Now()) })
}

func showItem(pg *page, item api.ItemView, now time.Time) {
	pg.printf("%v\n\n", pg.strong(item.Title))
	pg.table(func(row func(...any)) {
		line := func(name, value string) {
			if value != "" {
				row(name, value)
			}
		}
		line("feed", item.FeedTitle)
		line("feed id", item.FeedID)
		line("url", item.URL)
		line("author", item.Author)
		published := ago(item.Published, now)
		if item.Assumed != "" {
			published += " (when it was first seen; its own date is " + item.Assumed + ")"
		}
		line("published", published)
		line("first seen", ago(item.FirstSeen, now))
		line("language", item.Language)
		line("categories", strings.Join(item.Categories, ", "))
		line("topics", strings.Join(item.Topics, ", "))
		line("flags", strings.Join(item.Flags, ", "))
		if item.Spam {
			line("spam", "yes")
		}
		for _, why := range item.Why {
			line("why", why)
		}
		line("taken from", item.Source)
		line("discussed at", item.Comments)
		for _, e := range item.Enclosures {
			line("file", joinSet([]string{e.URL, e.Type}, ", "))
		}
		line("duplicate of", joinSet([]string{item.DuplicateOf, item.DuplicateWhy}, ": "))
		line("event", item.EventID)
		line("why there", item.StoryWhy)
		line("story", item.StoryID)
	})
	pg.printf("\n")
	for paragraph := range strings.SplitSeq(text.Plain(item.HTML), "\n") {
		pg.printf("%s\n", paragraph)
	}
}
