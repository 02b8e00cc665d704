package main

import (
	"strings"

	"feedmesh/agent/api"
	"feedmesh/config"
	"feedmesh/storage"
)

// A remote says which node a command asks.
type remote struct {
	API   string        `name:"api" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of a node's API."`
	Token config.Secret `placeholder:"SECRET" help:"Token to show to the API. @FILE reads it from a file."`
}

func (r remote) client() (*api.Client, error) {
	c, err := api.NewClient(r.API, string(r.Token))
	if err != nil {
		return nil, wrong("--api: %w", err)
	}
	return c, nil
}

// A query is a command that asks a node and prints the answer.
type query struct {
	remote
	JSON bool `name:"json" help:"Print JSON, as the API answers."`
}

// print prints an answer as JSON if that is wished, else as text.
func (q query) print(p *program, answer any, text func(*page)) error {
	if q.JSON {
		return p.printJSON(answer)
	}
	text(p.page())
	return nil
}

// feedID returns the ID of a feed that is given by its ID or its URL.
func feedID(arg string) (string, error) {
	if arg == "" {
		return "", wrong("it is empty: give a feed's ID or its URL")
	}
	if !strings.ContainsAny(arg, ".:/") {
		return arg, nil
	}
	url, err := storage.CanonicalURL(arg)
	if err != nil {
		return "", fault{err, misused}
	}
	return storage.FeedID(url), nil
}
