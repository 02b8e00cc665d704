package main

import (
	"context"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A searchesCommand groups the commands about saved searches.
type searchesCommand struct {
	List   searchesListCommand   `cmd:"" help:"List the saved searches."`
	Save   searchesSaveCommand   `cmd:"" help:"Save or change a search."`
	Remove searchesRemoveCommand `cmd:"" help:"Remove saved searches."`
}

// A searchesListCommand lists saved searches.
type searchesListCommand struct{ query }

// Help implements kong's HelpProvider.
func (searchesListCommand) Help() string {
	return `Each saved search is also served as a feed:

    agent searches list
    curl http://127.0.0.1:8080/outputs/searches/NAME.atom`
}

// Run implements the command.
func (c *searchesListCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.Call(ctx, api, wire.ListSearches, wire.None{})
	if err != nil {
		return err
	}
	if len(all.Searches) == 0 && !c.JSON {
		p.notice("no saved searches yet; save one with: agent searches save NAME QUERY")
		return nil
	}
	return c.print(p, all, func(pg *page) {
		pg.table(func(row func(...any)) {
			row("NAME", "TITLE", "QUERY", "FEED")
			for _, s := range all.Searches {
				row(s.Name, s.Title, s.Query, api.Address()+"/outputs/searches/"+s.Name+".atom")
			}
		})
	})
}

// A searchesSaveCommand saves a search.
type searchesSaveCommand struct {
	query
	Title string `placeholder:"TEXT" help:"Title of the search."`
	Name  string `arg:"" help:"Name in URLs: lower-case letters, digits, hyphens."`
	Query string `arg:"" help:"Query string of the search page's URL."`
}

// Help implements kong's HelpProvider.
func (searchesSaveCommand) Help() string {
	return `Items about go but not rust, in one category:

    agent searches save go-news 'q=go+-rust&category=software' --title "Go news"

An existing search of this name is replaced.`
}

// Run implements the command.
func (c *searchesSaveCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	saved, err := client.Call(ctx, api, wire.SaveSearch, wire.SaveSearchRequest{Name: c.Name, Body: wire.SearchSetting{Title: c.Title, Query: c.Query}})
	if err != nil {
		return err
	}
	return c.print(p, saved, func(pg *page) {
		pg.printf("%s: %s/outputs/searches/%s.atom\n", saved.Name, api.Address(), saved.Name)
	})
}

// A searchesRemoveCommand removes saved searches.
type searchesRemoveCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of saved searches."`
}

// Help implements kong's HelpProvider.
func (searchesRemoveCommand) Help() string {
	return `Feed readers that follow a removed search get status 404:

    agent searches remove go-news`
}

// Run implements the command.
func (c *searchesRemoveCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, c.Names, func(name string) error {
		_, err := client.Call(ctx, api, wire.RemoveSearch, wire.SavedSearchName{Name: name})
		return err
	})
	c.printDone(p, d, "%s: removed")
	return err
}
