package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A setCommand changes the settings of a feed.
type setCommand struct {
	query
	Pin           *bool             `negatable:"" help:"Poll the feed as often as possible; --no-pin: as the schedule decides."`
	FullText      *bool             `negatable:"" help:"Take the text of items from the linked pages; --no-full-text: from the feed."`
	Tag           []string          `placeholder:"TAG" help:"Tags, replacing the current ones."`
	NoTags        bool              `help:"Remove all tags."`
	SpamThreshold *float64          `name:"spam-threshold" placeholder:"SCORE" help:"Score from which items are spam, up to 1; 0: the default."`
	Keep          *string           `placeholder:"LIMIT" help:"How long its items are kept: 90d, 1000 (items), 90d,1000 or all; empty: by tag or the default."`
	UserAgent     *string           `placeholder:"NAME" help:"User-Agent header; empty: the default."`
	Header        map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"Additional request header; an empty value removes it."`
	User          *string           `placeholder:"NAME" help:"User for HTTP basic authentication; empty: none."`
	Password      *config.Secret    `placeholder:"SECRET" help:"Password of that user. @FILE reads it from a file."`
	Proxy         *string           `placeholder:"ID" help:"Proxy to use; direct: none; empty: by the proxy settings."`
	ID            string            `arg:"" help:"ID or URL of the feed."`
}

// Help implements kong's HelpProvider.
func (setCommand) Help() string {
	return `A feed with a password, polled as often as possible:

    agent feeds set https://example.org/feed.xml --pin --user me --password @/run/secrets/example

A feed that rejects unknown readers:

    agent feeds set https://example.org/feed.xml --user-agent "Mozilla/5.0 ..." --proxy eu

A feed with excerpts only:

    agent feeds set https://example.org/feed.xml --full-text

Other settings do not change. Passwords and header values are never shown.`
}

// Run implements the command.
func (c *setCommand) Run(ctx context.Context, p *program) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	id, err := feedID(c.ID)
	if err != nil {
		return err
	}
	return printAnswer(ctx, p, c.query, wire.SetFeed, wire.SetFeedRequest{ID: id, Body: change}, func(pg *page, f wire.Feed) { showFeed(pg, f, time.Now()) })
}

// change returns the changes that the flags specify.
func (c *setCommand) change() (wire.FeedChange, error) {
	change := wire.FeedChange{Pinned: c.Pin, FullText: c.FullText, SpamThreshold: c.SpamThreshold, Keep: c.Keep, UserAgent: c.UserAgent, Headers: c.Header, User: c.User, Proxy: c.Proxy}
	switch {
	case c.NoTags && len(c.Tag) > 0:
		return change, usageError("--tag and --no-tags cannot be used together")
	case c.NoTags || len(c.Tag) > 0:
		tags := append([]string{}, c.Tag...)
		change.Tags = &tags
	}
	if c.Password != nil {
		password := string(*c.Password)
		change.Password = &password
	}
	if change.Tags == nil && c.Pin == nil && c.FullText == nil && c.SpamThreshold == nil && c.Keep == nil && c.UserAgent == nil && len(c.Header) == 0 && c.User == nil && c.Password == nil && c.Proxy == nil {
		return change, usageError("no setting given: see agent feeds set --help")
	}
	return change, nil
}

// A moveCommand moves a feed to another address.
type moveCommand struct {
	query
	ID  string `arg:"" help:"ID or URL of the feed."`
	URL string `arg:"" help:"Its new URL."`
}

// Help implements kong's HelpProvider.
func (moveCommand) Help() string {
	return `A feed whose address has changed keeps its items, their marks and its settings:

    agent feeds move https://example.org/feed.xml https://example.org/blog/atom.xml

If there is a feed at the new address already, both become one.`
}

// Run implements the command.
func (c *moveCommand) Run(ctx context.Context, p *program) error {
	id, err := feedID(c.ID)
	if err != nil {
		return err
	}
	return printAnswer(ctx, p, c.query, wire.MoveFeed, wire.MoveFeedRequest{ID: id, Body: wire.FeedAddress{URL: c.URL}}, func(pg *page, to wire.MovedFeed) {
		pg.printf("%s: will be moved to %s within seconds\n", c.ID, to.URL)
	})
}

// A removeCommand removes feeds.
type removeCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs or URLs of feeds."`
}

