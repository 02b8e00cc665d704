package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/subjects"
)

// A feedsCommand is the commands about feeds.
type feedsCommand struct {
	Add     addCommand     `cmd:"" help:"Add feeds by their addresses, or those of their sites."`
	Import  importCommand  `cmd:"" help:"Add the feeds of a list: OPML, or an address a line."`
	Export  exportCommand  `cmd:"" help:"Write all feeds as OPML."`
	List    listCommand    `cmd:"" help:"List feeds and how they are doing."`
	Show    showCommand    `cmd:"" help:"Print all about one feed."`
	Set     setCommand     `cmd:"" help:"Change how a feed is read: pin, tags, user agent, password, proxy."`
	Remove  removeCommand  `cmd:"" help:"Remove feeds and their items."`
	Refresh refreshCommand `cmd:"" help:"Poll feeds now."`
	Test    testCommand    `cmd:"" help:"Fetch a feed as a crawl would, and print all about it."`
}

// A feedFilter says which feeds are meant, in the words of REST.
type feedFilter struct {
	Text   string `placeholder:"TEXT" help:"Only feeds with it in their title, address or site."`
	Tag    string `placeholder:"TAG" help:"Only feeds with this tag."`
	Host   string `placeholder:"HOST" help:"Only feeds of this host."`
	Pinned bool   `help:"Only feeds that are."`
	State  string `placeholder:"STATE" enum:",failing,gone,new,due,polling,ok" default:"" help:"Only feeds in this state: failing, gone, new, due, polling, ok."`
	Class  string `placeholder:"CLASS" help:"Only feeds whose last poll failed with this kind of error, as dns or \"http 4xx\"."`
	Tier   string `placeholder:"TIER" enum:",hot,warm,cold" default:"" help:"Only feeds that are read as often as this: hot, warm, cold."`
}

func (f feedFilter) filter() api.FeedFilter {
	return api.FeedFilter{Text: f.Text, Tag: f.Tag, Host: f.Host, Pinned: f.Pinned, State: f.State, Class: f.Class, Tier: f.Tier}
}

// A listCommand lists feeds.
type listCommand struct {
	query
	feedFilter
	Failing bool   `help:"Only feeds whose last poll failed; as --state failing."`
	Sort    string `enum:"url,title,items,newest,added" default:"url" help:"Order: url, title, items, newest (item), added (last)."`
}

// Help implements kong's HelpProvider.
func (listCommand) Help() string {
	return `All feeds that fail, for a program:

    agent feeds list --failing --json

Those of one host that it refuses:

    agent feeds list --host example.org --class "http 4xx"`
}

// Run implements the command.
func (c *listCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	search := api.FeedSearch{FeedFilter: c.filter(), Sort: c.Sort, Limit: 500}
	if c.Failing {
		search.State = api.StateFailing
	}
	all := api.FeedPage{Feeds: []api.Feed{}}
	for {
		page, err := client.FindFeeds(ctx, search)
		if err != nil {
			return err
		}
		all.Feeds = append(all.Feeds, page.Feeds...)
		if search.After = page.Next; search.After == "" {
			break
		}
	}
	if len(all.Feeds) == 0 && !c.JSON {
		switch search.FeedFilter {
		case api.FeedFilter{State: api.StateFailing}:
			p.say("no feed fails")
		case api.FeedFilter{}:
			p.say("there are no feeds; add some with: agent feeds add URL")
		default:
			p.say("no feed is one of these")
		}
		return nil
	}
	return c.print(p, all, func(pg *page) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "TITLE", "ITEMS", "NEWEST", "NEXT POLL", "LAST POLL", "URL")
			for _, f := range all.Feeds {
				row(f.ID, cut(f.Title, 32), f.Items, ago(f.LastItem, now), nextPoll(f, now), f.LastPoll(), f.URL)
			}
		})
	})
}

// nextPoll says when a feed is polled next.
func nextPoll(f api.Feed, now time.Time) string {
	return f.NextPoll(now, func(t time.Time) string { return ago(t, now) })
}

// A showCommand prints a feed.
type showCommand struct {
	query
	ID string `arg:"" help:"ID or URL of the feed."`
}

// Help implements kong's HelpProvider.
func (showCommand) Help() string {
	return `Why is a feed not read?

    agent feeds show https://example.org/feed.xml`
}

// Run implements the command.
func (c *showCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	id, err := feedID(c.ID)
	if err != nil {
		return err
	}
	feed, err := client.Feed(ctx, id)
	if err != nil {
		return err
	}
	return c.print(p, feed, func(pg *page) { showFeed(pg, feed, time.Now()) })
}

func showFeed(pg *page, f api.Feed, now time.Time) {
	pg.table(func(row func(...any)) {
		line := func(name, value string) {
			if value != "" {
				row(name, value)
			}
		}
		line("title", f.Title)
		line("url", f.URL)
		line("site", f.Site)
		line("id", f.ID)
		line("language", f.Language)
		line("tags", strings.Join(f.Tags, ", "))
		line("added", ago(f.Added, now))
		items := "none yet"
		if f.Items > 0 {
			items = fmt.Sprintf("%d, the newest of %s", f.Items, ago(f.LastItem, now))
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

// showRequest prints what a person decided of how to read a feed.
func showRequest(line func(name, value string), f api.Feed) {
	if f.Pinned {
		line("pinned", "read as often as possible")
	}
	if f.FullText {
		line("full text", "from the pages that its items link to")
	}
	if f.SpamThreshold != 0 {
		line("spam from", fmt.Sprintf("score %g", f.SpamThreshold))
	}
	if r := f.Request; r != nil {
		line("user agent", r.UserAgent)
		line("headers", strings.Join(r.Headers, ", "))
		line("user", r.User)
		line("password", r.Password)
		line("proxy", r.Proxy)
	}
}

// showState prints what the schedule knows of a feed.
func showState(line func(name, value string), f api.Feed, now time.Time) {
	s := f.State
	if s == nil {
		line("state", "the schedule does not know of it yet")
		return
	}
	line("tier", s.Tier)
	line("next poll", nextPoll(f, now))
	line("why then", s.Reason)
	line("last poll", f.LastPoll()+", "+ago(s.Polled, now))
	if s.Status != 0 {
		line("HTTP status", fmt.Sprint(s.Status))
	}
	line("error", s.Error)
	if t := f.Trouble; t != nil {
		line("that is", t.What)
		line("what to do", t.Do)
	}
	line("mended", s.Malformed)
	if s.Failures > 0 {
		line("failures", fmt.Sprintf("%d in a row", s.Failures))
	}
	line("last change", ago(s.Changed, now))
	line("ETag", s.ETag)
	line("Last-Modified", s.LastModified)
}

// showPolls prints the history of a feed.
func showPolls(pg *page, polls []subjects.Poll, now time.Time) {
	if len(polls) == 0 {
		return
	}
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("POLLED", "STATUS", "MS", "BYTES", "ERROR", "BY")
		for _, p := range polls {
			status := "-"
			if p.Status != 0 {
				status = fmt.Sprint(p.Status)
			}
			row(ago(p.At, now), status, p.Took.Milliseconds(), p.Size, p.Class, p.Way)
		}
	})
}
