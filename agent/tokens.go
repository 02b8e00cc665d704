package main

import (
	"context"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/api"
)

// A tokensCommand is the commands about tokens.
type tokensCommand struct {
	List   tokensListCommand   `cmd:"" help:"List the tokens, without their secrets."`
	Add    tokensAddCommand    `cmd:"" help:"Make a token, and print its secret."`
	Remove tokensRemoveCommand `cmd:"" help:"Remove tokens."`
}

// A tokensListCommand lists tokens.
type tokensListCommand struct{ query }

// Help implements kong's HelpProvider.
func (tokensListCommand) Help() string {
	return `What clients may show beside the token in the settings, what each may do, and when
it was used last:

    agent tokens list`
}

// Run implements the command.
func (c *tokensListCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.Tokens(ctx)
	if err != nil {
		return err
	}
	if len(all.Tokens) == 0 && !c.JSON {
		p.say("there are no tokens; make one with: agent tokens add NAME")
		return nil
	}
	now := time.Now()
	return c.print(p, all, func(pg *page) {
		pg.table(func(row func(...any)) {
			row("ID", "NAME", "MAY", "MADE", "USED")
			for _, t := range all.Tokens {
				used := "never"
				if !t.Used.IsZero() {
					used = ago(t.Used, now)
				}
				row(t.ID, t.Name, may(t.Scopes), ago(t.Created, now), used)
			}
		})
	})
}

// may says what scopes allow, the largest of them: it has the others.
func may(scopes []access.Scope) string {
	largest := "nothing"
	for _, scope := range access.Scopes {
		if (access.Client{Scopes: scopes}).May(scope) {
			largest = string(scope)
		}
	}
	return largest
}

// A tokensAddCommand makes a token.
type tokensAddCommand struct {
	query
	Scope string `default:"read" enum:"search,read,write,admin" help:"What it may do: search items and stories; read all there is; write, that is change feeds, items and stories; admin, that is all. Each may do what those before it may."`
	Name  string `arg:"" help:"By which you will know it, as the device or the site it is for."`
}

// Help implements kong's HelpProvider.
func (tokensAddCommand) Help() string {
	return `A token for a reader on a phone, and one that a public page may show:

    agent tokens add phone
    agent tokens add example.org --scope search

Its secret is printed once, and kept nowhere.`
}

// Run implements the command.
func (c *tokensAddCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	made, err := client.AddToken(ctx, api.TokenSetting{Name: c.Name, Scopes: []access.Scope{access.Scope(c.Scope)}})
	if err != nil {
		return err
	}
	if !c.JSON {
		p.say("%s is made, and may %s; nobody can be told its secret again:", made.ID, c.Scope)
	}
	return c.print(p, made, func(pg *page) { pg.printf("%s\n", made.Secret) })
}

// A tokensRemoveCommand removes tokens.
type tokensRemoveCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of tokens, as agent tokens list prints them."`
}

// Help implements kong's HelpProvider.
func (tokensRemoveCommand) Help() string {
	return `Whoever shows it is refused, by every node within ten seconds:

    agent tokens remove 3xqkz5gkw2c7jv4m`
}

// Run implements the command.
func (c *tokensRemoveCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, c.IDs, func(id string) error { return client.RemoveToken(ctx, id) })
	c.printDone(p, d, "%s: removed")
	return err
}
