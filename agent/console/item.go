package console

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"net/url"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// An itemPage is one item, whole.
type itemPage struct {
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
	Duplicate  string // address of the item it is a duplicate of, or empty
	Likeness   string // in what it is a duplicate, in words
}

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
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.noItem(w, r)
		return
	case err != nil:
		c.sorry(w, r, err, "The store", nil)
		return
	}
	main := c.view(item)
	w.Header().Set("Content-Security-Policy", itemPolicy)
	c.render(w, r, http.StatusOK, "item", page{Title: main.Title, Main: main})
}

// callSpam has an item be what the form says, and shows it again.
func (c *console) callSpam(w http.ResponseWriter, r *http.Request) {
	id, is := r.PathValue("id"), formValue(w, r, "spam")
	if len(id) > maxID || is != "yes" && is != "no" {
		c.noItem(w, r)
		return
	}
	_, err := c.source.CallSpam(r.Context(), id, is == "yes")
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.noItem(w, r)
	case err != nil:
		c.sorry(w, r, err, "The store", nil)
	default:
		http.Redirect(w, r, itemURL(id), http.StatusSeeOther)
	}
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
		Title:     cmp.Or(item.Title, "Untitled"),
		Lang:      item.Language,
		Language:  language(item.Language),
		Feed:      choice{Label: cmp.Or(item.FeedTitle, noTitle), URL: state{"feed": item.FeedID}.URL()},
		Author:    item.Author,
		Original:  webURL(item.URL),
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
		Flags:     item.Flags,
		Tags:      item.Tags,
		Comments:  webURL(item.Comments),
		Source:    item.Source,
		Why:       item.Why,
	}
	for _, name := range item.Categories {
		p.Categories = append(p.Categories, choice{Label: name, URL: state{"category": name}.URL()})
	}
	for _, name := range item.Topics {
		p.Topics = append(p.Topics, choice{Label: name, URL: state{"topic": name}.URL()})
	}
	for _, e := range item.Enclosures {
		if address := webURL(e.URL); address != "" {
			p.Enclosures = append(p.Enclosures, enclosure{address, e.Type})
		}
	}
	if item.DuplicateOf != "" {
		p.Duplicate, p.Likeness = itemURL(item.DuplicateOf), likenesses[item.DuplicateBy]
	}
	return p
}
