package console

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/console/play"
	"feedmesh/agent/web/console/sharing"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

func (c itemPages) routes(mux *http.ServeMux) {
	mux.HandleFunc("/items/{id}", c.item)
	mux.HandleFunc("GET /items/{id}/pictures/{name}/{size}", c.picture)
	mux.HandleFunc("POST "+readPath+"/full-text", c.fullText) // below readPath, whose forms take the scope read
	mux.HandleFunc("GET /items/{id}/play/{n}", c.play)
	mux.HandleFunc("POST /items/{id}/spam", c.markSpam)
	mux.HandleFunc("POST /items/{id}/differ", c.differ)
	mux.HandleFunc("POST /items/{id}/labels", c.label)
}

// An itemPage shows one item.
type itemPage struct {
	URL             string
	Title           locale.Text
	Lang            string
	Language        locale.Text
	Feed            choice
	Author          string
	Original        string // web URL of the item, or empty
	Host            string
	FullText        *textForm      // nil: the item has a long text, or links to no page
	Share           []sharing.Link // none: the item links to no page
	Content         template.HTML
	Excerpt         string // shown if there is no content
	Published       *locale.Timestamp
	Assumed         locale.Text // explanation of the date if Published is the time first seen, or nil
	Updated         *locale.Timestamp
	FirstSeen       *locale.Timestamp
	Revision        int
	Spam            bool
	SpamPath        string // action of the form that marks the item as spam or not spam
	Categories      []choice
	Topics          []choice
	Flags           []locale.Text // such as "sponsored"
	Tags            []string
	Comments        string // URL of the discussion, or empty
	Source          string // title of the original feed
	Enclosures      []enclosure
	Reasons         []locale.Text
	StoryReason     locale.Text // reason for its event
	Duplicate       string      // URL of the item of which it is a duplicate, or empty
	DuplicateReason locale.Text // reason why it is a duplicate
	LabelPath       string      // action of the form that corrects the labels
	Annotation      annotationForm
	Similar         []itemRow
	DifferPath      string // action of the form that marks it as no duplicate
	Duplicates      []itemRow
	Number          int64    // of duplicates
	Story           *storyOf // nil if the story has no other items
}

// A textForm is the form that fetches the full text of an item.
type textForm struct{ ID, Back string }

// A storyOf is the story of an item.
type storyOf struct {
	URL            string
	Title          locale.Text
	Items, Sources int64
	Related        []itemRow
}

const (
	maxRelated = 5 // other items of the story on an item's page
	maxSimilar = 6 // similar items of other stories

	maxSummary = 3000 // bytes of a text that may be a summary only
)

// An enclosure is a file attached to an item.
type enclosure struct {
	URL  string
	Name string
	Type string
	Play string // URL of the page that plays it; empty: none can
}

var assumptions = map[string]locale.Text{
	"missing":    locale.T("the feed gives no date"),
	"unreadable": locale.T("the feed's date cannot be read"),
	"future":     locale.T("the feed's date is in the future"),
}

// assumption explains the date of an item that states none, or is nil.
func assumption(i storage.Item) locale.Text {
	switch why := assumptions[i.Assumed]; {
	case why == nil:
		return nil
	case i.IsBackdated():
		return locale.T("%s, and its first document may list old items, so it is not listed as new", why)
	default:
		return locale.T("%s, so the time first seen is used", why)
	}
}

// statedOrSeen returns the publication date of an item, or the time first seen if its age is unknown.
func statedOrSeen(i storage.Item) time.Time {
	if i.IsBackdated() {
		return i.FirstSeen
	}
	return i.Published
}

var duplicateReasons = map[string]locale.Text{
	"url":  locale.T("Same URL."),
	"text": locale.T("Same text."),
	"hand": locale.T("Marked by a person."),
}

// duplicateReason returns a sentence that explains why an item is a duplicate; nil without a reason.
func duplicateReason(by, why string) locale.Text {
	if words, is := duplicateReasons[by]; is {
		return words
	}
	return locale.Sentence(locale.Join("; ", composed(strings.Split(why, "; "))...))
}

// composed returns texts of services and agents, without empty ones.
func composed(english []string) []locale.Text {
	var texts []locale.Text
	for _, text := range english {
		if t := locale.Composed(text); t != nil {
			texts = append(texts, t)
		}
	}
	return texts
}

// maxID bounds the length of IDs, in bytes.
const maxID = 64

func itemURL(id string) string { return "/items/" + url.PathEscape(id) }

