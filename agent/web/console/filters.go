package console

import (
	"cmp"

	"feedmesh/agent/wire"
)

// A group is a filter with its values.
type group struct {
	ID, Label string
	Days      *histogram // set if the values are days
	Choices   []choice
	More      []choice // values shown on request
}

// maxChoices is the number of values of a filter that are shown initially.
const maxChoices = 8

var (
	times = []choice{
		{Label: "Any time"}, {Label: "Past day", URL: "day"}, {Label: "Past week", URL: "week"}, {Label: "Past month", URL: "month"},
	}
	stories = []choice{{Label: "One item each"}, {Label: "All items", URL: "all"}}
	shows   = []choice{
		{Label: "Without duplicates"}, {Label: "With duplicates", URL: "duplicates"}, {Label: "Spam only", URL: "spam"},
		{Label: "Starred by rules", URL: "starred"}, {Label: "Sponsored", URL: "sponsored"}, {Label: "Muted by rules", URL: "muted"},
	}
)

// groups returns the filters with their values as links.
func (s state) groups(found wire.SearchResults) []group {
	list := []group{s.fixed("time", "Published", times)}
	if days := s.days(found.Facets["day"]); days != nil {
		list = append(list, group{ID: "day", Label: "Days", Days: days})
	}
	for _, g := range []group{{ID: "category", Label: "Category"}, {ID: "topic", Label: "Topic"}, {ID: "feed", Label: "Feed"}, {ID: "language", Label: "Language"}} {
		if g.Choices = s.facet(g.ID, found.Facets[g.ID]); g.Choices == nil {
			continue
		}
		if len(g.Choices) > maxChoices+1 {
			g.Choices, g.More = g.Choices[:maxChoices], g.Choices[maxChoices:]
		}
		list = append(list, g)
	}
	if s["q"] != "" && s["show"] == "" {
		list = append(list, s.fixed("stories", "Stories", stories))
	}
	return append(list, s.fixed("show", "Show", shows))
}

// fixed returns a filter with fixed values. The URL of a value in values is the parameter's value.
func (s state) fixed(name, label string, values []choice) group {
	g := group{ID: name, Label: label}
	for _, v := range values {
		g.Choices = append(g.Choices, choice{Label: v.Label, URL: s.with(name, v.URL).URL(), Active: s[name] == v.URL, Key: name + " " + v.URL})
	}
	return g
}

// facet returns the values of the results. The URL of the active value removes the filter.
func (s state) facet(name string, facets []wire.Facet) []choice {
	var list []choice
	for _, f := range facets {
		c := choice{Label: cmp.Or(f.Label, f.Value), URL: s.with(name, f.Value).URL(), Count: f.Count, Key: name + " " + f.Value}
		if name == "language" {
			c.Label = language(f.Value)
		}
		if f.Value == s[name] {
			c.Active, c.URL = true, s.with(name, "").URL()
		}
		list = append(list, c)
	}
	return list
}

// chips returns the active filters as labels.
func (s state) chips(found wire.SearchResults) []choice {
	var list []choice
	add := func(name, words string) {
		if s[name] != "" {
			list = append(list, choice{Label: words, URL: s.with(name, "").URL()})
		}
	}
	add("time", label(times, s["time"]))
	add("day", day(s["day"]))
	add("category", "Category: "+s["category"])
	add("topic", "Topic: "+s["topic"])
	add("feed", "Feed: "+feedTitle(s["feed"], found))
	add("language", "Language: "+language(s["language"]))
	add("show", label(shows, s["show"]))
	return list
}

// linksOf returns names as links; at returns the URL of a name.
func linksOf(names []string, at func(name string) string) []choice {
	var list []choice
	for _, name := range names {
		list = append(list, choice{Label: name, URL: at(name)})
	}
	return list
}

func label(values []choice, value string) string {
	for _, v := range values {
		if v.URL == value {
			return v.Label
		}
	}
	return value
}

// feedTitle returns the title of a feed if the results contain it, else its ID.
func feedTitle(id string, found wire.SearchResults) string {
	for _, item := range found.Items {
		if item.FeedID == id && item.FeedTitle != "" {
			return item.FeedTitle
		}
	}
	return id
}
