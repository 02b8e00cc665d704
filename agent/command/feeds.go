package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A feedsCommand groups the commands about feeds.
type feedsCommand struct {
	Add     addCommand     `cmd:"" help:"Add feeds by their URLs or the URLs of their sites."`
	Import  importCommand  `cmd:"" help:"Import a list of feeds: OPML, or one URL per line."`
	Export  exportCommand  `cmd:"" help:"Export all feeds as OPML."`
	List    listCommand    `cmd:"" help:"List feeds and their state."`
	Show    showCommand    `cmd:"" help:"Show one feed in detail."`
	Set     setCommand     `cmd:"" help:"Change a feed's settings: pin, tags, user agent, password, proxy."`
	Move    moveCommand    `cmd:"" help:"Move a feed to another address, with its items and marks."`
	Remove  removeCommand  `cmd:"" help:"Remove feeds and their items."`
	Refresh refreshCommand `cmd:"" help:"Poll feeds now."`
	Test    testCommand    `cmd:"" help:"Test-fetch a feed with its settings, and print the exchange."`
}

// A feedFilter selects feeds, with the parameters of the REST API.
type feedFilter struct {
	Text   string `placeholder:"TEXT" help:"Only feeds with this text in their title, URL or site."`
	Tag    string `placeholder:"TAG" help:"Only feeds with this tag."`
	Host   string `placeholder:"HOST" help:"Only feeds of this host."`
	Pinned bool   `help:"Only pinned feeds."`
	State  string `placeholder:"STATE" enum:",failing,gone,new,due,polling,ok" default:"" help:"Only feeds in this state: failing, gone, new, due, polling, ok."`
	Class  string `placeholder:"CLASS" help:"Only feeds whose last poll failed with this class of error, such as dns or \"http 4xx\"."`
	Tier   string `placeholder:"TIER" enum:",hot,warm,cold" default:"" help:"Only feeds of this polling tier: hot, warm, cold."`
}

func (f feedFilter) filter() wire.FeedFilter {
	return wire.FeedFilter{Text: f.Text, Tag: f.Tag, Host: f.Host, Pinned: f.Pinned, State: f.State, Class: f.Class, Tier: f.Tier}
}

// A listCommand lists feeds.
type listCommand struct {
	query
	feedFilter
	Failing bool   `help:"Only feeds whose last poll failed; short for --state failing."`
	Sort    string `enum:"url,title,items,newest,added" default:"url" help:"Sort order: url, title, items, newest (item), added."`
}

// Help implements kong's HelpProvider.
func (listCommand) Help() string {
	return `All failing feeds, as JSON:

    agent feeds list --failing --json

Feeds that their host rejects:

    agent feeds list --host example.org --class "http 4xx"`
}

// Run implements the command.
func (c *listCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	search := wire.FeedSearch{FeedFilter: c.filter(), Sort: c.Sort, Limit: 500}
	if c.Failing {
		search.State = wire.StateFailing
	}
	all := wire.FeedPage{Feeds: []wire.Feed{}}
	for {
		page, err := client.Call(ctx, api, wire.ListFeeds, search)
		if err != nil {
			return err
		}
		all.Feeds = append(all.Feeds, page.Feeds...)
		if search.After = page.Next; search.After == "" {
			break
		}
	}
	if c.JSON {
		return p.printJSON(all)
	}
	if len(all.Feeds) == 0 {
		switch search.FeedFilter {
		case wire.FeedFilter{State: wire.StateFailing}:
			p.notice("no failing feeds")
		case wire.FeedFilter{}:
			p.notice("no feeds yet; add some with: agent feeds add URL")
		default:
			p.notice("no feed matches")
		}
		return nil
	}
	status, err := client.Call(ctx, api, wire.GetStatus, wire.None{})
	if err != nil {
		return err
	}
	now, pg := time.Now(), p.page()
	showStalled(pg, status)
	if slices.ContainsFunc(all.Feeds, func(f wire.Feed) bool { return f.Unknown }) {
		pg.printf("The schedule cannot be read at the moment: polls are shown as unknown. See: agent doctor\n")
	}
	pg.table(func(row func(...any)) {
		row("ID", "TITLE", "ITEMS", "NEWEST", "NEXT POLL", "LAST POLL", "URL")
		for _, f := range all.Feeds {
			row(f.ID, truncate(f.Title, 32), f.Items, ago(f.LastItem, now), nextPoll(f, now), f.LastPoll(), f.URL)
		}
	})
	return nil
}

