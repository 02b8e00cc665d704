package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// A storyPage is one story, whole.
type storyPage struct {
	storyCard
	Notes      []string
	Summary    []quoteRow
	Publishers []publisherRow
	More       int64 // publishers that are not listed
	Topics     []choice
	Language   string
	Clicks     int64
	ID         string
	Events     []eventRow
	Like       []choice // other stories about the same; the Key is their ID
	SplitPath  string   // where the forms go that split it
	JoinPath   string
}

// A quoteRow is a sentence and where it is from.
type quoteRow struct {
	Text      string
	URL       string // of the item's page
	Publisher string
}

type publisherRow struct {
	Name  string
	Items int64
}

// An eventRow is what happened, with the items that tell of it.
type eventRow struct {
	ID       string
	Heading  string
	First    *stamp
	Items    []itemRow
	MaySplit bool // there is something to split it from
}

// An itemRow is an item of an event.
type itemRow struct {
	ID         string
	URL        string // of its page
	Title      string
	Lang       string
	Original   string // its address on the web, or empty
	Publisher  string
	Feed       string
	Seen       *stamp
	Why        string // it is in the event, or repeats what it repeats
	Spam       bool
	Duplicates []itemRow
	Number     int64 // of these
	MaySplit   bool
	DifferPath string // where the form goes that says it repeats nothing; empty if it repeats nothing
}

// fewPublishers is how many publishers of a story are listed.
const fewPublishers = 12

func (c *console) story(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noStory(w, r)
		return
	}
	found, err := c.source.Story(r.Context(), id)
	if c.failed(w, r, err, "The store", c.noStory) {
		return
	}
	main := viewStory(found, c.now())
	// Without the index there is nothing like it, but all the rest.
	if like, err := c.source.Similar(r.Context(), found.Headline, fewSimilar); err == nil {
		for _, i := range like.Items {
			if i.StoryID != "" && i.StoryID != id {
				main.Like = append(main.Like, choice{Label: titled(i.Title), URL: storyPath(i.StoryID), Key: i.StoryID})
			}
		}
	}
	c.render(w, r, http.StatusOK, "story", page{Title: main.Title, Here: storiesPath, Main: main})
}

func (c *console) noStory(w http.ResponseWriter, r *http.Request) {
	c.say(w, r, http.StatusNotFound, message{
		Heading: "There is no such story",
		Text:    []string{"It may have become a part of another one, its items may have gone with their feeds, or the address is mistyped."},
		Links:   []choice{{Label: "All stories", URL: storiesPath}},
	})
}

func viewStory(s api.StoryView, now time.Time) storyPage {
	p := storyPage{
		storyCard: listing{}.card(api.StoryBrief{Story: s.Story, Activity: s.Activity}, now),
		Notes:     s.Notes, Language: laneName(s.Lane), Clicks: int64(s.Clicks), ID: s.ID,
		SplitPath: storyPath(s.ID) + "/split", JoinPath: storyPath(s.ID) + "/join",
	}
	for _, q := range s.Summary {
		p.Summary = append(p.Summary, quoteRow{q.Text, itemURL(q.Item.ID), q.Item.Publisher})
		if q.Item.ID == s.Headline {
			p.Original, p.Host = storage.WebURL(q.Item.URL), host(q.Item.URL)
		}
	}
	p.Topics = linked(s.Topics, func(name string) string { return listing{"topic": name}.URL() })
	for _, publisher := range s.Publishers[:min(fewPublishers, len(s.Publishers))] {
		p.Publishers = append(p.Publishers, publisherRow{publisher.Name, int64(publisher.Items)})
	}
	p.More = int64(len(s.Publishers) - len(p.Publishers))
	for i, e := range s.Timeline {
		p.Events = append(p.Events, eventOf(i+1, e, s, now))
	}
	return p
}

func eventOf(number int, e api.StoryEvent, s api.StoryView, now time.Time) eventRow {
	row := eventRow{ID: e.ID, Heading: fmt.Sprintf("Event %d", number), First: stamped(e.FirstSeen, now), MaySplit: s.Story.Events > 1}
	if len(s.Timeline) == 1 {
		row.Heading = "Its items"
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

func rowOfItem(i api.ItemBrief, now time.Time) itemRow {
	row := itemRow{
		ID: i.ID, URL: itemURL(i.ID), Title: titled(i.Title), Lang: i.Language, Original: storage.WebURL(i.URL),
		Publisher: i.Publisher, Feed: i.FeedTitle, Seen: stamped(i.Seen, now), Spam: i.Spam,
	}
	if i.StoryWhy != "" {
		row.Why = "Why here: " + i.StoryWhy + "."
	}
	if i.DuplicateOf != "" {
		row.Why, row.DifferPath = likeness(i.DuplicateBy, i.DuplicateWhy), itemURL(i.ID)+"/differ"
	}
	return row
}

// split takes an event or an item out of a story, and shows what is left.
func (c *console) split(w http.ResponseWriter, r *http.Request) {
	what := api.Splitting{EventID: formValue(w, r, "event"), ItemID: formValue(w, r, "item")}
	id := r.PathValue("id")
	if (what.EventID == "") == (what.ItemID == "") || max(len(id), len(what.EventID), len(what.ItemID)) > maxID {
		c.noStory(w, r)
		return
	}
	story, err := c.source.SplitStory(r.Context(), id, what)
	c.decided(w, r, story.Pending, err, storyPath(id), storyPath(id))
}

// join makes two stories one, and shows that.
func (c *console) join(w http.ResponseWriter, r *http.Request) {
	id, other := r.PathValue("id"), storyIDOf(formValue(w, r, "story"))
	if max(len(id), len(other)) > maxID || other == "" {
		c.noStory(w, r)
		return
	}
	story, err := c.source.JoinStories(r.Context(), id, other)
	c.decided(w, r, story.Pending, err, storyPath(id), storyPath(story.ID))
}

// storyIDOf returns the ID in the address of a story's page, or what was given if it
// is no address.
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

// decided answers for what a person decided: with the page that shows it, or with
// why it is not done, and the way back.
func (c *console) decided(w http.ResponseWriter, r *http.Request, pending bool, err error, back, next string) {
	var refusal *api.Refusal
	m := message{Links: []choice{{Label: "Back", URL: back}}}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		m.Heading, m.Text = "It is no longer there", []string{"What this was about has gone, or moved to another story."}
		c.say(w, r, http.StatusNotFound, m)
	case errors.As(err, &refusal):
		m.Heading, m.Text = "This cannot be done", []string{sentence(refusal.Why)}
		c.say(w, r, http.StatusConflict, m)
	case errors.Is(err, api.ErrOlderAgent):
		m.Heading, m.Text = "This cannot be done now", []string{sentence(err.Error())}
		c.say(w, r, http.StatusServiceUnavailable, m)
	case err != nil:
		c.sorry(w, r, err, "The mesh")
	case pending:
		m.Heading, m.Text = "It will be done", []string{"It is accepted, and will be done as soon as the cluster actor of its language comes to it."}
		c.say(w, r, http.StatusAccepted, m)
	default:
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

// sentence returns words as a sentence.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}
