package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A storiesCommand groups the commands about stories.
type storiesCommand struct {
	List  storiesListCommand  `cmd:"" help:"List stories, by rank."`
	Show  storiesShowCommand  `cmd:"" help:"Show one story: its summary, its events and their items."`
	Split storiesSplitCommand `cmd:"" help:"Split an event or an item from a story."`
	Join  storiesJoinCommand  `cmd:"" help:"Join two stories."`
}

// A storiesListCommand lists stories.
type storiesListCommand struct {
	query
	Language string   `enum:",en,ru,de,fr,es,uk,other" default:"" placeholder:"CODE" help:"Only stories in this language: en, ru, de, fr, es, uk, or other."`
	Category string   `placeholder:"NAME" help:"Only stories of this category."`
	Topic    string   `placeholder:"NAME" help:"Only stories with this topic, such as postgresql."`
	After    timeFlag `placeholder:"TIME" help:"Only stories with new items after: 2026-01-31, 2026-01-31T12:00:00Z, or 24h or 7d ago."`
	Before   timeFlag `placeholder:"TIME" help:"Only stories first seen before."`
	Sources  int      `default:"2" help:"Minimum number of publishers."`
	Sort     string   `default:"rank" enum:"rank,newest" help:"Sort order: rank or newest first."`
	Limit    int      `default:"20" help:"Maximum number of stories."`
}

// Help implements kong's HelpProvider.
func (storiesListCommand) Help() string {
	return `The top stories of today:

    agent stories list --after 24h

Stories about databases with many publishers, as JSON:

    agent stories list --category databases --sources 5 --json`
}

// Run implements the command.
func (c *storiesListCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	found, err := c.list(ctx, client)
	if err != nil {
		return err
	}
	if len(found.Stories) == 0 && !c.JSON {
		p.notice("no stories found; --sources 1 includes stories of a single publisher")
		return nil
	}
	if err := c.print(p, found, func(pg *page) { showStories(pg, found.Stories, time.Now()) }); err != nil || c.JSON {
		return err
	}
	if found.Next != "" {
		p.notice("more results available; use --limit to show them")
	}
	return nil
}

// list requests pages until the limit is reached.
func (c *storiesListCommand) list(ctx context.Context, api *client.Client) (wire.StoryPage, error) {
	switch {
	case c.Limit < 1:
		return wire.StoryPage{}, usageError("--limit: %d is not positive", c.Limit)
	case c.Sources < 1:
		return wire.StoryPage{}, usageError("--sources: %d is not positive", c.Sources)
	}
	s := wire.StorySearch{
		Language: c.Language, Category: c.Category, Topic: c.Topic, After: c.After.Time, Before: c.Before.Time, Sources: c.Sources, Sort: c.Sort,
	}
	found := wire.StoryPage{Stories: []wire.StoryBrief{}}
	for {
		s.Limit = min(c.Limit-len(found.Stories), storage.MaxLimit)
		page, err := client.Call(ctx, api, wire.ListStories, s)
		if err != nil {
			return found, err
		}
		found.Stories, found.Next = append(found.Stories, page.Stories...), page.Next
		if s.Cursor = page.Next; s.Cursor == "" || len(found.Stories) >= c.Limit {
			return found, nil
		}
	}
}

func showStories(pg *page, stories []wire.StoryBrief, now time.Time) {
	for i, s := range stories {
		if i > 0 {
			pg.printf("\n")
		}
		pg.printf("%v\n", pg.strong(s.Title))
		about := []string{plural(s.Items, "item"), publishers(s.Publishers, s.Sources), ago(s.LastSeen, now), strings.Join(s.Categories, ", ")}
		if s.Burst {
			about = append(about, "burst")
		}
		pg.printf("  %s\n", joinNonEmpty(about, " · "))
		if s.URL != "" {
			pg.printf("  %s\n", s.URL)
		}
		pg.printf("  agent stories show %s\n", s.ID)
	}
}

// publishers joins the names of publishers and adds the number of unnamed publishers.
func publishers(names []string, all int) string {
	if more := all - len(names); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// plural formats a count with its noun: "1 item", "2 items".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