// nextPoll formats the time of a feed's next poll.
func nextPoll(f wire.Feed, now time.Time) string {
	return f.NextPoll(now, func(t time.Time) string { return ago(t, now) })
}

// A showCommand prints a feed.
type showCommand struct {
	query
	ID string `arg:"" help:"ID or URL of the feed."`
}

// Help implements kong's HelpProvider.
func (showCommand) Help() string {
	return `Why does a feed have no new items?

    agent feeds show https://example.org/feed.xml`
}

// Run implements the command.
func (c *showCommand) Run(ctx context.Context, p *program) error {
	id, err := feedID(c.ID)
	if err != nil {
		return err
	}
	return printAnswer(ctx, p, c.query, wire.GetFeed, wire.ByID{ID: id}, func(pg *page, f wire.Feed) { showFeed(pg, f, time.Now()) })
}

func showFeed(pg *page, f wire.Feed, now time.Time) {
	pg.fields(func(line func(name, value string)) {
		line("title", f.Title)
		line("url", f.URL)
		line("site", f.Site)
		line("id", f.ID)
		line("language", f.Language)
		line("tags", strings.Join(f.Tags, ", "))
		line("added", ago(f.Added, now))
		items := "none yet"
		if f.Items > 0 {
			items = fmt.Sprintf("%d, newest %s", f.Items, ago(f.LastItem, now))
		}
		if f.Purged > 0 {
			items += fmt.Sprintf("; %d purged", f.Purged)
		}
		line("items", items)
		if f.Rate > 0 {
			line("rate", fmt.Sprintf("%.3g items a day", f.Rate))
		}
		showRequest(line, f)
		showState(line, f, now)
	})
	showPolls(pg, f.Polls, now)
}

// showRequest prints the feed's settings.
func showRequest(line func(name, value string), f wire.Feed) {
	if f.Pinned {
		line("pinned", "polled as often as possible")
	}
	if f.FullText {
		line("full text", "from the pages linked by its items")
	}
	if f.SpamThreshold != 0 {
		line("spam from", fmt.Sprintf("score %g", f.SpamThreshold))
	}
	line("kept", f.Keep)
	if r := f.Request; r != nil {
		line("user agent", r.UserAgent)
		line("headers", strings.Join(r.Headers, ", "))
		line("user", r.User)
		line("password", r.Password)
		line("proxy", r.Proxy)
	}
}

// showState prints the schedule's state of a feed.
func showState(line func(name, value string), f wire.Feed, now time.Time) {
	s := f.State
	if s == nil {
		line("state", "not scheduled yet")
		return
	}
	line("tier", s.Tier)
	line("next poll", nextPoll(f, now))
	line("reason", s.Reason)
	line("last poll", f.LastPoll()+", "+ago(s.Polled, now))
	if s.Status != 0 {
		line("HTTP status", fmt.Sprint(s.Status))
	}
	line("error", s.Error)
	if t := f.Problem; t != nil {
		line("problem", t.Summary)
		line("action", t.Advice)
	}
	line("left out", s.LeftOut())
	line("repaired", s.Repaired())
	if s.Failures > 0 {
		line("failures", fmt.Sprintf("%d in a row", s.Failures))
	}
	line("last change", ago(s.Changed, now))
	line("ETag", s.ETag)
	line("Last-Modified", s.LastModified)
}

// showPolls prints the last polls of a feed.
func showPolls(pg *page, polls []subjects.Poll, now time.Time) {
	if len(polls) == 0 {
		return
	}
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("POLLED", "STATUS", "MS", "BYTES", "ERROR", "BY", "REASON")
		for _, p := range polls {
			status := "-"
			if p.Status != 0 {
				status = fmt.Sprint(p.Status)
			}
			row(ago(p.At, now), status, p.Duration.Milliseconds(), p.Size, p.Class, p.ProxyID, p.Reason)
		}
	})
}
