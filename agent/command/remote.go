package command

import (
	"context"
	"strings"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
)

// A remote holds the address and token of the node that a command queries.
type remote struct {
	API   string        `name:"api" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of a node's API."`
	Token config.Secret `placeholder:"SECRET" help:"API token. @FILE reads it from a file."`
}

// client returns a client of the node. On a terminal it prints what a request waits for.
func (r remote) client(p *program) (*client.Client, error) {
	c, err := client.NewClient(r.API, string(r.Token))
	if err != nil {
		return nil, usageError("--api: %w", err)
	}
	if isTerminal(p.err) {
		c.Waiting = func() { p.notice("waiting for the node at %s", c.Address()) }
	}
	return c, nil
}

// A query is a command that queries a node and prints the response.
type query struct {
	remote
	JSON bool `name:"json" help:"Print the API's JSON response."`
}

// print prints the response as JSON with --json, else as text.
func (q query) print(p *program, answer any, text func(*page)) error {
	if q.JSON {
		return p.printJSON(answer)
	}
	text(p.page())
	return nil
}

// printAnswer sends a request to the node and prints the answer: as JSON with --json, else by text.
func printAnswer[In, Out any](ctx context.Context, p *program, q query, o wire.Operation[In, Out], in In, text func(*page, Out)) error {
	api, err := q.client(p)
	if err != nil {
		return err
	}
	answer, err := client.Call(ctx, api, o, in)
	if err != nil {
		return err
	}
	return q.print(p, answer, func(pg *page) { text(pg, answer) })
}

// each calls do for each name, and prints the errors and a line for each success, in which %s stands for the
// name. An error of one name does not stop the others, but each returns early if the context is cancelled or
// the node does not respond.
func (q query) each(ctx context.Context, p *program, names []string, words string, do func(api *client.Client, name string) error) error {
	api, err := q.client(p)
	if err != nil {
		return err
	}
	d, err := p.each(ctx, names, func(name string) error { return do(api, name) })
	q.print(p, d, func(pg *page) {
		for _, name := range d.Done {
			pg.printf(words+"\n", name)
		}
	})
	return err
}

// feedID returns the ID of a feed given by its ID or its URL.
func feedID(arg string) (string, error) {
	if arg == "" {
		return "", usageError("feed is empty: give its ID or URL")
	}
	if !strings.ContainsAny(arg, ".:/") {
		return arg, nil
	}
	url, err := storage.CanonicalURL(arg)
	if err != nil {
		return "", exitError{err, exitUsage}
	}
	return storage.FeedID(url), nil
}

// An mcpCommand passes messages of the Model Context Protocol between a program and a node.
type mcpCommand struct{ remote }

// Help implements kong's HelpProvider.
func (mcpCommand) Help() string {
	return `Programs of models start this command, and find and read items by its tools:

    agent mcp --api http://127.0.0.1:8080 --token @token

The token decides which tools there are: scope search finds and reads, write also adds feeds and views. Programs that connect by HTTP need no
command: the node serves the same at /mcp.`
}

// Run implements the command.
func (c *mcpCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	return api.RelayMCP(ctx, p.in, p.out)
}
