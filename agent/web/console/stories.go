package console

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func (c storyPages) routes(mux *http.ServeMux) {
	mux.HandleFunc(storiesPath, c.stories)
	mux.HandleFunc(storiesPath+"/{id}", c.story)
	mux.HandleFunc("POST "+storiesPath+"/{id}/split", c.split)
	mux.HandleFunc("POST "+storiesPath+"/{id}/join", c.join)
}

const storiesPath = "/stories"

// storyPath returns the path of a story's page.
func storyPath(id string) string { return storiesPath + "/" + url.PathEscape(id) }

// storyParams are the URL parameters of the list of stories.
var storyParams = []param{
	{name: "language", max: 8, values: subjects.Languages},
	{name: "category", max: 64},
	{name: "topic", max: 64},
	{name: "time", max: 8, values: []string{"day", "week", "month"}},
	{name: "sort", max: 8, values: []string{"rank", "newest", "longest"}, initial: "rank"},
	{name: "cursor", max: 4096},
}

// A listing is the state of a list of stories, by URL parameter.
type listing map[string]string

// with returns the listing with a changed value, on its first page.
func (l listing) with(name, value string) listing {
	next := maps.Clone(l)
	delete(next, "cursor")
	if value == "" {
		delete(next, name)
	} else {
		next[name] = value
	}
	return next
}

// URL returns the URL of the listing's page.
func (l listing) URL() string { return addressOf(storiesPath, l) }

// A storiesPage lists stories.
type storiesPage struct {
	pager
	Sorts   []choice
	Chips   []choice // active filters; the URL removes the filter
	Clear   string   // URL without filters
	Groups  []group
	Follow  *follow
	Bursts  []choice    // categories and topics with more items than usual
	Hidden  locale.Text // number of stories of the page that the client mutes, in words; nil if there are none
	Mutes   string      // URL of the list of mutes
	Stories []storyCard
	Mesh    *wire.Status // nil if the status is not available
}

// A storyCard is a story in a list.
type storyCard struct {
	URL        string
	Title      locale.Text
	Lang       string // language code, or empty
	Original   string // web URL of the headline's item, or empty
	Host       string
	Lead       string
	Publishers string
	Items      int64
	Sources    int64
	First      *locale.Timestamp
	Last       *locale.Timestamp
	Categories []choice
	Burst      bool
	Spark      *spark      // nil if no activity is known
	Reason     locale.Text // reason why the newest item belongs to the story; may be nil
}

