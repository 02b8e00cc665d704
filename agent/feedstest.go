package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/api"
)

// A testCommand fetches a feed for a person to see.
type testCommand struct {
	query
	ID string `arg:"" help:"ID of a feed, or any URL."`
}

// Help implements kong's HelpProvider.
func (testCommand) Help() string {
	return `What does a host say?

    agent feeds test https://example.org/feed.xml

A feed that is known is asked for as its settings say. Nothing is changed. The exit code is 1 if there is no feed.`
}

// Run implements the command.
func (c *testCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	told, err := c.test(ctx, client)
	if err != nil {
		return err
	}
	if err := c.print(p, told, func(pg *page) { showTest(pg, told, time.Now()) }); err != nil {
		return err
	}
	if told.Problem != nil {
		return fault{errSaid, failed}
	}
	return nil
}

// test asks for a feed that is known by its ID, so that its settings are heeded,
// and for any other by its address.
func (c *testCommand) test(ctx context.Context, client *api.Client) (api.FetchTest, error) {
	id, err := feedID(c.ID)
	if err != nil {
		return api.FetchTest{}, err
	}
	told, err := client.TestFetch(ctx, id, "")
	var refusal *api.Problem
	if errors.As(err, &refusal) && refusal.Status == http.StatusNotFound && strings.ContainsAny(c.ID, ".:/") {
		return client.TestFetch(ctx, "", c.ID)
	}
	return told, err
}

func showTest(pg *page, told api.FetchTest, now time.Time) {
	for i, hop := range told.Hops {
		if i > 0 {
			pg.printf("\n")
		}
		pg.printf("> GET %s\n", hop.URL)
		for _, h := range hop.Sent {
			pg.printf("> %s: %s\n", h.Name, h.Value)
		}
		pg.printf("< %d after %d ms\n", hop.Status, hop.After)
		for _, h := range hop.Received {
			pg.printf("< %s: %s\n", h.Name, h.Value)
		}
	}
	pg.printf("\n")
	if told.Problem != nil {
		pg.printf("%s\n%s\n%s\n", told.Problem.What, told.Problem.Do, told.Error)
		return
	}
	pg.printf("%s, %q: %d entries, %d bytes, %d ms\n", told.Format, told.Title, told.Entries, told.Size, told.Took)
	for _, e := range told.First {
		pg.printf("  %s  %s  %s\n", ago(e.Published, now), e.Title, e.Link)
	}
}
