package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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
				row(t.ID, t.Name, largestScope(t.Scopes), ago(t.Created, now), lastUse(t.Used, now))
			}
		})
	})
}

// lastUse returns when something was used last.
func lastUse(used, now time.Time) string {
	if used.IsZero() {
		return "never"
	}
	return ago(used, now)
}

// largestScope returns the largest allowed scope; it includes all smaller scopes.
func largestScope(scopes []access.Scope) string {
	return cmp.Or(string(access.Client{Scopes: scopes}.Largest()), "nothing")
}

// A tokensAddCommand creates a token.
type tokensAddCommand struct {
	query
	Scope string `default:"read" enum:"metrics,search,read,write,rules,admin" help:"Scope: metrics (readiness and metrics only), search (items and stories), read (everything), write (also change feeds, items and stories), rules (also change rules), admin (everything). Each but search includes those before it."`
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

// A peopleCommand groups the commands about people.
type peopleCommand struct {
	List     peopleListCommand     `cmd:"" help:"List the people."`
	Add      peopleAddCommand      `cmd:"" help:"Add a person; from the first one on the console requires a login."`
	Role     peopleRoleCommand     `cmd:"" help:"Change the role of a person."`
	Password peoplePasswordCommand `cmd:"" help:"Set the password of a person, or make a link that sets it."`
	OIDC     peopleOIDCCommand     `cmd:"" name:"oidc" help:"Let a person log in by the OpenID provider."`
	Revoke   peopleRevokeCommand   `cmd:"" help:"End the sessions of people, and remove their tokens, passkeys and accounts at the OpenID provider."`
	Remove   peopleRemoveCommand   `cmd:"" help:"Remove people with their passkeys, tokens, sessions and marks."`
}

// A peopleListCommand lists people.
type peopleListCommand struct{ query }

// Help implements kong's HelpProvider.
func (peopleListCommand) Help() string {
	return `List the people with their roles, the numbers of their sessions and tokens, and
when these were used last:

    agent people list`
}

// Run implements the command.
func (c *peopleListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListPeople, wire.None{}, func(pg *page, all wire.People) {
		if len(all.People) == 0 {
			p.notice("no people yet; add one with: agent people add NAME --role owner")
			return
		}
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("NAME", "ROLE", "PASSWORD", "PROVIDER", "CREATED", "SESSIONS", "TOKENS", "USED")
			for _, person := range all.People {
				password := "not set"
				if person.Password {
					password = "set"
				}
				row(person.Name, person.Role, password, person.Provider, ago(person.Created, now), person.Sessions, person.Tokens, lastUse(person.Used, now))
			}
		})
	})
}

// passwordHelp describes where a password comes from.
const passwordHelp = `The password is read from standard input with --stdin. Otherwise a link is printed:
it opens the page where the person sets the password, works once, and ends after a day.`

// A peopleAddCommand adds a person.
type peopleAddCommand struct {
	query
	Role  string `default:"reader" enum:"owner,editor,reader" help:"Role: owner (everything), editor (change feeds, items, stories and rules), reader (read)."`
	Stdin bool   `help:"Read the password from the first line of standard input."`
	OIDC  bool   `name:"oidc" help:"Let the first account of this name at the OpenID provider log in."`
	Name  string `arg:"" help:"Name to log in with."`
}

// Help implements kong's HelpProvider.
func (peopleAddCommand) Help() string {
	return `The first person must be an owner:

    agent people add ann --role owner
    agent people add bob --role editor --stdin < password.txt
    agent people add cid --oidc

` + passwordHelp + `

From then on commands on this machine need a token too: create it first with
agent tokens add NAME --scope admin, or start the agent with --token.`
}

// Run implements the command.
func (c *peopleAddCommand) Run(ctx context.Context, p *program) error {
	password, err := p.password(c.Stdin)
	if err != nil {
		return err
	}
	add := wire.AddPersonRequest{Body: wire.NewPerson{Name: c.Name, Role: access.Role(c.Role), Password: password, OIDC: c.OIDC}}
	return printAnswer(ctx, p, c.query, wire.AddPerson, add, func(pg *page, made wire.Person) {
		p.notice("%s added as %s", made.Name, made.Role)
		c.printLink(p, pg, made)
	})
}

