package main

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

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
	api, err := c.client()
	if err != nil {
		return err
	}
	if c.ID == "" {
		return usageError("story ID is empty; agent stories list prints the IDs of stories")
	}
	story, err := client.Call(ctx, api, wire.GetStory, wire.ByID{ID: c.ID})
	if err != nil {
		return err
	}
	return c.print(p, story, func(pg *page) { showStory(pg, story, time.Now()) })
}

func showStory(pg *page, s wire.StoryView, now time.Time) {
	pg.printf("%v\n\n", pg.strong(s.Title))
	for _, note := range s.Notes {
		pg.printf("%s\n\n", note)
	}
	for _, q := range s.Summary {
		pg.printf("%s (%s)\n\n", q.Text, q.Item.Publisher)
	}
	pg.table(func(row func(...any)) {
		line := func(name, value string) {
			if value != "" {
				row(name, value)
			}
		}
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
	for _, e := range s.Timeline {
		pg.printf("\n%s  event %s\n", ago(e.FirstSeen, now), e.ID)
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
	pg.printf("  %v\n    %s\n", pg.strong(i.Title), joinNonEmpty([]string{i.Publisher, ago(i.Seen, now), i.URL}, " · "))
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
