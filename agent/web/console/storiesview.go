package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A storyPage shows one story.
type storyPage struct {
	storyCard
	Notes      []locale.Text
	Summary    []quoteRow
	Publishers []publisherRow
	More       int64 // number of publishers that are not listed
	Topics     []choice
	Language   locale.Text
	Clicks     int64
	ID         string
	Events     []eventRow
	Across     []acrossRow
	Like       []choice // similar stories; Key is the story ID
	Followed   bool
	Muted      bool
	FollowPath string // action of the form that follows or mutes the story
	ViewEditor string // URL of the editor with a view of the story
	SplitPath  string // action of the forms that split the story
	JoinPath   string
}

// A quoteRow is a sentence of the summary with its source.
type quoteRow struct {
	Text      string
	URL       string // of the item's page
	Publisher string
}

// An acrossRow is a story in another language about the same happening.
type acrossRow struct {
	URL      string
	Title    locale.Text
	Lang     string      // language code
	Language locale.Text // its name
	Items    int64
	Last     *locale.Timestamp
	Reason   locale.Text
}

type publisherRow struct {
	Name  string
	Items int64
}

// An eventRow is an event with its items.
type eventRow struct {
	ID       string
	Heading  locale.Text
	First    *locale.Timestamp
	Items    []itemRow
	MaySplit bool // the story has other events
}

// Folded reports whether the event has reasons or forms that the page folds.
func (e eventRow) Folded() bool {
	return e.MaySplit || slices.ContainsFunc(e.Items, func(i itemRow) bool { return i.Reason != nil || i.MaySplit })
}

// An itemRow is an item of an event.
type itemRow struct {
	ID         string
	URL        string // of the item's page
	Title      locale.Text
	Lang       string
	Original   string // web URL of the item, or empty
	Publisher  string
	Feed       string
	At         *locale.Timestamp // when it was published, or first seen if FirstSeen
	FirstSeen  bool
	Reason     locale.Text // reason for its event, or why it is a duplicate; may be nil
	Spam       bool
	Duplicates []itemRow
	Number     int64 // of duplicates
	MaySplit   bool
	DifferPath string // action of the form that marks it as no duplicate; empty if it is no duplicate
}

// maxPublishers bounds the publishers of a story that are listed.
const maxPublishers = 12

func (c storyPages) story(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noStory(w, r)
		return
	}
	found, err := c.Stories.Get(r.Context(), wire.ByID{ID: id})
	if c.handleError(w, r, err, locale.T("The store"), c.noStory) {
		return
	}
	main := viewStory(found, c.Now())
	follows, err := c.Front.Follows(r.Context())
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	for _, f := range follows {
		if f.Kind == storage.FollowStory && f.Value == id {
			main.Followed, main.Muted = !f.Mute, f.Mute
		}
	}
	// Without the index the page has no similar stories.
	if like, err := c.Search.Similar(r.Context(), wire.ListSimilarRequest{ID: found.Headline, Limit: maxSimilar}); err == nil {
		for _, i := range like.Items {
			if i.StoryID != "" && i.StoryID != id {
				main.Like = append(main.Like, choice{Label: TitleOrDefault(i.Title), URL: storyPath(i.StoryID), Key: i.StoryID})
			}
		}
	}
	c.render(w, r, http.StatusOK, "story", page{Title: main.Title, Here: storiesPath, Main: main})
}

func (c storyPages) noStory(w http.ResponseWriter, r *http.Request) {
	c.showMessage(w, r, http.StatusNotFound, message{
		Heading: locale.T("Story not found"),
		Text:    []locale.Text{locale.T("It may have been joined with another story, its feeds may have been removed, or the URL may be mistyped.")},
		Links:   []choice{{Label: locale.T("All stories"), URL: storiesPath}},
	})
}

