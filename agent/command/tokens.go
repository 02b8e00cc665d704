package command

import (
	"context"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A tokensCommand groups the commands about API tokens.
type tokensCommand struct {
	List   tokensListCommand   `cmd:"" help:"List the tokens, without their secrets."`
	Add    tokensAddCommand    `cmd:"" help:"Create a token and print its secret."`
	Remove tokensRemoveCommand `cmd:"" help:"Remove tokens."`
}

// A tokensListCommand lists tokens.
type tokensListCommand struct{ query }

// Help implements kong's HelpProvider.
func (tokensListCommand) Help() string {
	return `List the API tokens beside the one in the settings, with their scopes and the time
of last use:

    agent tokens list`
}

// Run implements the command.
func (c *tokensListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListTokens, wire.None{}, func(pg *page, all wire.Tokens) {
		if len(all.Tokens) == 0 {
			p.notice("no tokens yet; create one with: agent tokens add NAME")
			return
		}
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "NAME", "SCOPE", "CREATED", "USED")
			for _, t := range all.Tokens {
				used := "never"
				if !t.Used.IsZero() {
					used = ago(t.Used, now)
				}
				row(t.ID, t.Name, largestScope(t.Scopes), ago(t.Created, now), used)
			}
		})
	})
}

// largestScope returns the largest allowed scope; it includes all smaller scopes.
func largestScope(scopes []access.Scope) string {
	largest := "nothing"
	for _, scope := range append([]access.Scope{access.Metrics}, access.Scopes...) {
		if (access.Client{Scopes: scopes}).May(scope) {
			largest = string(scope)
		}
	}
	return largest
}

// A tokensAddCommand creates a token.
type tokensAddCommand struct {
	query
	Scope string `default:"read" enum:"metrics,search,read,write,admin" help:"Scope: metrics (readiness and metrics only), search (items and stories), read (everything), write (also change feeds, items and stories), admin (everything). Each but search includes those before it."`
	Name  string `arg:"" help:"Name of the token, such as its device or site."`
}

// Help implements kong's HelpProvider.
func (tokensAddCommand) Help() string {
	return `Tokens for a reader on a phone, a public page, and monitoring:

    agent tokens add phone
    agent tokens add example.org --scope search
    agent tokens add prometheus --scope metrics

The secret is printed once and not stored.`
}

// Run implements the command.
func (c *tokensAddCommand) Run(ctx context.Context, p *program) error {
	setting := wire.AddTokenRequest{Body: wire.TokenSetting{Name: c.Name, Scopes: []access.Scope{access.Scope(c.Scope)}}}
	return printAnswer(ctx, p, c.query, wire.AddToken, setting, func(pg *page, made wire.NewToken) {
		p.notice("%s created with scope %s; its secret is not shown again:", made.ID, c.Scope)
		pg.printf("%s\n", made.Secret)
	})
}

// A tokensRemoveCommand removes tokens.
type tokensRemoveCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of tokens, as agent tokens list prints them."`
}

// Help implements kong's HelpProvider.
func (tokensRemoveCommand) Help() string {
	return `All nodes reject a removed token within ten seconds:

    agent tokens remove 3xqkz5gkw2c7jv4m`
}

// Run implements the command.
func (c *tokensRemoveCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.IDs, "%s: removed", func(api *client.Client, id string) error {
		return client.Do(ctx, api, wire.RemoveToken, wire.ByID{ID: id})
	})
}