func (c itemPages) item(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	item, err := c.Items.Get(r.Context(), wire.ByID{ID: id})
	if c.handleError(w, r, err, locale.T("The store"), c.noItem) {
		return
	}
	same, err := c.Duplicates.List(r.Context(), wire.ByID{ID: id})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	related, err := c.Stories.Related(r.Context(), wire.ListRelatedRequest{ID: id, Limit: maxRelated})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	main := c.view(r, item)
	main.Annotation, err = readingPages(c).annotation(r, id, main.URL)
	if c.handleError(w, r, err, locale.T("The store"), c.noItem) {
		return
	}
	main.addShare(r)
	main.addRelated(same, related, c.Now())
	// Without the index the page has no similar items.
	if like, err := c.Search.Similar(r.Context(), wire.ListSimilarRequest{ID: id, Limit: maxSimilar}); err == nil {
		main.addSimilar(like.Items, c.Now())
	}
	c.render(w, r, http.StatusOK, "item", page{Title: main.Title, Scripts: []string{"item.js"}, Main: main})
}

// markSpam marks an item as spam or not spam, and redirects to its page.
func (c itemPages) markSpam(w http.ResponseWriter, r *http.Request) {
	id, is := r.PathValue("id"), formValue(w, r, "spam")
	if len(id) > maxID || is != "yes" && is != "no" {
		c.noItem(w, r)
		return
	}
	err := c.setSpam(r.Context(), id, is == "yes")
	if !c.handleError(w, r, err, locale.T("The store"), c.noItem) {
		http.Redirect(w, r, itemURL(id), http.StatusSeeOther)
	}
}

// label corrects the labels of an item and redirects to its page.
func (c itemPages) label(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		c.redirectOrExplain(w, r, false, &service.Error{Kind: service.KindConflict, Message: "the form is too large"}, itemURL(id), "")
		return
	}
	categories, topics := strings.Fields(r.PostFormValue("categories")), strings.Fields(r.PostFormValue("topics"))
	_, err := c.Corrections.Label(r.Context(), wire.LabelItemRequest{ID: id, Body: wire.Correction{Categories: &categories, Topics: &topics}})
	if errors.Is(err, storage.ErrNotFound) {
		c.noItem(w, r)
		return
	}
	c.redirectOrExplain(w, r, false, err, itemURL(id), itemURL(id))
}

// differ marks an item as no duplicate and redirects to its page.
func (c itemPages) differ(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	found, err := c.Duplicates.Clear(r.Context(), wire.ByID{ID: id})
	c.redirectOrExplain(w, r, found.Pending, err, itemURL(id), itemURL(id))
}

// A playPage plays a file or a medium of an item.
type playPage struct {
	play.Player
	Name     locale.Text
	Lang     string
	Item     choice
	Original string // URL of the file, or of the page of the medium
	Host     string // of it
}

// play shows the player of an enclosure. A link leads here, so that a browser requests nothing from the host of the medium
// before the reader chose to play it.
func (c itemPages) play(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || len(id) > maxID {
		c.noItem(w, r)
		return
	}
	item, err := c.Items.Get(r.Context(), wire.ByID{ID: id})
	if c.handleError(w, r, err, locale.T("The store"), c.noItem) {
		return
	}
	if n < 0 || n >= len(item.Enclosures) {
		c.noItem(w, r)
		return
	}
	e := item.Enclosures[n]
	player, ok := play.Of(e)
	if !ok {
		c.noItem(w, r)
		return
	}
	player = player.Resolve(r.Context(), c.PublicFetcher)
	// This page alone loads something from another host: the policy allows it that of the medium, and all else stays as on
	// other pages.
	w.Header().Set("Content-Security-Policy", pagePolicy+"; "+player.Policy())
	title := TitleOrDefault(item.Title)
	name := title
	if e.Title != "" {
		name = locale.Data(e.Title)
	}
	c.render(w, r, http.StatusOK, "play", page{Title: title, Scripts: []string{"play.js"}, Main: playPage{
		Player: player, Name: name, Lang: item.Language, Item: choice{Label: title, URL: itemURL(id)}, Original: e.URL, Host: host(player.Address),
	}})
}

// fullText fetches the full text of an item, and redirects to the page of the form.
func (c itemPages) fullText(w http.ResponseWriter, r *http.Request) {
	id, back := formValue(w, r, "id"), formValue(w, r, "back")
	if len(id) > maxID {
		c.noItem(w, r)
		return
	}
	if back != itemURL(id) {
		back = backTo(back)
	}
	_, err := c.Items.FetchText(r.Context(), wire.ByID{ID: id})
	c.redirectOrExplain(w, r, false, err, back, back)
}