func viewStory(s wire.StoryView, now time.Time) storyPage {
	p := storyPage{
		storyCard: listing{}.card(wire.StoryBrief{Story: s.Story, Activity: s.Activity}, now),
		Notes:     composed(s.Notes), Language: languageLabel(s.Partition), Clicks: int64(s.Clicks), ID: s.ID,
		FollowPath: FollowsPath, ViewEditor: viewEditor("story-"+s.ID[:min(8, len(s.ID))], s.Title, url.Values{"q": {"story:" + s.ID}}), SplitPath: storyPath(s.ID) + "/split", JoinPath: storyPath(s.ID) + "/join",
	}
	for _, q := range s.Summary {
		p.Summary = append(p.Summary, quoteRow{q.Text, itemURL(q.Item.ID), q.Item.Publisher})
		if q.Item.ID == s.Headline {
			p.Original, p.Host = storage.WebURL(q.Item.URL), host(q.Item.URL)
		}
	}
	p.Topics = linksOf(s.Topics, func(name string) string { return listing{"topic": name}.URL() })
	for _, publisher := range s.Publishers[:min(maxPublishers, len(s.Publishers))] {
		p.Publishers = append(p.Publishers, publisherRow{publisher.Name, int64(publisher.Items)})
	}
	p.More = int64(len(s.Publishers) - len(p.Publishers))
	for _, a := range s.Across {
		p.Across = append(p.Across, acrossRow{
			storyPath(a.ID), TitleOrDefault(a.Title), a.Language, languageLabel(a.Language), int64(a.Items), locale.NewTimestamp(a.LastSeen, now), locale.Composed(a.Why),
		})
	}
	for _, e := range s.Timeline {
		p.Events = append(p.Events, eventOf(e, s, now))
	}
	return p
}

func eventOf(e wire.StoryEvent, s wire.StoryView, now time.Time) eventRow {
	row := eventRow{ID: e.ID, Heading: locale.Data(e.Title), First: locale.NewTimestamp(e.FirstSeen, now), MaySplit: s.Story.Events > 1}
	if len(s.Timeline) == 1 {
		row.Heading = locale.T("Items")
	}
	for _, i := range e.Items {
		item := rowOfItem(i.ItemBrief, now)
		item.MaySplit = s.Story.Items > 1 && len(i.Duplicates) == 0
		item.Number = int64(len(i.Duplicates))
		for _, d := range i.Duplicates {
			item.Duplicates = append(item.Duplicates, rowOfItem(d, now))
		}
		row.Items = append(row.Items, item)
	}
	return row
}

func rowOfItem(i wire.ItemBrief, now time.Time) itemRow {
	at := i.Published
	if at.IsZero() {
		at = i.Seen
	}
	row := itemRow{
		ID: i.ID, URL: itemURL(i.ID), Title: TitleOrDefault(i.Title), Lang: i.Language, Original: storage.WebURL(i.URL),
		Publisher: i.Publisher, Feed: i.FeedTitle, At: locale.NewTimestamp(at, now), FirstSeen: i.Published.IsZero(), Spam: i.Spam,
	}
	if i.StoryWhy != "" {
		row.Reason = locale.T("Reason: %s.", locale.Composed(i.StoryWhy))
	}
	if i.DuplicateOf != "" {
		row.Reason, row.DifferPath = duplicateReason(i.DuplicateBy, i.DuplicateWhy), itemURL(i.ID)+"/differ"
	}
	return row
}

// split splits an event or an item from a story and redirects to the remaining story.
func (c storyPages) split(w http.ResponseWriter, r *http.Request) {
	what := wire.SplitRequest{EventID: formValue(w, r, "event"), ItemID: formValue(w, r, "item")}
	id := r.PathValue("id")
	if (what.EventID == "") == (what.ItemID == "") || max(len(id), len(what.EventID), len(what.ItemID)) > maxID {
		c.noStory(w, r)
		return
	}
	story, err := c.StoryEdits.Split(r.Context(), wire.SplitStoryRequest{ID: id, Body: what})
	c.redirectOrExplain(w, r, story.Pending, err, storyPath(id), storyPath(id))
}

// join joins two stories and redirects to the result.
func (c storyPages) join(w http.ResponseWriter, r *http.Request) {
	id, other := r.PathValue("id"), storyIDOf(formValue(w, r, "story"))
	if max(len(id), len(other)) > maxID || other == "" {
		c.noStory(w, r)
		return
	}
	story, err := c.StoryEdits.Join(r.Context(), wire.JoinStoriesRequest{ID: id, Body: wire.JoinRequest{StoryID: other}})
	c.redirectOrExplain(w, r, story.Pending, err, storyPath(id), storyPath(story.ID))
}

// storyIDOf returns the ID in the URL of a story's page, or the input if it is not a URL.
func storyIDOf(address string) string {
	if _, after, is := strings.Cut(address, storiesPath+"/"); is {
		address = after
	}
	if end := strings.IndexAny(address, "/?#"); end >= 0 {
		address = address[:end]
	}
	if id, err := url.PathUnescape(address); err == nil {
		return id
	}
	return address
}
