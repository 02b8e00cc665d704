package console

import (
	"cmp"
	"slices"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
)

// A group is a filter with its values.
type group struct {
	ID      string
	Label   locale.Text
	Days    *histogram // set if the values are days
	Choices []choice
	More    []choice // values shown on request
}

// maxChoices is the number of values of a filter that are shown initially.
const maxChoices = 8

var (
	times = []choice{
		{Label: locale.T("Any time")}, {Label: locale.T("Past day"), URL: "day"}, {Label: locale.T("Past week"), URL: "week"}, {Label: locale.T("Past month"), URL: "month"},
	}
	uniques = []choice{
		{Label: locale.T("Default")}, {Label: locale.T("Hide from %s %% agreement", "80"), URL: "80"}, {Label: locale.T("Hide from %s %% agreement", "60"), URL: "60"},
		{Label: locale.T("Hide from %s %% agreement", "40"), URL: "40"}, {Label: locale.T("Hide from %s %% agreement", "20"), URL: "20"},
	}
	semantics = []choice{{Label: locale.T("By words")}, {Label: locale.T("By words and meaning"), URL: "50"}, {Label: locale.T("By meaning"), URL: "100"}}
	stories   = []choice{{Label: locale.T("One item each")}, {Label: locale.T("All items"), URL: "all"}}
	shows     = []choice{
		{Label: locale.T("Without duplicates")}, {Label: locale.T("With duplicates"), URL: "duplicates"}, {Label: locale.T("Spam only"), URL: "spam"},
		{Label: locale.T("Starred by rules"), URL: "starred"}, {Label: locale.T("Sponsored"), URL: "sponsored"}, {Label: locale.T("Muted by rules"), URL: "muted"},
	}
)

// groups returns the filters with their values as links.
func (s state) groups(found wire.SearchResults) []group {
	list := []group{s.fixed("time", locale.T("Published"), times)}
	if days := s.days(found.Facets["day"]); days != nil {
		list = append(list, group{ID: "day", Label: locale.T("Days"), Days: days})
	}
	for _, g := range []group{
		{ID: "category", Label: locale.T("Category")}, {ID: "topic", Label: locale.T("Topic")}, {ID: "feed", Label: locale.T("Feed")}, {ID: "language", Label: locale.T("Language")},
	} {
		if g.Choices = s.facet(g.ID, found.Facets[g.ID]); g.Choices == nil {
			continue
		}
		if len(g.Choices) > maxChoices+1 {
			g.Choices, g.More = g.Choices[:maxChoices], g.Choices[maxChoices:]
		}
		list = append(list, g)
	}
	if s["q"] != "" && s["sort"] == "" && found.Semantic {
		list = append(list, s.fixed("semantic", locale.T("Matching"), semantics))
	}
	if s["q"] != "" && s["show"] == "" {
		list = append(list, s.fixed("stories", locale.T("Stories"), stories))
	}
	return append(list, s.fixed("unique", locale.T("Repeated texts"), uniques), s.fixed("show", locale.T("Show"), shows))
}

// fixed returns a filter with fixed values. The URL of a value in values is the parameter's value.
func (s state) fixed(name string, label locale.Text, values []choice) group {
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
		c := choice{Label: locale.Data(cmp.Or(f.Label, f.Value)), URL: s.with(name, f.Value).URL(), Count: f.Count, Key: name + " " + f.Value}
		if name == "language" {
			c.Label = languageName(f.Value)
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
	add := func(name string, words locale.Text) {
		if s[name] != "" {
			list = append(list, choice{Label: words, URL: s.with(name, "").URL()})
		}
	}
	add("time", label(times, s["time"]))
	add("day", day(s["day"]))
	add("category", locale.T("Category: %s", s["category"]))
	add("topic", locale.T("Topic: %s", s["topic"]))
	add("feed", locale.T("Feed: %s", feedTitle(s["feed"], found)))
	add("language", locale.T("Language: %s", languageName(s["language"])))
	add("unique", label(uniques, s["unique"]))
	add("semantic", label(semantics, s["semantic"]))
	add("show", label(shows, s["show"]))
	return list
}

// Noun returns the word behind the number of items.
func (c choice) Noun() locale.Text { return locale.N(c.Count, " item", " items") }

// linksOf returns names as links; at returns the URL of a name.
func linksOf(names []string, at func(name string) string) []choice {
	var list []choice
	for _, name := range names {
		list = append(list, choice{Label: locale.Data(name), URL: at(name)})
	}
	return list
}

func label(values []choice, value string) locale.Text {
	for _, v := range values {
		if v.URL == value {
			return v.Label
		}
	}
	return locale.Data(value)
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
	Number        locale.Text // of Days
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
	h.Number = locale.Plural(int64(len(h.Days)), "day")
	return h
}

// day formats a day: "1 Mar 2026".
func day(iso string) locale.Text {
	at, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return locale.Data(iso)
	}
	return locale.Date(at, "2 Jan 2006")
}
