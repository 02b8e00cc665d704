package console

import (
	"cmp"
	"slices"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/language"
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
	uniques = []choice{
		{Label: "Default"}, {Label: "Hide from 80 % agreement", URL: "80"}, {Label: "Hide from 60 % agreement", URL: "60"}, {Label: "Hide from 40 % agreement", URL: "40"},
		{Label: "Hide from 20 % agreement", URL: "20"},
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
	return append(list, s.fixed("unique", "Repeated texts", uniques), s.fixed("show", "Show", shows))
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
			c.Label = language.Name(f.Value)
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
	add("language", "Language: "+language.Name(s["language"]))
	add("unique", label(uniques, s["unique"]))
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

// A histogram is a bar chart of items by day, the latest last. Days lists the days, the latest first.
type histogram struct {
	Width, Height int
	Bars          []dayBar
	Days          []choice
}

type dayBar struct {
	choice
	X, Y, Width, Height int
}

const (
	dayHeight = 36
	dayWidth  = 6
	dayGap    = 1
	maxDays   = 31
)

// days returns the histogram of the results, or nil if there are fewer than two days and no day is selected.
func (s state) days(facet []wire.Facet) *histogram {
	counts := map[string]int64{}
	var last, first time.Time
	for _, f := range facet {
		at, err := time.Parse(time.DateOnly, f.Value)
		if err != nil {
			continue
		}
		counts[f.Value] = f.Count
		if last.IsZero() || at.After(last) {
			last = at
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if len(counts) < 2 && s["day"] == "" || len(counts) == 0 {
		return nil
	}
	if earliest := last.AddDate(0, 0, 1-maxDays); first.Before(earliest) {
		first = earliest
	}
	h := &histogram{Height: dayHeight}
	highest := int64(1)
	for _, n := range counts {
		highest = max(highest, n)
	}
	for at := first; !at.After(last); at = at.AddDate(0, 0, 1) {
		name := at.Format(time.DateOnly)
		c := choice{Label: day(name), Count: counts[name], URL: s.with("day", name).URL(), Active: s["day"] == name, Key: "day " + name}
		if c.Active {
			c.URL = s.with("day", "").URL()
		}
		if c.Count > 0 { // a bar is at least 2 pixels high
			height := max(2, int(c.Count*dayHeight/highest))
			h.Bars = append(h.Bars, dayBar{choice: c, X: h.Width, Y: dayHeight - height, Width: dayWidth, Height: height})
			h.Days = append(h.Days, c)
		}
		h.Width += dayWidth + dayGap
	}
	h.Width -= dayGap
	slices.Reverse(h.Days)
	return h
}

// day formats a day: "1 Mar 2026".
func day(iso string) string {
	at, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return iso
	}
	return at.Format("2 Jan 2006")
}
