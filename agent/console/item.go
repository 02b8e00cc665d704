package console

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// An itemSource has items, and does what persons decide of them. An item that is
// not there is [storage.ErrNotFound].
type itemSource interface {
	Item(ctx context.Context, id string) (api.ItemView, error)
	CallSpam(ctx context.Context, id string, is bool) (api.ItemView, error)
	Duplicates(ctx context.Context, id string) (api.Duplicates, error)
	Related(ctx context.Context, id string, limit int) (api.Related, error)
	Similar(ctx context.Context, id string, limit int) (api.Similar, error)
	LabelItem(ctx context.Context, id string, said api.Correction) (api.ItemView, error)
	DifferItem(ctx context.Context, id string) (api.Duplicates, error)
}

func (c *console) itemRoutes(mux *http.ServeMux) {
	mux.HandleFunc("/items/{id}", c.item)
	mux.HandleFunc("POST /items/{id}/spam", c.callSpam)
	mux.HandleFunc("POST /items/{id}/differ", c.differ)
	mux.HandleFunc("POST /items/{id}/labels", c.label)
}

// An itemPage is one item, whole.
type itemPage struct {
	URL        string
	Title      string
	Lang       string
	Language   string
	Feed       choice
	Author     string
	Original   string // its address on the web, or empty
	Host       string
	Content    template.HTML
	Excerpt    string // what there is if there is no content
	Published  *stamp
	Assumed    string // why Published is only when it was first seen, in words
	Updated    *stamp
	FirstSeen  *stamp
	Revision   int
	Spam       bool
	SpamPath   string // where the form goes that calls it spam, or not
	Categories []choice
	Topics     []choice
	Flags      []string // as in "sponsored"
	Tags       []string
	Comments   string // address of the discussion, or empty
	Source     string // title of the feed that it was taken from
	Enclosures []enclosure
	Why        []string
	StoryWhy   string // why it is in its event
	Duplicate  string // address of the item it is a duplicate of, or empty
	Likeness   string // in what it is a duplicate, in words
	LabelPath  string // where the form goes that says what it is about
	Similar    []itemRow
	DifferPath string // where the form goes that says it is none
	Duplicates []itemRow
	Number     int64    // of these
	Story      *storyOf // nil if it is alone in its own
}

// A storyOf is the story that an item belongs to.
type storyOf struct {
	URL, Title     string
	Items, Sources int64
	Related        []itemRow
}

const (
	fewRelated = 5 // other items of its story that an item's page lists
	fewSimilar = 6 // items of other stories that are about the same
)

// An enclosure is a file that goes with an item.
type enclosure struct {
	URL  string
	Type string
}

var assumptions = map[string]string{
	"missing":    "the feed gives no date, so the time it was first seen stands in for it",
	"unreadable": "the feed's date cannot be read, so the time it was first seen stands in for it",
	"future":     "the feed's date is in the future, so the time it was first seen stands in for it",
}

var likenesses = map[string]string{
	"url":  "It leads to the same address.",
	"text": "It says the same in the same words.",
	"hand": "A person said so.",
}

// likeness says in words what makes an item a duplicate.
func likeness(by, why string) string {
	if words, is := likenesses[by]; is {
		return words
	}
	return sentence(why)
}

// maxID is more than any ID has, in bytes.
const maxID = 64

func itemURL(id string) string { return "/items/" + url.PathEscape(id) }

func (c *console) item(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	item, err := c.source.Item(r.Context(), id)
	if c.failed(w, r, err, "The store", c.noItem) {
		return
	}
	same, err := c.source.Duplicates(r.Context(), id)
	if err != nil {
		c.sorry(w, r, err, "The store")
		return
	}
	related, err := c.source.Related(r.Context(), id, fewRelated)
	if err != nil {
		c.sorry(w, r, err, "The store")
		return
	}
	main := c.view(item)
	main.others(same, related, c.now())
	// Without the index there is nothing like it, but all the rest.
	if like, err := c.source.Similar(r.Context(), id, fewSimilar); err == nil {
		main.like(like.Items, c.now())
	}
	w.Header().Set("Content-Security-Policy", itemPolicy)
	c.render(w, r, http.StatusOK, "item", page{Title: main.Title, Scripts: []string{"item.js"}, Main: main})
}

// callSpam has an item be what the form says, and shows it again.
func (c *console) callSpam(w http.ResponseWriter, r *http.Request) {
	id, is := r.PathValue("id"), formValue(w, r, "spam")
	if len(id) > maxID || is != "yes" && is != "no" {
		c.noItem(w, r)
		return
	}
	_, err := c.source.CallSpam(r.Context(), id, is == "yes")
	if !c.failed(w, r, err, "The store", c.noItem) {
		http.Redirect(w, r, itemURL(id), http.StatusSeeOther)
	}
}

