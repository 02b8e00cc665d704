package network_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/classify/view"
	"feedmesh/classify/view/network"
	"feedmesh/classify/view/viewtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func mustParse(t testing.TB, texts ...string) []view.View {
	t.Helper()
	views := make([]view.View, len(texts))
	for i, text := range texts {
		v, err := view.Parse("view " + text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		views[i] = v
	}
	sorted, err := view.Order(views)
	if err != nil {
		t.Fatal(err)
	}
	return sorted
}

func mustCompile(t testing.TB, views []view.View) *network.Network {
	t.Helper()
	n, err := network.Compile(views, noon, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// found returns the names of the views of an item, in order, each with those that it is read through.
func found(n *network.Network, views []view.View, d *network.Document) string {
	var names []string
	for _, c := range n.Match(d) {
		name := views[c.View].Name
		for _, through := range c.Through {
			name += "<" + views[through].Name
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The operators of RoSeS: filters, unions, windows, joins, and views on views.
func TestNetwork_OperatorsOfRoSeS(t *testing.T) {
	t.Parallel()
	views := mustParse(t,
		"all = from all",
		"filter = from feed:f1 where go",
		"union = from feed:f1, feed:f2",
		"union-of-views = from view:filter, feed:f3",
		"filter-of-union = from view:union where title:release",
		"hosts = from host:example.org where -rust",
		"tagged = from tag:news where cat:databases OR topic:SQL",
		"recent = from all where age:<2d",
		"stories = from view:filter once story",
		"firsts = from feed:f1 where go once duplicate",
		"of-stories = from view:stories where release",
		"either = from view:stories, feed:f1",
		"joined = from feed:f2 join view:filter within 3d where go",
		"spam = from all where is:spam",
		`phrase = from all where "new release"`,
		"typed = from all where relea*",
	)
	n := mustCompile(t, views)
	for name, c := range map[string]struct {
		doc  *query.Document
		tags []string
		want string
	}{
		"release of f1": {&query.Document{Title: "A new release", Text: "of Go", Feed: "f1"}, nil,
			"all either filter filter-of-union firsts of-stories<stories phrase recent stories typed union union-of-views"},
		"release of f2": {&query.Document{Title: "Release of Go", Feed: "f2"}, nil, "all filter-of-union joined recent typed union"},
		"other of f3":   {&query.Document{Title: "Weather", Feed: "f3", URL: "https://www.blog.example.org/1"}, nil, "all hosts recent union-of-views"},
		"rust":          {&query.Document{Title: "Rust", Text: "release new", URL: "https://example.org/1"}, nil, "all recent typed"},
		"topic":         {&query.Document{Title: "Query plans", Topics: []string{"sql"}}, []string{"news"}, "all recent tagged"},
		"other tag":     {&query.Document{Title: "Query plans", Topics: []string{"sql"}}, []string{"News"}, "all recent"},
		"spam":          {&query.Document{Title: "Buy Go", Feed: "f1", Flags: []string{"spam"}}, nil, "spam"},
		"duplicate":     {&query.Document{Title: "A new release of Go", Feed: "f1", Flags: []string{"duplicate"}}, nil, "firsts"},
	} {
		c.doc.Published = noon.Add(-time.Hour)
		d := &network.Document{Document: c.doc, FeedTags: c.tags, Now: noon}
		if got := found(n, views, d); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	old := &network.Document{Document: &query.Document{Title: "Weather", Published: noon.Add(-time.Hour)}, Now: noon.Add(47*time.Hour + time.Second)}
	if got := found(n, views, old); got != "all" {
		t.Errorf("item of more than two days: got %s", got)
	}
	old.Now = noon.Add(47 * time.Hour)
	if got := found(n, views, old); got != "all recent" {
		t.Errorf("item of two days: got %s", got)
	}
}

func TestNetwork_EqualConditionsAreOneNode(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("v%d = from tag:news where (postgres OR sqlite) lang:en -hiring", i))
	}
	one := mustCompile(t, mustParse(t, texts[:1]...))
	all := mustCompile(t, mustParse(t, texts...))
	if one.Nodes() != all.Nodes() {
		t.Errorf("got %d nodes, of one view %d", all.Nodes(), one.Nodes())
	}
	d := &network.Document{Document: &query.Document{Title: "SQLite", Language: "en"}, FeedTags: []string{"news"}}
	if got := all.Match(d); len(got) != 100 {
		t.Errorf("got %d views", len(got))
	}
}

func TestNetwork_SameViewsAsEachByItself(t *testing.T) {
	t.Parallel()
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	for seed := range uint64(rounds) {
		g := viewtest.New(seed, noon)
		views := g.Views(1 + g.IntN(60))
		n := mustCompile(t, views)
		for range 40 {
			doc, tags := g.Document()
			d := &network.Document{Document: doc, FeedTags: tags, Now: noon}
			if got, want := found(n, views, d), oneByOne(t, views, d); got != want {
				t.Fatalf("seed %d: item %+v\ngot  %s\nwant %s\nof %v", seed, d.Document, got, want, views)
			}
		}
	}
}

// oneByOne evaluates each view by itself and returns the same as found.
func oneByOne(t *testing.T, views []view.View, d *network.Document) string {
	t.Helper()
	var names []string
	through := map[string][]string{} // of the views that have the item
	for _, v := range views {
		where, err := v.Condition(d.Now)
		if err != nil {
			t.Fatal(err)
		}
		isVisible := true
		for _, flag := range []string{"spam", "muted", "duplicate"} {
			isAdmitted := flag == "duplicate" && v.Once != view.PerItem
			isVisible = isVisible && (isAdmitted || !slices.Contains(d.Flags, flag) || query.SelectsValue(where, query.Flag, flag))
		}
		isDirect, via := len(v.From) == 0, []string(nil)
		for _, s := range v.From {
			switch of, isMember := through[s.Value]; {
			case s.Kind == view.Feed && s.Value == d.Feed, s.Kind == view.Tag && slices.Contains(d.FeedTags, s.Value), s.Kind == view.Host && slices.Contains(query.Hosts(d.URL), s.Value):
				isDirect = true
			case s.Kind != view.Other || !isMember:
			case len(of) > 0 || isStateful(views, s.Value):
				via = append(via, s.Value)
			default:
				isDirect = true
			}
		}
		if !isVisible || !isDirect && via == nil || !query.Matches(where, d.Document) {
			continue
		}
		if isDirect {
			via = nil
		}
		through[v.Name] = via
		names = append(names, strings.Join(append([]string{v.Name}, via...), "<"))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func isStateful(views []view.View, name string) bool {
	v := views[slices.IndexFunc(views, func(v view.View) bool { return v.Name == name })]
	return v.Once != view.PerItem || v.Unique > 0 || v.Join != nil
}
