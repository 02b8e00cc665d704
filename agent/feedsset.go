package main

import (
	"context"
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
	api, err := c.client()
	if err != nil {
		return err
	}
	change, err := c.change()
	if err != nil {
		return err
	}
	id, err := feedID(c.ID)
	if err != nil {
		return err
	}
	feed, err := client.Call(ctx, api, wire.SetFeed, wire.SetFeedRequest{ID: id, Body: change})
	if err != nil {
		return err
	}
	return c.print(p, feed, func(pg *page) { showFeed(pg, feed, time.Now()) })
}

// change returns the changes that the flags specify.
func (c *setCommand) change() (wire.FeedChange, error) {
	change := wire.FeedChange{Pinned: c.Pin, FullText: c.FullText, SpamThreshold: c.SpamThreshold, UserAgent: c.UserAgent, Headers: c.Header, User: c.User, Proxy: c.Proxy}
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
	if change.Tags == nil && c.Pin == nil && c.FullText == nil && c.SpamThreshold == nil && c.UserAgent == nil && len(c.Header) == 0 && c.User == nil && c.Password == nil && c.Proxy == nil {
		return change, usageError("no setting given: see agent feeds set --help")
	}
	return change, nil
}
