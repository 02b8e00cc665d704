package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// An itemsCommand groups the commands about items.
type itemsCommand struct {
	Show  showItemCommand `cmd:"" default:"withargs" help:"Show one item. This is the default command."`
	Label labelCommand    `cmd:"" help:"Correct the labels of an item."`
	Text  fullTextCommand `cmd:"" help:"Fetch the full text of an item from its page."`

	Duplicates duplicatesCommand `cmd:"" help:"List the duplicates of an item."`
	Explain    explainCommand    `cmd:"" help:"Explain whether two items are duplicates or belong to one story."`
}

// A showItemCommand prints an item.
type showItemCommand struct {
	query
	ID string `arg:"" help:"ID of the item, as agent search prints it."`
}

// Help implements kong's HelpProvider.
func (showItemCommand) Help() string {
	return `Show an item with its text, its labels and their reasons:

    agent items wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *showItemCommand) Run(ctx context.Context, p *program) error {
	if c.ID == "" {
		return usageError("item ID is empty; agent search prints the IDs of items")
	}
	return printAnswer(ctx, p, c.query, wire.GetItem, wire.ByID{ID: c.ID}, func(pg *page, item wire.ItemView) { showItem(pg, item, time.Now()) })
}

// A fullTextCommand fetches the full text of an item.
type fullTextCommand struct {
	query
	ID string `arg:"" help:"ID of the item, as agent search prints it."`
}

// Help implements kong's HelpProvider.
func (fullTextCommand) Help() string {
	return `Replace the text of an item by the article of the page that it links to:

    agent items text wvtk3hvrmk2mkkubukz6ph3h4m`
}

// Run implements the command.
func (c *fullTextCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.FetchText, wire.ByID{ID: c.ID}, func(pg *page, item wire.ItemView) { showItem(pg, item, time.Now()) })
}

// published formats the publication date of an item, or the time first seen if its age is unknown.
func published(i storage.Item, now time.Time) string {
	if i.IsBackdated() {
		return ago(i.FirstSeen, now)
	}
	return ago(i.Published, now)
}

// publishedBrief formats the date that an item states, or the time first seen if it states none.
func publishedBrief(i wire.ItemBrief, now time.Time) string {
	if i.Published.IsZero() {
		return ago(i.Seen, now)
	}
	return ago(i.Published, now)
}

func showItem(pg *page, item wire.ItemView, now time.Time) {
	pg.printf("%v\n\n", pg.strong(item.Title))
	pg.fields(func(line func(name, value string)) {
		line("feed", item.FeedTitle)
		line("feed id", item.FeedID)
		line("url", item.URL)
		line("author", item.Author)
		date := published(item.Item, now)
		if item.Assumed != "" {
			date += " (time first seen; the feed's date is " + item.Assumed + ")"
		}
		line("published", date)
		line("first seen", ago(item.FirstSeen, now))
		line("language", item.Language)
		line("categories", strings.Join(item.Categories, ", "))
		line("topics", strings.Join(item.Topics, ", "))
		line("flags", strings.Join(item.Flags, ", "))
		if item.Spam {
			line("spam", "yes")
		}
		for _, reason := range item.Reasons {
			line("reason", reason)
		}
		line("source", item.Source)
		line("comments", item.Comments)
		for _, e := range item.Enclosures {
			line("file", joinNonEmpty([]string{e.URL, e.Player, e.Title, e.Type}, ", "))
		}
		line("duplicate of", joinNonEmpty([]string{item.DuplicateOf, item.DuplicateReason}, ": "))
		line("event", item.EventID)
		line("event reason", item.StoryReason)
		line("story", item.StoryID)
	})
	pg.printf("\n")
	for paragraph := range strings.SplitSeq(text.PlainText(item.HTML), "\n") {
		pg.printf("%s\n", paragraph)
	}
}

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
	if c.ID == "" {
		return usageError("item ID is empty; agent search prints the IDs of items")
	}
	return printAnswer(ctx, p, c.query, wire.ListDuplicates, wire.ByID{ID: c.ID}, func(pg *page, found wire.Duplicates) {
		showDuplicates(pg, found, time.Now())
		if len(found.Items) == 0 {
			p.notice("the item has no duplicates and is no duplicate")
		}
	})
}

func showDuplicates(pg *page, found wire.Duplicates, now time.Time) {
	show := func(i wire.ItemBrief) {
		pg.printf("%v\n  %s\n", pg.strong(i.Title), joinNonEmpty([]string{i.Publisher, i.FeedTitle, publishedBrief(i, now), i.URL}, " · "))
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
	if c.ID == "" || c.With == "" {
		return usageError("item ID is empty; agent search prints the IDs of items")
	}
	return printAnswer(ctx, p, c.query, wire.ExplainItems, wire.ExplainItemsRequest{ID: c.ID, With: c.With}, func(pg *page, found wire.Explanation) {
		pg.printf("first   %v\nsecond  %v\n\n", pg.strong(found.Item.Title), pg.strong(found.With.Title))
		for _, sentence := range found.Sentences {
			pg.printf("%s\n", sentence)
		}
	})
}
