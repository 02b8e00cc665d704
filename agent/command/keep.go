package command

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/wire"
)

// A keepCommand prints how long items are kept, and the next purge or a trial.
type keepCommand struct {
	query
	Feed  string `placeholder:"FEED" help:"ID or URL of a feed: what LIMIT would delete if it were set for this feed."`
	Limit string `arg:"" optional:"" help:"A limit to try: 90d, 1000 (items of a feed), 90d,1000 or all."`
}

// Help implements kong's HelpProvider.
func (keepCommand) Help() string {
	return `Shows how long items are kept, the next purge and its time:

    agent keep

What a limit would delete, before you set it with agent --keep, or for a feed
with agent feeds set. Nothing is deleted:

    agent keep 90d
    agent keep 30d,1000 --feed https://example.org/feed.xml`
}

// Run implements the command.
func (c *keepCommand) Run(ctx context.Context, p *program) error {
	now := time.Now()
	if c.Limit == "" {
		if c.Feed != "" {
			return usageError("--feed needs a limit to try")
		}
		return printAnswer(ctx, p, c.query, wire.GetRetention, wire.None{}, func(pg *page, r wire.Retention) { showRetention(pg, r, now) })
	}
	trial := wire.PurgeTrial{Keep: c.Limit}
	if c.Feed != "" {
		id, err := feedID(c.Feed)
		if err != nil {
			return err
		}
		trial.Feed = id
	}
	return printAnswer(ctx, p, c.query, wire.TryRetention, trial, func(pg *page, purge wire.Purge) {
		if purge.Items == 0 {
			pg.printf("nothing would be purged\n")
			return
		}
		pg.table(func(row func(...any)) { row("would be purged", describePurge(purge, now)) })
		showPurgeFeeds(pg, purge)
	})
}

func showRetention(pg *page, r wire.Retention, now time.Time) {
	pg.table(func(row func(...any)) {
		row("kept", r.Keep)
		for _, tag := range r.Tags {
			row("kept by tag", tag)
		}
		row("items", fmt.Sprintf("%d stored, %d purged", r.Items, r.Purged))
		if !r.Ended.IsZero() {
			row("last purge", fmt.Sprintf("%d items, ended %s", r.LastPurged, ago(r.Ended, now)))
		}
		switch {
		case r.Next == nil:
			row("next purge", "nothing to purge")
		case r.Begins.After(now):
			row("next purge", fmt.Sprintf("%s; begins in %v: %s", describePurge(*r.Next, now), r.Begins.Sub(now).Round(time.Minute), r.Reason))
		default:
			row("next purge", describePurge(*r.Next, now)+"; under way")
		}
	})
	if r.Next != nil {
		showPurgeFeeds(pg, *r.Next)
	}
}

// describePurge returns the size of a purge in words.
func describePurge(p wire.Purge, now time.Time) string {
	atLeast := ""
	if p.More {
		atLeast = "at least "
	}
	return fmt.Sprintf("%s%d items with %s of text, the oldest arrived %s", atLeast, p.Items, size(p.Bytes), ago(p.Oldest, now))
}

// shownPurgeFeeds is the number of feeds that are printed.
const shownPurgeFeeds = 20

func showPurgeFeeds(pg *page, p wire.Purge) {
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("FEED", "ITEMS", "TEXT")
		for _, f := range p.Feeds[:min(len(p.Feeds), shownPurgeFeeds)] {
			row(truncate(f.Title, 60), f.Items, size(f.Bytes))
		}
	})
}
