package command

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A searchCommand finds items.
type searchCommand struct {
	query
	Words         []string `arg:"" optional:"" help:"Query, see above. Without it: the newest items."`
	Category      string   `placeholder:"NAME" help:"Only items of this category."`
	Topic         string   `placeholder:"NAME" help:"Only items with this topic, such as postgresql."`
	Flag          string   `enum:",adult,affiliate,muted,sponsored,starred" default:"" placeholder:"NAME" help:"Only items with this flag: adult, affiliate, muted, sponsored or starred."`
	Language      string   `placeholder:"CODE" help:"Only items in this language, such as en or ru."`
	Feed          string   `placeholder:"ID" help:"Only items of the feed with this ID or URL."`
	After         timeFlag `placeholder:"TIME" help:"Only items published after: 2026-01-31, 2026-01-31T12:00:00Z, or 24h or 7d ago."`
	Before        timeFlag `placeholder:"TIME" help:"Only items published before."`
	Sort          string   `default:"best" enum:"best,newest" help:"Sort order: best or newest first."`
	Limit         int      `default:"20" help:"Maximum number of items."`
	Once          bool     `help:"Only the first item of each story."`
	AllDuplicates bool     `help:"Include duplicates."`
	Unique        int      `placeholder:"PERCENT" help:"Hide items that agree with one above them in at least this percentage of word shingles. By default the setting of the node."`
	Semantic      int      `placeholder:"PERCENT" help:"Weight of similarity in meaning for the best matches: 100 finds items by meaning only. It needs Meilisearch with an embedder. By default 0: by words."`
	Digest        bool     `help:"Summarize the first items in sentences of different publishers."`
	Spam          bool     `help:"Only spam; by default spam is excluded."`
}

// Help implements kong's HelpProvider.
func (searchCommand) Help() string {
	return `All words must occur, in any form. A query may also contain:

    "a phrase"   begin*   -not   one OR other   (a group)
    title:  author:  feed:  host:  lang:  cat:  topic:  story:  is:starred
    after:2026-03-01   before:-7d   age:<2d

Items about a release in the last week:

    agent search go release --after 7d

Quote the query for the shell, and put -- before it if it begins with a minus:

    agent search -- 'title:"go 1.26" (linux OR darwin) -windows'

The newest items of one feed, as JSON:

    agent search --feed https://go.dev/blog/feed.atom --sort newest --json`
}

// Run implements the command.
func (c *searchCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client(p)
	if err != nil {
		return err
	}
	found, err := c.search(ctx, client)
	if err != nil {
		return err
	}
	return c.print(p, found, func(pg *page) {
		showFound(pg, found, time.Now())
		c.printNotes(p, found)
	})
}

// printNotes prints notes about the results on standard error.
func (c *searchCommand) printNotes(p *program, found wire.SearchResults) {
	if found.Why != "" {
		p.notice("%s", found.Why)
	}
	if found.Fuzzy {
		p.notice("no item has all these words; showing close matches")
	}
	for _, h := range found.Hidden {
		p.notice("hidden: %s (agent items %s): %s as in %s", clean(h.Title), h.ID, h.Why, h.Of)
	}
	switch shown := int64(len(found.Items)); {
	case shown == 0:
		p.notice("nothing found; try fewer words")
	case c.Once && found.Next != "":
		p.notice("more results available; use --limit to show them")
	case !c.Once && shown+int64(len(found.Hidden)) < found.Total:
		p.notice("%d of %d results; use --limit to show more", shown, found.Total)
	}
}

// search requests pages until the limit is reached.
func (c *searchCommand) search(ctx context.Context, api *client.Client) (wire.SearchResults, error) {
	s := wire.Search{
		Query: strings.Join(c.Words, " "), Category: c.Category, Topic: c.Topic, Flag: c.Flag, Language: c.Language,
		After: c.After.Time, Before: c.Before.Time, Sort: c.Sort, Once: c.Once, Duplicates: c.AllDuplicates, Spam: c.Spam,
		Unique: c.Unique, Digest: c.Digest, Semantic: c.Semantic,
	}
	if c.Unique < 0 || c.Unique > 100 {
		return wire.SearchResults{}, usageError("--unique: %d is no percentage", c.Unique)
	}
	if c.Semantic < 0 || c.Semantic > 100 {
		return wire.SearchResults{}, usageError("--semantic: %d is no percentage", c.Semantic)
	}
	if c.Limit < 1 {
		return wire.SearchResults{}, usageError("--limit: %d is not positive", c.Limit)
	}
	if c.Feed != "" {
		id, err := feedID(c.Feed)
		if err != nil {
			return wire.SearchResults{}, usageError("--feed: %w", err)
		}
		s.Feed = id
	}
	found := wire.SearchResults{Items: []wire.FoundItem{}}
	for {
		s.Limit = min(c.Limit-len(found.Items), storage.MaxLimit)
		page, err := client.Call(ctx, api, wire.SearchItems, s)
		if err != nil {
			return found, err
		}
		page.Items, page.Hidden = append(found.Items, page.Items...), append(found.Hidden, page.Hidden...)
		if s.Cursor != "" {
			page.Digest = found.Digest
		}
		found, s.Digest = page, false
		if s.Cursor = page.Next; s.Cursor == "" || len(found.Items) >= c.Limit {
			return found, nil
		}
	}
}

func showFound(pg *page, found wire.SearchResults, now time.Time) {
	for _, q := range found.Digest {
		pg.printf("%s (%s)\n\n", q.Text, q.Item.Publisher)
	}
	for i, item := range found.Items {
		if i > 0 {
			pg.printf("\n")
		}
		pg.printf("%v\n", pg.spans(item.TitleSpans))
		about := []string{item.FeedTitle, published(item.Item, now), item.Language, strings.Join(item.Categories, ", ")}
		pg.printf("  %s\n", joinNonEmpty(about, " · "))
		if passage := pg.spans(item.TextSpans); passage != "" {
			pg.printf("  %v\n", passage)
		}
		pg.printf("  %s\n  agent items %s\n", item.URL, item.ID)
	}
}

// spans returns a text with its matches highlighted.
func (pg *page) spans(spans []wire.Span) styled {
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

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(parts []string, by string) string {
	var set []string
	for _, s := range parts {
		if s != "" {
			set = append(set, s)
		}
	}
	return strings.Join(set, by)
}

// A countFlag is a number of at least 1. The API reads 0 as its default.
type countFlag int

// UnmarshalText parses a count.
func (f *countFlag) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a number of at least 1", text)
	}
	*f = countFlag(n)
	return nil
}

// A timeFlag is a time, written as a date, a timestamp or a duration before now.
type timeFlag struct{ time.Time }

var days = regexp.MustCompile(`^(\d{1,5})d$`)

// UnmarshalText parses a time.
func (m *timeFlag) UnmarshalText(text []byte) error {
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
	return fmt.Errorf("invalid time %q; write 2026-01-31, 2026-01-31T12:00:00Z, or a duration ago such as 24h or 7d", s)
}
