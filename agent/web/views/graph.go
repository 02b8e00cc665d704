package views

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"feedmesh/agent/chart"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

const (
	graphPath = Path + "/graph"
	maxGraph  = 200 // views of a graph

	// Feeds, tags and hosts of a view: with more than maxNodes all of them are one node, and no more than maxListed are listed.
	maxNodes, maxListed = 4, 20
)

// A graphPage shows which views read which.
type graphPage struct {
	Name    string // of the chosen view; empty: all are shown
	Total   int    // views that the client may read
	Max     int
	LeftOut int // views that are connected to the chosen one, but not shown
	Chart   template.HTML
	Rows    []graphRow
}

// Others returns the number of views that are not connected to the chosen one.
func (p graphPage) Others() int { return p.Total - len(p.Rows) - p.LeftOut }

// A graphRow is a view of the graph.
type graphRow struct {
	wire.ViewState
	Title, URL    string
	Sources       []link // other than views; without URL: text
	More          int    // further ones
	From, Joined  []link // views
	Readers       []link // views that read or join it
	Subscriptions int
	State         locale.Text // nil: it is complete
}

// graph shows all views, or those that are connected to one: that it reads, or that read it, over any number of others.
func (p *pages) graph(w http.ResponseWriter, r *http.Request) {
	page := graphPage{Name: r.URL.Query().Get("view"), Max: maxGraph}
	all, err := p.Views.List(r.Context(), wire.None{})
	var shown []wire.ViewState
	if err == nil {
		page.Total = len(all.Views)
		shown, page.LeftOut, err = connected(all.Views, page.Name)
	}
	var titles map[string]string
	if err == nil {
		titles, err = p.feedTitles(r.Context(), shown)
	}
	var subscriptions wire.SubscriptionList
	if err == nil {
		subscriptions, err = p.Subscriptions.List(r.Context(), wire.None{})
	}
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
		return
	}
	page.Rows = graphRows(shown, titles, subscriptions.Subscriptions)
	if len(page.Rows) > 0 {
		page.Chart = graphOf(page.Rows, locale.From(r))
	}
	p.Render(w, r, http.StatusOK, "view-graph", locale.T("Graph of views"), page)
}