func (c storyPages) stories(w http.ResponseWriter, r *http.Request) {
	values, err := readParams(r.URL.RawQuery, storyParams)
	if err != nil {
		c.badList(w, r, err)
		return
	}
	l, now := listing(values), c.Now()
	found, err := c.Stories.List(r.Context(), l.search(now))
	switch {
	case errors.Is(err, storage.ErrBadCursor):
		c.badList(w, r, err)
		return
	case err != nil:
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	filter, err := c.Front.Filter(r.Context())
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	all := len(found.Stories)
	found.Stories = slices.DeleteFunc(found.Stories, func(s wire.StoryBrief) bool {
		return filter.HidesStory(s.Story) || filter.HidesPublisher(s.URL, s.FeedID)
	})
	main := l.show(found, now)
	main.Mutes = FollowsPath
	if n := int64(all - len(found.Stories)); n > 0 {
		main.Hidden = locale.N(n, "%d story of this page hidden by", "%d stories of this page hidden by")
	}
	// bursts are optional
	if bursts, err := c.Stories.Bursts(r.Context(), wire.ListBurstsRequest{Limit: maxBurstsQueried}); err == nil && len(l) == 0 {
		main.Bursts = l.bursts(bursts)
	}
	if status, err := c.status(r.Context()); err == nil {
		main.Mesh = &status
	}
	c.render(w, r, http.StatusOK, "stories", page{
		Title: locale.T("Stories"), Here: storiesPath, Feeds: main.Follow.links(locale.T("Stories")), Main: main,
	})
}

// search returns the API search of the listing. Relative times are truncated to the hour: a cursor is valid
// for one list only.
func (l listing) search(now time.Time) wire.StorySearch {
	q := wire.StorySearch{
		Language: l["language"], Category: l["category"], Topic: l["topic"], Sort: l["sort"], Sources: 2, Limit: pageSize, Cursor: l["cursor"],
	}
	if days := daysOf[l["time"]]; days > 0 {
		q.After = now.Truncate(time.Hour).AddDate(0, 0, -days)
	}
	return q
}

const (
	maxBurstsQueried = 100 // requested
	maxBurstsShown   = 6   // shown
)

// bursts returns the categories and topics with a burst.
func (l listing) bursts(found wire.Bursts) (list []choice) {
	for _, b := range found.Bursts {
		if (b.Of == "category" || b.Of == "topic") && len(list) < maxBurstsShown {
			list = append(list, choice{Label: locale.Data(b.Name), URL: l.with(b.Of, b.Name).URL()})
		}
	}
	return list
}

// badList responds to an invalid list of stories.
func (c storyPages) badList(w http.ResponseWriter, r *http.Request, wrong error) {
	c.badAddress(w, r, locale.T("Invalid list of stories"), wrong, choice{Label: locale.T("All stories"), URL: storiesPath})
}

// show returns the page of the stories found.
func (l listing) show(found wire.StoryPage, now time.Time) storiesPage {
	p := storiesPage{
		pager: pager{More: locale.T("More stories")},
		Sorts: []choice{
			{Label: locale.T("Top"), URL: l.with("sort", "").URL(), Active: l["sort"] == ""},
			{Label: locale.T("Newest"), URL: l.with("sort", "newest").URL(), Active: l["sort"] == "newest"},
			{Label: locale.T("Longest"), URL: l.with("sort", "longest").URL(), Active: l["sort"] == "longest"},
		},
		Chips: l.chips(), Clear: l.with("category", "").with("topic", "").with("language", "").with("time", "").URL(), Groups: l.groups(found), Follow: l.follow(),
	}
	for _, s := range found.Stories {
		p.Stories = append(p.Stories, l.card(s, now))
	}
	if l["cursor"] != "" {
		p.First = l.with("cursor", "").URL()
	}
	if found.Next != "" {
		p.Next = l.with("cursor", found.Next).URL()
	}
	return p
}

// card returns a story as a list entry.
func (l listing) card(s wire.StoryBrief, now time.Time) storyCard {
	card := storyCard{
		URL: storyPath(s.ID), Title: TitleOrDefault(s.Title), Lang: langOf(s.Partition), Original: storage.WebURL(s.URL), Host: host(s.URL),
		Publishers: strings.Join(s.Publishers, ", "), Items: int64(s.Items), Sources: int64(s.Sources),
		First: locale.NewTimestamp(s.FirstSeen, now), Last: locale.NewTimestamp(s.LastSeen, now), Burst: s.Burst, Spark: sparkOf(s.Activity, now), Reason: locale.Composed(s.Why),
	}
	if len(s.Summary) > 0 {
		card.Lead = s.Summary[0].Text
	}
	card.Categories = linksOf(s.Categories, func(name string) string { return l.with("category", name).URL() })
	return card
}

// langOf returns the language code of a partition, empty if it contains several languages.
func langOf(partition string) string {
	if partition == subjects.OtherLanguages {
		return ""
	}
	return partition
}

// languageLabel returns the label of a language partition.
func languageLabel(partition string) locale.Text {
	if partition == subjects.OtherLanguages {
		return locale.T("Other languages")
	}
	return languageName(partition)
}

// chips returns the active filters as labels.
func (l listing) chips() (list []choice) {
	add := func(name string, words locale.Text) {
		if l[name] != "" {
			list = append(list, choice{Label: words, URL: l.with(name, "").URL()})
		}
	}
	add("time", label(times, l["time"]))
	add("category", locale.T("Category: %s", l["category"]))
	add("topic", locale.T("Topic: %s", l["topic"]))
	add("language", locale.T("Language: %s", languageLabel(l["language"])))
	return list
}

// groups returns the filters: all languages, and the categories and topics of the stories on the page.
func (l listing) groups(found wire.StoryPage) []group {
	categories, topics := map[string]int{}, map[string]int{}
	for _, s := range found.Stories {
		for _, name := range s.Categories {
			categories[name]++
		}
		for _, name := range s.Topics {
			topics[name]++
		}
	}
	languages := group{ID: "language", Label: locale.T("Language")}
	for _, partition := range subjects.Languages {
		languages.Choices = append(languages.Choices, l.choice("language", partition, languageLabel(partition)))
	}
	when := group{ID: "time", Label: locale.T("New items within")}
	for _, t := range times {
		when.Choices = append(when.Choices, choice{Label: t.Label, URL: l.with("time", t.URL).URL(), Active: l["time"] == t.URL})
	}
	groups := []group{when}
	for _, g := range []struct {
		name   string
		label  locale.Text
		counts map[string]int
	}{{"category", locale.T("Category"), categories}, {"topic", locale.T("Topic"), topics}} {
		if len(g.counts) > 0 {
			groups = append(groups, l.group(g.name, g.label, g.counts))
		}
	}
	return append(groups, languages)
}

// group returns a filter with the occurring values, the most frequent first.
func (l listing) group(name string, label locale.Text, counts map[string]int) group {
	g := group{ID: name, Label: label}
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for _, value := range names {
		g.Choices = append(g.Choices, l.choice(name, value, locale.Data(value)))
	}
	if len(g.Choices) > maxChoices+1 {
		g.Choices, g.More = g.Choices[:maxChoices], g.Choices[maxChoices:]
	}
	return g
}

// choice returns a value of a filter. The URL of the active value removes the filter.
func (l listing) choice(name, value string, label locale.Text) choice {
	if l[name] == value {
		return choice{Label: label, URL: l.with(name, "").URL(), Active: true}
	}
	return choice{Label: label, URL: l.with(name, value).URL()}
}

// TitleOrDefault returns the title, or "Untitled" if it is empty.
func TitleOrDefault(title string) locale.Text { return locale.DataOr(title, locale.T("Untitled")) }
