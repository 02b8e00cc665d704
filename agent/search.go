package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A searchCommand finds items.
type searchCommand struct {
	query
	Words         []string `arg:"" optional:"" help:"What to look for, see above. None: the newest items."`
	Category      string   `placeholder:"NAME" help:"Only items of this category."`
	Topic         string   `placeholder:"NAME" help:"Only items about this topic, as postgresql."`
	Flag          string   `enum:",adult,affiliate,muted,sponsored,starred" default:"" placeholder:"NAME" help:"Only items with this flag: adult, affiliate, muted, sponsored or starred."`
	Language      string   `placeholder:"CODE" help:"Only items in this language, as en or ru."`
	Feed          string   `placeholder:"ID" help:"Only items of the feed with this ID or URL."`
	After         moment   `placeholder:"TIME" help:"Only items published since: 2026-01-31, 2026-01-31T12:00:00Z, or 24h or 7d ago."`
	Before        moment   `placeholder:"TIME" help:"Only items published before."`
	Sort          string   `default:"best" enum:"best,newest" help:"Order: best or newest first."`
	Limit         int      `default:"20" help:"How many items to print at most."`
	Once          bool     `help:"Of the items of one story only the one that comes first."`
	AllDuplicates bool     `help:"Duplicates too, not just the first of their kind."`
	Spam          bool     `help:"Spam only; otherwise there is none."`
}

// Help implements kong's HelpProvider.
func (searchCommand) Help() string {
	return `Words must all occur, in any form. Besides, a query may have:

    "a phrase"   begin*   -not   one OR other   (a group)
    title:  author:  feed:  host:  lang:  cat:  topic:  story:  is:starred
    after:2026-03-01   before:-7d   age:<2d

What was written about a release in the last week:

    agent search go release --after 7d

The shell takes quotes and brackets for itself, and what begins with a minus looks like a flag:

    agent search -- 'title:"go 1.26" (linux OR darwin) -windows'

The newest of one feed, for a program:

    agent search --feed https://go.dev/blog/feed.atom --sort newest --json`
}

// Run implements the command.
func (c *searchCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	found, err := c.search(ctx, client)
	if err != nil {
		return err
	}
	if err := c.print(p, found, func(pg *page) { showFound(pg, found, time.Now()) }); err != nil || c.JSON {
		return err
	}
	c.comment(p, found)
	return nil
}

// comment says what there is to know of what was found.
func (c *searchCommand) comment(p *program, found api.Found) {
	if found.Why != "" {
		p.say("%s", found.Why)
	}
	if found.Forgiven {
		p.say("no item has all these words; these have some that are like them")
	}
	switch shown := int64(len(found.Items)); {
	case shown == 0:
		p.say("nothing found; fewer words find more")
	case c.Once && found.Next != "":
		p.say("there are more; --limit shows them")
	case !c.Once && shown < found.Total:
		p.say("%d of %d; --limit shows more", shown, found.Total)
	}
}

// search asks for as many pages as the limit needs.
func (c *searchCommand) search(ctx context.Context, client *api.Client) (api.Found, error) {
	s := api.Search{
		Query: strings.Join(c.Words, " "), Category: c.Category, Topic: c.Topic, Flag: c.Flag, Language: c.Language,
		After: c.After.Time, Before: c.Before.Time, Sort: c.Sort, Once: c.Once, Duplicates: c.AllDuplicates, Spam: c.Spam,
	}
	if c.Limit < 1 {
		return api.Found{}, wrong("--limit: %d is not positive", c.Limit)
	}
	if c.Feed != "" {
		id, err := feedID(c.Feed)
		if err != nil {
			return api.Found{}, wrong("--feed: %w", err)
		}
		s.Feed = id
	}
	found := api.Found{Items: []api.FoundItem{}}
	for {
		s.Limit = min(c.Limit-len(found.Items), storage.MaxLimit)
		page, err := client.Search(ctx, s)
		if err != nil {
			return found, err
		}
		page.Items = append(found.Items, page.Items...)
		found = page
		if s.Cursor = page.Next; s.Cursor == "" || len(found.Items) >= c.Limit {
			return found, nil
		}
	}
}

func showFound(pg *page, found api.Found, now time.Time) {
	for i, item := range found.Items {
		if i > 0 {
			pg.printf("\n")
		}
		pg.printf("%v\n", pg.spans(item.TitleSpans))
		about := []string{item.FeedTitle, ago(item.Published, now), item.Language, strings.Join(item.Categories, ", ")}
		pg.printf("  %s\n", joinSet(about, " · "))
		if passage := pg.spans(item.TextSpans); passage != "" {
			pg.printf("  %v\n", passage)
		}
		pg.printf("  %s\n  agent items %s\n", item.URL, item.ID)
	}
}

// spans returns a text with the pieces that match standing out.
func (pg *page) spans(spans []text.Span) styled {
	var all styled
	for _, s := range spans {
		if s.Hit {
			all += pg.strong(s.Text)
		} else {
			all += styled(clean(s.Text))
		}
	}
	return all
}

// joinSet joins those parts that are not empty.
func joinSet(parts []string, by string) string {
	var set []string
	for _, s := range parts {
		if s != "" {
			set = append(set, s)
		}
	}
	return strings.Join(set, by)
}

// A moment is a time, given as such or as how long ago it is.
type moment struct{ time.Time }

var days = regexp.MustCompile(`^(\d{1,5})d$`)

// UnmarshalText reads a moment.
func (m *moment) UnmarshalText(text []byte) error {
	s := string(text)
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		m.Time = t
		return nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		m.Time = t
		return nil
	}
	if d := days.FindStringSubmatch(s); d != nil {
		n, _ := strconv.Atoi(d[1])
		m.Time = time.Now().AddDate(0, 0, -n)
		return nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		m.Time = time.Now().Add(-d)
		return nil
	}
	return fmt.Errorf("%q is no time; write 2026-01-31, 2026-01-31T12:00:00Z, or 24h or 7d for so long ago", s)
}
