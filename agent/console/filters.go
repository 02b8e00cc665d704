package console

import (
	"cmp"

	"feedmesh/agent/api"
)

// A group is one filter: the values it may have.
type group struct {
	ID, Label string
	Days      *histogram // nil but where the values are days
	Choices   []choice
	More      []choice // those that are seen only when asked for
}

// fewChoices is how many values of a filter are seen at once.
const fewChoices = 8

var (
	times = []choice{
		{Label: "Any time"}, {Label: "Past day", URL: "day"}, {Label: "Past week", URL: "week"}, {Label: "Past month", URL: "month"},
	}
	stories = []choice{{Label: "Each once"}, {Label: "All items of each", URL: "all"}}
	shows   = []choice{
		{Label: "Without duplicates"}, {Label: "With duplicates", URL: "duplicates"}, {Label: "Spam only", URL: "spam"},
		{Label: "Starred by rules", URL: "starred"}, {Label: "Sponsored", URL: "sponsored"}, {Label: "Muted by rules", URL: "muted"},
	}
)

// groups returns the filters, each with what following a value leads to.
func (s state) groups(found api.Found) []group {
	list := []group{s.fixed("time", "Published", times)}
	if days := s.days(found.Facets["day"]); days != nil {
		list = append(list, group{ID: "day", Label: "Days", Days: days})
	}
	for _, g := range []group{{ID: "category", Label: "Category"}, {ID: "topic", Label: "Topic"}, {ID: "feed", Label: "Feed"}, {ID: "language", Label: "Language"}} {
		if g.Choices = s.facet(g.ID, found.Facets[g.ID]); g.Choices == nil {
			continue
		}
		if len(g.Choices) > fewChoices+1 {
			g.Choices, g.More = g.Choices[:fewChoices], g.Choices[fewChoices:]
		}
		list = append(list, g)
	}
	if s["q"] != "" && s["show"] == "" {
		list = append(list, s.fixed("stories", "Stories", stories))
	}
	return append(list, s.fixed("show", "Show", shows))
}

// fixed returns a filter with values that are always there. Their URL is the
// value.
func (s state) fixed(name, label string, values []choice) group {
	g := group{ID: name, Label: label}
	for _, v := range values {
		g.Choices = append(g.Choices, choice{Label: v.Label, URL: s.with(name, v.URL).URL(), Active: s[name] == v.URL, Key: name + " " + v.URL})
	}
	return g
}

// facet returns the values that the results have. Following the one in force
// takes the filter away.
func (s state) facet(name string, facets []api.Facet) []choice {
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

// chips returns the filters in force, in words.
func (s state) chips(found api.Found) []choice {
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

// linked returns names as links, each to where at says.
func linked(names []string, at func(name string) string) []choice {
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

// feedTitle returns the title of a feed if what was found has it, else its ID.
func feedTitle(id string, found api.Found) string {
	for _, item := range found.Items {
		if item.FeedID == id && item.FeedTitle != "" {
			return item.FeedTitle
		}
	}
	return id
}
