package main

import (
	"context"
	"time"

	"feedmesh/agent/api"
	"feedmesh/config"
)

// A setCommand changes what a person decides of a feed.
type setCommand struct {
	query
	Pin           *bool             `negatable:"" help:"Read it as often as possible; --no-pin: as the schedule sees fit."`
	FullText      *bool             `negatable:"" help:"Take the text of its items from the pages they link to; --no-full-text: from the feed."`
	Tag           []string          `placeholder:"TAG" help:"Tags in place of those it has."`
	NoTags        bool              `help:"Take all its tags away."`
	SpamThreshold *float64          `name:"spam-threshold" placeholder:"SCORE" help:"Score from which its items are spam, up to 1; 0: as for all others."`
	UserAgent     *string           `placeholder:"NAME" help:"Name to ask under in place of ours; empty: ours."`
	Header        map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"Header to send besides the usual ones; an empty value sends it no more."`
	User          *string           `placeholder:"NAME" help:"User for HTTP basic authentication; empty: none."`
	Password      *config.Secret    `placeholder:"SECRET" help:"Password of that user. @FILE reads it from a file."`
	Proxy         *string           `placeholder:"ID" help:"Proxy to go by; direct for none; empty: by the rules."`
	ID            string            `arg:"" help:"ID or URL of the feed."`
}

// Help implements kong's HelpProvider.
func (setCommand) Help() string {
	return `A feed behind a password, read as often as possible:

    agent feeds set https://example.org/feed.xml --pin --user me --password @/run/secrets/example

A feed that refuses unknown readers:

    agent feeds set https://example.org/feed.xml --user-agent "Mozilla/5.0 ..." --proxy eu

A feed that gives the first lines only:

    agent feeds set https://example.org/feed.xml --full-text

What is not named stays as it is. Passwords and values of headers are never shown again.`
}

// Run implements the command.
func (c *setCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
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
	feed, err := client.SetFeed(ctx, id, change)
	if err != nil {
		return err
	}
	return c.print(p, feed, func(pg *page) { showFeed(pg, feed, time.Now()) })
}

// change returns what the flags say.
func (c *setCommand) change() (api.Change, error) {
	change := api.Change{Pinned: c.Pin, FullText: c.FullText, SpamThreshold: c.SpamThreshold, UserAgent: c.UserAgent, Headers: c.Header, User: c.User, Proxy: c.Proxy}
	switch {
	case c.NoTags && len(c.Tag) > 0:
		return change, wrong("--tag and --no-tags can't both be")
	case c.NoTags || len(c.Tag) > 0:
		tags := append([]string{}, c.Tag...)
		change.Tags = &tags
	}
	if c.Password != nil {
		password := string(*c.Password)
		change.Password = &password
	}
	if change.Tags == nil && c.Pin == nil && c.FullText == nil && c.SpamThreshold == nil && c.UserAgent == nil && len(c.Header) == 0 && c.User == nil && c.Password == nil && c.Proxy == nil {
		return change, wrong("nothing is to be changed: agent feeds set --help lists what can be")
	}
	return change, nil
}