// connected returns the views that are connected to the named one, the nearest first and at most maxGraph, and how many are left out.
// Without a name it returns all views, or none if they are too many. A missing view is [storage.ErrNotFound].
func connected(all []wire.ViewState, name string) (shown []wire.ViewState, leftOut int, err error) {
	byName, readers := map[string]wire.ViewState{}, map[string][]string{}
	for _, v := range all {
		byName[v.Name] = v
		for _, read := range v.View.Reads() {
			readers[read] = append(readers[read], v.Name)
		}
	}
	if name == "" {
		if len(all) > maxGraph {
			return nil, 0, nil
		}
		return all, 0, nil
	}
	if _, is := byName[name]; !is {
		return nil, 0, fmt.Errorf("view %s: %w", name, storage.ErrNotFound)
	}
	distance := map[string]int{name: 0}
	for _, next := range []func(string) []string{
		func(name string) []string { return byName[name].View.Reads() }, func(name string) []string { return readers[name] },
	} {
		waiting := []string{name}
		for len(waiting) > 0 {
			at := waiting[0]
			waiting = waiting[1:]
			for _, other := range next(at) {
				if _, seen := distance[other]; !seen && byName[other].Name != "" {
					distance[other] = distance[at] + 1
					waiting = append(waiting, other)
				}
			}
		}
	}
	for name := range distance {
		shown = append(shown, byName[name])
	}
	slices.SortFunc(shown, func(a, b wire.ViewState) int {
		return cmp.Or(cmp.Compare(distance[a.Name], distance[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	leftOut = max(0, len(shown)-maxGraph)
	return shown[:len(shown)-leftOut], leftOut, nil
}

// feedTitles returns the names of the feeds that are listed, by ID. They are read in one batch.
func (p *pages) feedTitles(ctx context.Context, views []wire.ViewState) (map[string]string, error) {
	ids := []string{}
	for _, v := range views {
		for i, s := range sourcesOf(v) {
			if s.Kind == view.Feed && i < maxListed {
				ids = append(ids, s.Value)
			}
		}
	}
	feeds, err := p.Store.FindFeeds(ctx, storage.FeedQuery{IDs: ids, Limit: len(ids) + 1})
	titles := map[string]string{}
	for _, f := range feeds {
		titles[f.ID] = f.Name()
	}
	return titles, err
}

// sourcesOf returns what a view reads beside other views.
func sourcesOf(v wire.ViewState) []view.Source {
	return slices.DeleteFunc(slices.Clone(v.From), func(s view.Source) bool { return s.Kind == view.Other })
}

func graphRows(views []wire.ViewState, titles map[string]string, subscriptions []wire.SubscriptionState) []graphRow {
	rows, at := make([]graphRow, len(views)), map[string]int{}
	for i, v := range views {
		rows[i] = graphRow{ViewState: v, Title: cmp.Or(v.Title, v.Name), URL: itemsPath(v.Name)}
		at[v.Name] = i
	}
	linkTo := func(name string) link {
		if i, is := at[name]; is {
			return link{rows[i].Title, rows[i].URL}
		}
		return link{Name: name}
	}
	for i := range rows {
		row := &rows[i]
		row.fill(titles)
		for _, s := range row.ViewState.From {
			if s.Kind == view.Other {
				row.From = append(row.From, linkTo(s.Value))
			}
		}
		if row.Join != nil {
			row.Joined = append(row.Joined, linkTo(row.Join.View))
		}
		for _, name := range row.View.Reads() {
			if read, is := at[name]; is {
				rows[read].Readers = append(rows[read].Readers, link{row.Title, row.URL})
			}
		}
	}
	for _, s := range subscriptions {
		for _, name := range s.Views {
			if i, is := at[name]; is {
				rows[i].Subscriptions++
			}
		}
	}
	return rows
}

// fill sets the sources and the state of a view.
func (r *graphRow) fill(titles map[string]string) {
	sources := sourcesOf(r.ViewState)
	r.More = max(0, len(sources)-maxListed)
	for _, s := range sources[:len(sources)-r.More] {
		r.Sources = append(r.Sources, sourceLink(s, titles))
	}
	switch {
	case r.Problem != "":
		r.State = locale.T("Unreadable: gets no items")
	case !r.Filled:
		r.State = locale.T("Being filled in")
	}
}

// sourceLink names a source as in the text of a view, but a feed by its title.
func sourceLink(s view.Source, titles map[string]string) link {
	switch s.Kind {
	case view.Feed:
		return link{cmp.Or(titles[s.Value], s.Value), "/feeds/" + url.PathEscape(s.Value)}
	default: // tag or host
		return link{s.String(), "/feeds?" + url.Values{string(s.Kind): {s.Value}}.Encode()}
	}
}

// A grapher collects the nodes and edges of a chart.
type grapher struct {
	language *locale.Language
	nodes    []chart.Node
	edges    []chart.Edge
	sources  map[link]int // nodes that are no views
}

// graphOf draws views and what they read.
func graphOf(rows []graphRow, language *locale.Language) template.HTML {
	g := grapher{language: language, sources: map[link]int{}}
	at := map[string]int{}
	for i, row := range rows {
		at[row.Name] = i
		g.nodes = append(g.nodes, row.node(language))
	}
	for i, row := range rows {
		switch n := len(row.Sources) + row.More; {
		case row.Problem == "" && len(row.ViewState.From) == 0:
			g.read(i, link{locale.T("all items").In(language), "/"})
		case n > maxNodes:
			g.read(i, link{locale.N(int64(n), "%d feed, tag or host", "%d feeds, tags and hosts").In(language), row.URL})
		default:
			for _, source := range row.Sources {
				g.read(i, source)
			}
		}
		for _, s := range row.ViewState.From {
			if s.Kind == view.Other {
				g.edges = append(g.edges, chart.Edge{From: g.view(at, s.Value), To: i})
			}
		}
		if row.Join != nil {
			g.edges = append(g.edges, chart.Edge{From: g.view(at, row.Join.View), To: i, Dashed: true})
		}
	}
	return chart.Graph(locale.T("Graph of views").In(language), g.nodes, g.edges)
}

// node returns the node of a view. Its name repeats its lines, which a screen reader reads in place of them.
func (r graphRow) node(language *locale.Language) chart.Node {
	lines := []locale.Text{locale.Plural(r.Members, "item")}
	if r.Subscriptions > 0 {
		lines[0] = locale.Join(" · ", lines[0], locale.Plural(int64(r.Subscriptions), "subscription"))
	}
	if r.State != nil {
		lines = append(lines, r.State)
	}
	n := chart.Node{Label: r.Title, URL: r.URL, Strong: r.State != nil}
	for _, line := range lines {
		n.Lines = append(n.Lines, line.In(language))
	}
	n.Name = locale.Join(", ", append([]locale.Text{locale.Data(r.Title)}, lines...)...).In(language)
	return n
}

// read adds an edge from a source to a view.
func (g *grapher) read(to int, source link) {
	g.edges = append(g.edges, chart.Edge{From: g.source(source, chart.Node{Name: source.Name, Label: source.Name, URL: source.URL, Round: true}), To: to})
}

// view returns the node of a view. One that is not shown is missing, may not be read by the client, or is left out.
func (g *grapher) view(at map[string]int, name string) int {
	if i, is := at[name]; is {
		return i
	}
	why := locale.T("not shown").In(g.language)
	return g.source(link{Name: "view:" + name}, chart.Node{Name: name + ", " + why, Label: name, Lines: []string{why}})
}

func (g *grapher) source(key link, node chart.Node) int {
	id, is := g.sources[key]
	if !is {
		id = len(g.nodes)
		g.nodes, g.sources[key] = append(g.nodes, node), id
	}
	return id
}
