package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/classify/view"
)

// A viewsCommand groups the commands about views.
type viewsCommand struct {
	List   viewsListCommand   `cmd:"" help:"List the views."`
	Save   viewsSaveCommand   `cmd:"" help:"Add or change a view."`
	Items  viewsItemsCommand  `cmd:"" help:"List the items of a view."`
	Remove viewsRemoveCommand `cmd:"" help:"Remove views."`
}

// A viewsListCommand lists views.
type viewsListCommand struct{ query }

// Help implements kong's HelpProvider.
func (viewsListCommand) Help() string {
	return `Each view is also served as a feed:

    agent views list
    curl http://127.0.0.1:8080/outputs/views/NAME.atom`
}

// Run implements the command.
func (c *viewsListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListViews, wire.None{}, func(pg *page, all wire.Views) {
		if len(all.Views) == 0 {
			p.notice("no views yet; save one with: agent views save 'view NAME = from all where WORDS'")
			return
		}
		pg.table(func(row func(...any)) {
			row("NAME", "ITEMS", "STATE", "DEFINITION")
			for _, v := range all.Views {
				row(v.Name, v.Members, stateOfView(v), v.Definition)
			}
		})
	})
}

func stateOfView(v wire.ViewState) string {
	switch {
	case v.Problem != "":
		return v.Problem
	case !v.Filled:
		return "being filled in"
	}
	return "current"
}

// A viewsSaveCommand saves a view.
type viewsSaveCommand struct {
	query
	Preview    bool   `help:"Only print what the view would have."`
	Definition string `arg:"" help:"Definition of the view; - reads it from standard input."`
}

// Help implements kong's HelpProvider.
func (viewsSaveCommand) Help() string {
	return `The first item of each story about Go, from feeds with a tag and from another view:

    agent views save 'view go = from tag:it, view:friends where go -rust once story window 3d'

An existing view of this name is replaced. Its clauses, each but "from" optional:

    view NAME "TITLE" for people|everyone
      = from all | feed:ID, tag:NAME, host:NAME, view:NAME
      join view:NAME within 24h
      where SEARCH
      once story|duplicate
      unique 60%
      window 24h
      sort oldest|best
      limit 50
      prefix "TEXT" labels A, B`
}

// Run implements the command.
func (c *viewsSaveCommand) Run(ctx context.Context, p *program) error {
	definition := c.Definition
	if definition == "-" {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return fmt.Errorf("read the definition: %w", err)
		}
		definition = strings.TrimSpace(string(text))
	}
	v, err := view.Parse(definition)
	if err != nil {
		return err
	}
	setting := wire.ViewSetting{Definition: definition}
	if c.Preview {
		return printAnswer(ctx, p, c.query, wire.PreviewView, wire.PreviewViewRequest{Body: setting}, func(pg *page, preview wire.ViewPreview) {
			printViewItems(pg, preview.Items)
		})
	}
	api, err := c.client(p)
	if err != nil {
		return err
	}
	return printAnswer(ctx, p, c.query, wire.SaveView, wire.SaveViewRequest{Name: v.Name, Body: setting}, func(pg *page, saved wire.ViewState) {
		pg.printf("%s: %s/outputs/views/%s.atom\n", saved.Name, api.Address(), saved.Name)
	})
}

func printViewItems(pg *page, items []wire.FoundItem) {
	pg.table(func(row func(...any)) {
		row("ID", "PUBLISHED", "FEED", "TITLE")
		for _, item := range items {
			row(item.ID, item.Time().Local().Format("2006-01-02 15:04"), item.FeedTitle, item.Title)
		}
	})
}

// A viewsItemsCommand lists the items of a view.
type viewsItemsCommand struct {
	query
	Limit int    `default:"20" help:"Number of items, at most 100."`
	Name  string `arg:"" help:"Name of the view."`
}

// Help implements kong's HelpProvider.
func (viewsItemsCommand) Help() string {
	return `The items of a view, in its order:

    agent views items go --limit 50`
}

// Run implements the command.
func (c *viewsItemsCommand) Run(ctx context.Context, p *program) error {
	in := wire.ListViewItemsRequest{Name: c.Name, Limit: c.Limit}
	return printAnswer(ctx, p, c.query, wire.ListViewItems, in, func(pg *page, found wire.ViewItems) {
		if len(found.Items) == 0 {
			p.notice("no items yet")
			return
		}
		printViewItems(pg, found.Items)
	})
}

// A viewsRemoveCommand removes views.
type viewsRemoveCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of views."`
}

// Help implements kong's HelpProvider.
func (viewsRemoveCommand) Help() string {
	return `A view that another view reads stays. Feed readers that follow a removed view get status 404:

    agent views remove go`
}

// Run implements the command.
func (c *viewsRemoveCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.Names, "%s: removed", func(api *client.Client, name string) error {
		return client.Do(ctx, api, wire.RemoveView, wire.ViewName{Name: name})
	})
}