// Help implements kong's HelpProvider.
func (removeCommand) Help() string {
	return `Remove a feed with all its items:

    agent feeds remove https://example.org/feed.xml`
}

// Run implements the command.
func (c *removeCommand) Run(ctx context.Context, p *program) error {
	return c.change(ctx, p, c.IDs, "removed", wire.RemoveFeed)
}

// A refreshCommand requests an immediate poll of feeds.
type refreshCommand struct {
	query
	feedFilter
	IDs []string `arg:"" optional:"" name:"id" help:"IDs or URLs of feeds; or select feeds by flags."`
}

// Help implements kong's HelpProvider.
func (refreshCommand) Help() string {
	return `Poll a feed now, and show the result:

    agent feeds refresh https://example.org/feed.xml
    agent feeds show https://example.org/feed.xml

All feeds with DNS errors:

    agent feeds refresh --class dns`
}

// Run implements the command.
func (c *refreshCommand) Run(ctx context.Context, p *program) error {
	filter := c.filter()
	switch {
	case len(c.IDs) > 0 && filter != wire.FeedFilter{}:
		return usageError("name feeds or select them by flags, not both")
	case len(c.IDs) > 0:
		return c.change(ctx, p, c.IDs, "will be polled now", wire.RefreshFeed)
	case filter == wire.FeedFilter{}:
		return usageError("no feeds selected: name their IDs or URLs, or use flags")
	}
	api, err := c.client(p)
	if err != nil {
		return err
	}
	done, err := client.ChangeFeeds(ctx, api, wire.BulkChange{Action: wire.ActionRefresh, Filter: &filter})
	if err != nil {
		return err
	}
	return c.print(p, done, func(pg *page) {
		if done.Done == 1 {
			pg.printf("1 feed will be polled now\n")
		} else {
			pg.printf("%d feeds will be polled now\n", done.Done)
		}
	})
}

// change applies an operation to each feed.
func (q query) change(ctx context.Context, p *program, feeds []string, done string, o wire.Operation[wire.ByID, wire.None]) error {
	return q.each(ctx, p, feeds, "%s: "+done, func(api *client.Client, name string) error {
		id, err := feedID(name)
		if err != nil {
			return err
		}
		return client.Do(ctx, api, o, wire.ByID{ID: id})
	})
}

// An exportCommand writes all feeds as OPML.
type exportCommand struct {
	remote
	File string `arg:"" optional:"" help:"File to write; by default standard output."`
}

// Help implements kong's HelpProvider.
func (exportCommand) Help() string {
	return `Write a list that other readers can import:

    agent feeds export feeds.opml`
}

// Run implements the command.
func (c *exportCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	list, err := client.Call(ctx, api, wire.ExportFeeds, wire.None{})
	switch {
	case err != nil:
		return err
	case c.File != "" && c.File != "-":
		return writeList(c.File, list.Data)
	case isTerminal(p.out):
		pg := p.page()
		for line := range bytes.Lines(list.Data) {
			pg.printf("%s\n", string(bytes.TrimRight(line, "\r\n")))
		}
		return nil
	}
	_, err = p.out.Write(list.Data)
	return err
}

// writeList writes a list to a file. An existing regular file is replaced as a whole; a device or pipe is
// written to directly.
func writeList(path string, list []byte) error {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	temporary := path + ".part"
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		temporary = path
	}
	file, err := os.Create(temporary)
	if err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	_, err = file.Write(list)
	err = errors.Join(err, file.Close())
	if temporary == path {
		return err
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}
