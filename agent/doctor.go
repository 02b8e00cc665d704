package main

import (
	"context"
	"time"

	"feedmesh/agent/node"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A doctorCommand checks a node and its dependencies.
type doctorCommand struct {
	query
	Data   string           `placeholder:"DIR" help:"Data folder to check; by default ./data if the node is on this machine."`
	Listen string           `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address that a node would listen on; checked if no node responds."`
	NATS   []config.Address `name:"nats" placeholder:"URL" help:"NATS servers to check."`
	config.NATSLogin
	Store     config.Address `placeholder:"URL" help:"PostgreSQL to check."`
	Search    config.Address `placeholder:"URL" help:"Meilisearch to check."`
	SearchKey config.Secret  `placeholder:"SECRET" help:"API key for Meilisearch. @FILE reads it from a file."`
}

// Help implements kong's HelpProvider.
func (doctorCommand) Help() string {
	return `Before the first start, and to diagnose problems:

    agent doctor

A member of a mesh:

    agent doctor --nats nats://host:4222 --store postgres://user@host/db --search meilisearch://host:7700

The exit code is 1 if a check failed.`
}

// Run implements the command.
func (c *doctorCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	checks, answers := checkAPI(ctx, client, c.API)
	if !answers {
		checks = append(checks, checkPort(c.Listen))
	}
	if c.Data != "" {
		checks = append(checks, checkData(c.Data)...)
	} else if isLocal(c.API) {
		checks = append(checks, checkData("./data")...)
	}
	checks = append(checks, checkNATS(c.NATS, c.NATSLogin)...)
	if c.Store != "" {
		checks = append(checks, checkEngine(ctx, "store", c.Store, node.CheckStore))
	}
	if c.Search != "" {
		checks = append(checks, checkEngine(ctx, "search", c.Search, func(ctx context.Context, search config.Address) error {
			return node.CheckSearch(ctx, search, c.SearchKey)
		}))
	}
	checks = append(checks, checkDNS(ctx, p.lookup))
	err = c.print(p, checks, func(pg *page) {
		pg.table(func(row func(...any)) {
			for _, check := range checks {
				row(verdict(check), check.Name, check.Detail)
			}
		})
	})
	for _, check := range checks {
		if !check.OK {
			return exitError{errReported, exitFailure}
		}
	}
	return err
}

func verdict(c wire.Check) string {
	if c.OK {
		return "ok"
	}
	return "FAILED"
}
