package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/classify/language"
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
	Sort     string   `default:"rank" enum:"rank,newest,longest" help:"Sort order: rank, newest first, or longest: most items first, half as many for each day since the last."`
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
	client, err := c.client(p)
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
	return c.print(p, found, func(pg *page) {
		showStories(pg, found.Stories, time.Now())
		if found.Next != "" {
			p.notice("more results available; use --limit to show them")
		}
	})
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

// A storiesShowCommand prints a story.
type storiesShowCommand struct {
	query
	ID string `arg:"" help:"ID of the story, as agent stories list prints it."`
}

// Help implements kong's HelpProvider.
func (storiesShowCommand) Help() string {
	return `Show a story with its publishers, timeline and the reasons for its grouping:

    agent stories show wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *storiesShowCommand) Run(ctx context.Context, p *program) error {
	return storyAfter(ctx, p, c.query, wire.GetStory, wire.ByID{ID: c.ID}, c.ID)
}

func showStory(pg *page, s wire.StoryView, now time.Time) {
	pg.printf("%v\n\n", pg.strong(s.Title))
	for _, note := range s.Notes {
		pg.printf("%s\n\n", note)
	}
	for _, q := range s.Summary {
		pg.printf("%s (%s)\n\n", q.Text, q.Item.Publisher)
	}
	pg.fields(func(line func(name, value string)) {
		line("id", s.ID)
		line("items", plural(s.Items, "item")+" of "+plural(s.Events, "event"))
		line("publishers", publishers(publisherNames(s.Publishers), len(s.Publishers)))
		line("first seen", ago(s.FirstSeen, now))
		line("last seen", ago(s.LastSeen, now))
		line("language", s.Partition)
		line("categories", strings.Join(s.Categories, ", "))
		line("topics", strings.Join(s.Topics, ", "))
		if s.Burst {
			line("burst", "more items than usual")
		}
	})
	for _, a := range s.Across {
		pg.printf("\nAlso in %s: %v\n  %s\n  agent stories show %s\n", language.Name(a.Language), pg.strong(a.Title), joinNonEmpty([]string{plural(a.Items, "item"), a.Why}, " · "), a.ID)
	}
	for _, e := range s.Timeline {
		pg.printf("\n%s  %s  event %s\n", ago(e.FirstSeen, now), truncate(e.Title, 80), e.ID)
		for _, i := range e.Items {
			showStoryItem(pg, i, now)
		}
	}
}

// maxPublisherNames bounds the publishers of a story that are named.
const maxPublisherNames = 8

func publisherNames(list []wire.Publisher) (names []string) {
	for _, p := range list[:min(maxPublisherNames, len(list))] {
		names = append(names, p.Name)
	}
	return names
}

func showStoryItem(pg *page, i wire.StoryItem, now time.Time) {
	pg.printf("  %v\n    %s\n", pg.strong(i.Title), joinNonEmpty([]string{i.Publisher, publishedBrief(i.ItemBrief, now), i.URL}, " · "))
	if i.StoryWhy != "" {
		pg.printf("    reason: %s\n", i.StoryWhy)
	}
	if i.DuplicateOf != "" {
		pg.printf("    duplicate of %s: %s\n", i.DuplicateOf, i.DuplicateWhy)
	}
	for _, d := range i.Duplicates {
		pg.printf("    duplicate from %s: %s\n", d.Publisher, joinNonEmpty([]string{d.DuplicateWhy, "agent items " + d.ID}, " · "))
	}
	pg.printf("    agent items %s\n", i.ID)
}

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
	return storyAfter(ctx, p, c.query, wire.SplitStory, wire.SplitStoryRequest{ID: c.ID, Body: wire.SplitRequest{EventID: c.Event, ItemID: c.Item}}, c.ID)
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
	return storyAfter(ctx, p, c.query, wire.JoinStories, wire.JoinStoriesRequest{ID: c.ID, Body: wire.JoinRequest{StoryID: c.Other}}, c.ID, c.Other)
}

// storyAfter sends a request that answers with a story, and prints that. ids are the IDs in the request.
func storyAfter[In any](ctx context.Context, p *program, q query, o wire.Operation[In, wire.StoryView], in In, ids ...string) error {
	if slices.Contains(ids, "") {
		return usageError("story ID is empty; agent stories list prints the IDs of stories")
	}
	return printAnswer(ctx, p, q, o, in, func(pg *page, story wire.StoryView) { showStory(pg, story, time.Now()) })
}