// label has an item be about what the form says, and shows it again.
func (c *console) label(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		c.decided(w, r, false, &api.Refusal{Why: "the form is larger than this page's"}, itemURL(id), "")
		return
	}
	categories, topics := strings.Fields(r.PostFormValue("categories")), strings.Fields(r.PostFormValue("topics"))
	_, err := c.source.LabelItem(r.Context(), id, api.Correction{Categories: &categories, Topics: &topics})
	if errors.Is(err, storage.ErrNotFound) {
		c.noItem(w, r)
		return
	}
	c.decided(w, r, false, err, itemURL(id), itemURL(id))
}

// differ has an item repeat nothing, and shows it again.
func (c *console) differ(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	found, err := c.source.DifferItem(r.Context(), id)
	c.decided(w, r, found.Pending, err, itemURL(id), itemURL(id))
}

func (c *console) noItem(w http.ResponseWriter, r *http.Request) {
	c.say(w, r, http.StatusNotFound, message{
		Heading: "There is no such item",
		Text:    []string{"It may have gone with its feed when that was removed, or the address is mistyped."},
		Links:   []choice{{Label: "Newest items", URL: "/"}},
	})
}

func (c *console) view(item api.ItemView) itemPage {
	now := c.now()
	p := itemPage{
		URL:       itemURL(item.ID),
		Title:     titled(item.Title),
		Lang:      item.Language,
		Language:  language(item.Language),
		Feed:      choice{Label: cmp.Or(item.FeedTitle, noTitle), URL: state{"feed": item.FeedID}.URL()},
		Author:    item.Author,
		Original:  storage.WebURL(item.URL),
		Host:      host(item.URL),
		Content:   content(item.HTML),
		Excerpt:   item.Excerpt,
		Published: stamped(item.Published, now),
		Assumed:   assumptions[item.Assumed],
		Updated:   stamped(item.Updated, now),
		FirstSeen: stamped(item.FirstSeen, now),
		Revision:  item.Revision,
		Spam:      item.Spam,
		SpamPath:  itemURL(item.ID) + "/spam",
		LabelPath: itemURL(item.ID) + "/labels",
		Flags:     item.Flags,
		Tags:      item.Tags,
		Comments:  storage.WebURL(item.Comments),
		Source:    item.Source,
		Why:       item.Why,
		StoryWhy:  item.StoryWhy,
	}
	p.Categories = linked(item.Categories, func(name string) string { return state{"category": name}.URL() })
	p.Topics = linked(item.Topics, func(name string) string { return state{"topic": name}.URL() })
	for _, e := range item.Enclosures {
		if address := storage.WebURL(e.URL); address != "" {
			p.Enclosures = append(p.Enclosures, enclosure{address, e.Type})
		}
	}
	if item.DuplicateOf != "" {
		p.Duplicate, p.Likeness = itemURL(item.DuplicateOf), likeness(item.DuplicateBy, item.DuplicateWhy)
		p.DifferPath = itemURL(item.ID) + "/differ"
	}
	return p
}

// others adds what says the same as the item, and what else its story has.
func (p *itemPage) others(same api.Duplicates, related api.Related, now time.Time) {
	for _, i := range same.Items {
		if row := rowOfItem(i, now); row.URL != p.URL {
			p.Duplicates = append(p.Duplicates, row)
		}
	}
	p.Number = int64(len(p.Duplicates))
	s := related.Story
	if s.Items < 2 {
		return
	}
	p.Story = &storyOf{URL: storyPath(s.ID), Title: titled(s.Title), Items: int64(s.Items), Sources: int64(s.Sources)}
	for _, i := range related.Items {
		row := rowOfItem(i, now)
		row.Why = "" // that is for the story's page to say
		p.Story.Related = append(p.Story.Related, row)
	}
}

// like adds what is about the same, but for what the page has already.
func (p *itemPage) like(found []api.FoundItem, now time.Time) {
	known := map[string]bool{p.URL: true, p.Duplicate: true}
	for _, row := range p.Duplicates {
		known[row.URL] = true
	}
	if p.Story != nil {
		for _, row := range p.Story.Related {
			known[row.URL] = true
		}
	}
	for _, i := range found {
		row := itemRow{
			ID: i.ID, URL: itemURL(i.ID), Title: titled(i.Title), Lang: i.Language, Original: storage.WebURL(i.URL),
			Publisher: cmp.Or(host(i.URL), i.FeedTitle), Seen: stamped(i.Published, now),
		}
		if !known[row.URL] {
			p.Similar = append(p.Similar, row)
		}
	}
}