// password returns the first line of standard input, nil if it is not to be read.
func (p *program) password(read bool) (*string, error) {
	if !read {
		return nil, nil
	}
	line, err := bufio.NewReader(io.LimitReader(p.in, access.MaxPassword+2)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	return &line, nil
}

// printLink prints the link that sets the password of a person, if there is one.
func (q query) printLink(p *program, pg *page, person wire.Person) {
	if person.Link != "" {
		p.notice("the link sets the password once, within a day; it is not shown again:")
		pg.printf("%s%s\n", strings.TrimRight(q.API, "/"), person.Link)
	}
}

// A peopleRoleCommand changes a role.
type peopleRoleCommand struct {
	query
	Name string `arg:"" help:"Name of the person."`
	Role string `arg:"" enum:"owner,editor,reader" help:"Role: owner, editor or reader."`
}

// Help implements kong's HelpProvider.
func (peopleRoleCommand) Help() string {
	return `A role takes effect on all nodes within ten seconds; the last owner stays an owner:

    agent people role bob editor`
}

// Run implements the command.
func (c *peopleRoleCommand) Run(ctx context.Context, p *program) error {
	set := wire.SetPersonRequest{ByName: wire.ByName{Name: c.Name}, Body: wire.PersonSetting{Role: access.Role(c.Role)}}
	return printAnswer(ctx, p, c.query, wire.SetPerson, set, func(pg *page, person wire.Person) {
		pg.printf("%s: %s\n", person.Name, person.Role)
	})
}

// A peoplePasswordCommand sets a password.
type peoplePasswordCommand struct {
	query
	Stdin bool   `help:"Read the password from the first line of standard input."`
	Name  string `arg:"" help:"Name of the person."`
}

// Help implements kong's HelpProvider.
func (peoplePasswordCommand) Help() string {
	return passwordHelp + `

    agent people password bob

Another password ends all sessions of the person.`
}

// Run implements the command.
func (c *peoplePasswordCommand) Run(ctx context.Context, p *program) error {
	password, err := p.password(c.Stdin)
	if err != nil {
		return err
	}
	set := wire.SetPersonRequest{ByName: wire.ByName{Name: c.Name}, Body: wire.PersonSetting{Password: password, Link: password == nil}}
	return printAnswer(ctx, p, c.query, wire.SetPerson, set, func(pg *page, person wire.Person) {
		if password != nil {
			pg.printf("%s: password set\n", person.Name)
		}
		c.printLink(p, pg, person)
	})
}

// A peopleOIDCCommand lets a person log in by the OpenID provider.
type peopleOIDCCommand struct {
	query
	Name string `arg:"" help:"Name of the person, which the provider states as preferred_username."`
}

// Help implements kong's HelpProvider.
func (peopleOIDCCommand) Help() string {
	return `The next account of the person's name at the provider logs in, and only this account from then on:

    agent people oidc bob`
}

// Run implements the command.
func (c *peopleOIDCCommand) Run(ctx context.Context, p *program) error {
	set := wire.SetPersonRequest{ByName: wire.ByName{Name: c.Name}, Body: wire.PersonSetting{OIDC: true}}
	return printAnswer(ctx, p, c.query, wire.SetPerson, set, func(pg *page, person wire.Person) {
		pg.printf("%s: login by the OpenID provider %s\n", person.Name, person.Provider)
	})
}

// A peopleRevokeCommand ends the logins of people.
type peopleRevokeCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of people."`
}

// Help implements kong's HelpProvider.
func (peopleRevokeCommand) Help() string {
	return `After the loss of a device. The password stays; agent people password sets another:

    agent people revoke bob`
}

// Run implements the command.
func (c *peopleRevokeCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.Names, "%s: revoked", func(api *client.Client, name string) error {
		_, err := client.Call(ctx, api, wire.SetPerson, wire.SetPersonRequest{ByName: wire.ByName{Name: name}, Body: wire.PersonSetting{Revoke: true}})
		return err
	})
}

// A peopleRemoveCommand removes people.
type peopleRemoveCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of people."`
}

// Help implements kong's HelpProvider.
func (peopleRemoveCommand) Help() string {
	return `All nodes reject the sessions of a removed person within ten seconds; the last owner stays:

    agent people remove bob`
}

// Run implements the command.
func (c *peopleRemoveCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.Names, "%s: removed", func(api *client.Client, name string) error {
		return client.Do(ctx, api, wire.RemovePerson, wire.ByName{Name: name})
	})
}