func (c itemPages) noItem(w http.ResponseWriter, r *http.Request) {
	c.showMessage(w, r, http.StatusNotFound, message{
		Heading: locale.T("Item not found"),
		Text:    []locale.Text{locale.T("Its feed may have been removed, or the URL may be mistyped.")},
		Links:   []choice{{Label: locale.T("Newest items"), URL: "/"}},
	})
}

func (c itemPages) view(r *http.Request, item wire.ItemView) itemPage {
	now := c.Now()
	p := itemPage{
		URL:         itemURL(item.ID),
		Title:       TitleOrDefault(item.Title),
		Lang:        item.Language,
		Language:    languageName(item.Language),
		Feed:        choice{Label: orRemoved(item.FeedTitle), URL: state{"feed": item.FeedID}.URL()},
		Author:      item.Author,
		Original:    storage.WebURL(item.URL),
		Host:        host(item.URL),
		Content:     content(locale.From(r), item.Item, picturesOf(item.Item, pictureChoice(r))),
		Excerpt:     item.Excerpt,
		Published:   locale.NewTimestamp(statedOrSeen(item.Item), now),
		Assumed:     assumption(item.Item),
		Updated:     locale.NewTimestamp(item.Updated, now),
		FirstSeen:   locale.NewTimestamp(item.FirstSeen, now),
		Revision:    item.Revision,
		Spam:        item.Spam,
		SpamPath:    itemURL(item.ID) + "/spam",
		LabelPath:   itemURL(item.ID) + "/labels",
		Flags:       composed(item.Flags),
		Tags:        item.Tags,
		Comments:    storage.WebURL(item.Comments),
		Source:      item.Source,
		Reasons:     composed(item.Reasons),
		StoryReason: locale.Composed(item.StoryReason),
	}
	if p.Original != "" && len(text.PlainText(item.HTML)) < maxSummary {
		p.FullText = &textForm{item.ID, p.URL}
	}
	p.Categories = linksOf(item.Categories, func(name string) string { return state{"category": name}.URL() })
	p.Topics = linksOf(item.Topics, func(name string) string { return state{"topic": name}.URL() })
	for n, e := range item.Enclosures {
		if address := storage.WebURL(e.URL); address != "" {
			file := enclosure{URL: address, Name: cmp.Or(e.Title, address), Type: strings.TrimPrefix(e.Player+" "+e.Type, " ")}
			if _, ok := play.Of(e); ok {
				file.Play = p.URL + "/play/" + strconv.Itoa(n)
			}
			p.Enclosures = append(p.Enclosures, file)
		}
	}
	if item.DuplicateOf != "" {
		p.Duplicate, p.DuplicateReason = itemURL(item.DuplicateOf), duplicateReason(item.DuplicateBy, item.DuplicateReason)
		p.DifferPath = itemURL(item.ID) + "/differ"
	}
	return p
}

// addShare adds the links that send the item to the reader's services.
func (p *itemPage) addShare(r *http.Request) {
	if p.Original != "" {
		p.Share = sharing.Links(sharing.Of(r), p.Title.In(locale.From(r)), p.Original)
	}
}

// addRelated adds the duplicates of the item and other items of its story.
func (p *itemPage) addRelated(same wire.Duplicates, related wire.Related, now time.Time) {
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
	p.Story = &storyOf{URL: storyPath(s.ID), Title: TitleOrDefault(s.Title), Items: int64(s.Items), Sources: int64(s.Sources)}
	for _, i := range related.Items {
		row := rowOfItem(i, now)
		row.Reason = nil // shown on the story's page
		p.Story.Related = append(p.Story.Related, row)
	}
}

// addSimilar adds similar items that the page does not list already.
func (p *itemPage) addSimilar(found []wire.FoundItem, now time.Time) {
	listed := map[string]bool{p.URL: true, p.Duplicate: true}
	for _, row := range p.Duplicates {
		listed[row.URL] = true
	}
	if p.Story != nil {
		for _, row := range p.Story.Related {
			listed[row.URL] = true
		}
	}
	for _, i := range found {
		row := itemRow{
			ID: i.ID, URL: itemURL(i.ID), Title: TitleOrDefault(i.Title), Lang: i.Language, Original: storage.WebURL(i.URL),
			Publisher: cmp.Or(host(i.URL), i.FeedTitle), At: locale.NewTimestamp(statedOrSeen(i.Item), now), FirstSeen: i.Assumed != "",
		}
		if !listed[row.URL] {
			p.Similar = append(p.Similar, row)
		}
	}
}
