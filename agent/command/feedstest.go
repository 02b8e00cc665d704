package command

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/role/parse/feed/compare"
	"feedmesh/agent/wire"
)

// A testCommand test-fetches a feed and prints the exchange.
type testCommand struct {
	query
	ID      string `arg:"" help:"ID of a feed, or any URL."`
	Compare bool   `help:"Also parse the document with gofeed and show the entries that differ, side by side."`
}

// Help implements kong's HelpProvider.
func (testCommand) Help() string {
	return `Show the response of a host:

    agent feeds test https://example.org/feed.xml
    agent feeds test https://example.org/feed.xml --compare

A stored feed is fetched with its settings. Nothing is stored. The exit code is 1 if the fetch fails or finds no feed.`
}

// Run implements the command.
func (c *testCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client(p)
	if err != nil {
		return err
	}
	result, err := c.test(ctx, client)
	if err != nil {
		return err
	}
	if err := c.print(p, result, func(pg *page) { showTest(pg, result, time.Now()) }); err != nil {
		return err
	}
	if result.Problem != nil {
		return exitError{errReported, exitFailure}
	}
	return nil
}

// test fetches a stored feed by its ID, so that its settings apply, and any other feed by its URL.
func (c *testCommand) test(ctx context.Context, api *client.Client) (wire.FetchTest, error) {
	id, err := feedID(c.ID)
	if err != nil {
		return wire.FetchTest{}, err
	}
	result, err := client.Call(ctx, api, wire.TestFetch, wire.TestFetchRequest{Body: wire.FetchTestRequest{Feed: id, Compare: c.Compare}})
	var refusal *client.Problem
	if errors.As(err, &refusal) && refusal.Status == http.StatusNotFound && strings.ContainsAny(c.ID, ".:/") {
		return client.Call(ctx, api, wire.TestFetch, wire.TestFetchRequest{Body: wire.FetchTestRequest{URL: c.ID, Compare: c.Compare}})
	}
	return result, err
}

func showTest(pg *page, result wire.FetchTest, now time.Time) {
	for i, hop := range result.Hops {
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
	if result.Problem != nil {
		pg.printf("%s\n%s\n%s\n", result.Problem.Summary, result.Problem.Advice, result.Error)
		showComparison(pg, result)
		return
	}
	pg.printf("%s, %q: %d entries, %d bytes, %d ms\n", result.Format, result.Title, result.Entries, result.Size, result.Took)
	if text := result.LeftOut(); text != "" {
		pg.printf("left out: %s\n", text)
	}
	if text := result.Defects(); text != "" {
		pg.printf("repaired: %s\n", text)
	}
	for _, e := range result.First {
		pg.printf("  %s  %s  %s\n", ago(e.Published, now), e.Title, e.Link)
	}
	showComparison(pg, result)
}

// showComparison prints the entries that the agent and gofeed read differently.
func showComparison(pg *page, result wire.FetchTest) {
	c := result.Comparison
	switch {
	case c == nil:
		return
	case c.Error != "":
		pg.printf("\n%s: %s\n", c.Parser, c.Error)
		return
	}
	pg.printf("\n%s: %s, %q: %d entries; %d read alike, %d differ\n", c.Parser, c.Format, c.Title, c.Entries, c.Same, c.Differ)
	for _, pair := range c.Pairs {
		pg.printf("  agent   %s\n  gofeed  %s\n", comparedEntry(pair.Ours), comparedEntry(pair.Theirs))
		if len(pair.Differs) > 0 {
			pg.printf("          differ in %s\n", strings.Join(pair.Differs, ", "))
		}
	}
	if hidden := c.Differ - len(c.Pairs); hidden > 0 {
		pg.printf("  and %d more\n", hidden)
	}
}

// comparedEntry returns an entry on one line.
func comparedEntry(e *wire.ParsedEntry) string {
	if e == nil {
		return "(not found)"
	}
	date := "no date"
	if !e.Published.IsZero() {
		date = e.Published.Format(time.RFC3339)
	}
	return date + "  " + e.Title + "  " + e.Link
}

// A compareCommand is the child process that parses a document with gofeed. It is hidden: the API starts it.
type compareCommand struct{}

// Run implements the command.
func (compareCommand) Run(p *program) error { return compare.Worker(p.in, p.out) }
