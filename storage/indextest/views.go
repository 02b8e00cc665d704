package indextest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedmesh/classify/query"
	"feedmesh/classify/view"
	"feedmesh/classify/view/network"
	"feedmesh/classify/view/viewtest"
	"feedmesh/storage"
)

// viewsHaveWhatIsFound compares the views that package network finds for each item with searches for their conditions:
// the first half of the views select from all items, the others from two of these.
func viewsHaveWhatIsFound(t *testing.T, x storage.Index) {
	const items, conditions = 80, 60
	g := viewtest.New(7, noon)
	var views []view.View
	wheres := map[string]query.Node{}
	for i := range conditions {
		v := view.View{Name: fmt.Sprint("all-", i), Where: g.Condition(3)}
		views, wheres[v.Name] = append(views, v), parsed(t, v.Where).Where
	}
	for i := range conditions {
		a, b := views[g.IntN(conditions)], views[g.IntN(conditions)]
		v := view.View{Name: fmt.Sprint("two-", i), From: []view.Source{{Kind: view.Other, Value: a.Name}, {Kind: view.Other, Value: b.Name}}, Where: g.Condition(2)}
		if strings.Contains(v.Where+a.Where+b.Where, "is:spam") {
			continue // spam would be admitted by one condition and excluded by another
		}
		views = append(views, v)
		wheres[v.Name] = query.And{query.Or{wheres[a.Name], wheres[b.Name]}, parsed(t, v.Where).Where}
	}
	n, err := network.Compile(views, noon, nil)
	if err != nil {
		t.Fatal(err)
	}
	members := map[string][]string{}
	for range items {
		it := generated(g)
		put(t, x, it)
		for _, c := range n.Match(&network.Document{Document: it.Document(), Now: noon}) {
			members[views[c.View].Name] = append(members[views[c.View].Name], it.ID)
		}
	}
	if len(members) < len(views)/2 {
		t.Fatalf("only %d of %d views have items", len(members), len(views))
	}
	for _, v := range views {
		var got []string
		if results := search(t, x, storage.Query{Where: wheres[v.Name], Limit: storage.MaxLimit}); !results.Fuzzy {
			got = ids(results)
		}
		slices.Sort(got)
		slices.Sort(members[v.Name])
		if !slices.Equal(got, members[v.Name]) {
			t.Errorf("%s: search found %d items, %v; the view has %d, %v", v, len(got), got, len(members[v.Name]), members[v.Name])
		}
	}
}

// generated returns an item.
func generated(g viewtest.Generator) storage.IndexItem {
	d, _ := g.Document()
	return changed(item(d.ID, d.Title, d.Text), func(it *storage.IndexItem) {
		it.Author, it.Tags, it.FeedID, it.URL, it.Language, it.StoryID = d.Author, d.Tags, d.Feed, d.URL, d.Language, d.Story
		it.Categories, it.Topics, it.Published = d.Categories, d.Topics, d.Published
		for _, flag := range d.Flags {
			switch flag {
			case storage.FlagSpam:
				it.Spam = true
			case storage.FlagDuplicate:
				it.DuplicateOf = "another"
			default:
				it.Flags = append(it.Flags, flag)
			}
		}
	})
}
