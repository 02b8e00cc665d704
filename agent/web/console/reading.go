package console

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service/reading"
	"feedmesh/agent/web/console/offline"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

// readPath is the path of the reading page.
const readPath = "/read"

func (c readingPages) routes(mux *http.ServeMux) {
	mux.HandleFunc(readPath, c.list)
	mux.HandleFunc("POST "+readPath+"/marks", c.mark)
	mux.HandleFunc("POST "+readPath+"/all", c.markAll)
	mux.HandleFunc("POST "+readPath+"/annotation", c.annotate)
	mux.HandleFunc("POST "+readPath+"/pictures", c.choosePictures)
	mux.HandleFunc("GET "+readPath+"/share", c.sharing)
	mux.HandleFunc("POST "+readPath+"/share", c.setSharing)
	offline.Register(mux, c.shell, offline.Source{List: c.keptRows, Texts: c.keptTexts, Fail: c.notKept, Policy: readingPolicy})
}

// A readingState is the state of the reading page: the URL parameters that differ from their defaults.
type readingState map[string]string

var readingParams = []param{
	{name: "feed", max: 64},
	{name: "tag", max: 200},
	{name: "view", max: view.MaxName},
	{name: "label", max: reading.MaxLabel},
	{name: "show", max: 8, values: []string{wire.ShowUnread, wire.ShowAll, wire.ShowStarred}, initial: wire.ShowUnread},
	{name: "sort", max: 8, values: []string{"newest", "oldest"}, initial: "newest"},
	{name: "layout", max: 8, values: []string{"list", "cards"}, initial: "list"},
	{name: "cursor", max: 100},
	{name: "open", max: maxID}, // ID of the item that is shown beside the list
}

// with returns the state with changed parameters, given as name and value. An empty value removes a parameter.
func (s readingState) with(pairs ...string) readingState {
	next := readingState{}
	maps.Copy(next, s)
	for i := 0; i < len(pairs); i += 2 {
		next[pairs[i]] = pairs[i+1]
	}
	return next
}

// URL returns the URL of the state's page.
func (s readingState) URL() string { return addressOf(readPath, s) }

// A readingPage shows items to read, the folders, and one item.
type readingPage struct {
	pager
	Heading  locale.Text
	Shows    []choice // unread, all, starred
	Sort     choice   // the other order
	Layout   choice   // the other layout
	Cards    bool
	Folders  []choice
	Views    []choice
	Labels   []choice // of items
	Feeds    []choice
	Rows     []readingRow
	Version  string      // of Rows, their marks included
	Empty    locale.Text // why there are no rows
	Open     *openItem
	Stream   wire.ReadStream // what "mark all as read" marks
	Until    string
	Back     string   // URL of this page, for forms
	Pictures []choice // which pictures are shown; Key is the value
	Shell    bool     // the page without data, which scripts fill from the browser's cache
	Marked   *markedRead
}

// A readingRow is an item of the list.
type readingRow struct {
	ID, URL, Lang    string
	Title, Feed      locale.Text
	Icon             string // path; may be empty
	At               *locale.Timestamp
	Age              locale.Text // short
	Read, Starred    bool
	Excerpt, Picture string // of a card
	Open             bool
	Time             string // its place in the list
}

// An openItem is the item that is shown beside the list.
type openItem struct {
	itemPage
	ID      string
	Details string // URL of its page
	Starred bool
	Read    bool
	Minutes int         // time to read it
	Note    locale.Text // an error of its mark
	Closed  string      // URL of the list alone
	Time    string      // its place in the list

	listed wire.ReadingItem
}

// A markedRead is the result of "mark all as read".
type markedRead struct {
	Number int64
	IDs    []string // to undo it; empty if there are too many
}

// readingLimit is the number of items on a page.
const readingLimit = 100

// list shows the items to read.
func (c readingPages) list(w http.ResponseWriter, r *http.Request) {
	values, err := readParams(r.URL.RawQuery, readingParams)
	if err != nil {
		c.badAddress(w, r, locale.T("This list cannot be shown"), err, choice{Label: locale.T("Unread items"), URL: readPath})
		return
	}
	c.show(w, r, values, nil)
}

// show responds with the page of a state.
func (c readingPages) show(w http.ResponseWriter, r *http.Request, s readingState, marked *markedRead) {
	now := c.Now()
	main := readingPage{pager: pager{More: locale.T("More items")}, Back: s.URL(), Marked: marked, Until: now.UTC().Format(time.RFC3339Nano)}
	main.Stream = wire.ReadStream{Feed: s["feed"], Tag: s["tag"], View: s["view"], Label: s["label"]}
	main.addLayout(s, pictureChoice(r))
	part := r.Header.Get(partHeader)
	// The item first, so that the numbers of unread items are without it. Other parts of its page do not open it.
	if id := s["open"]; id != "" && (part == "" || part == articlePart) {
		item, err := c.open(r, id, s)
		if c.handleError(w, r, err, locale.T("The store"), itemPages(c).noItem) {
			return
		}
		main.Open = item
	}
	if part != articlePart {
		err := c.fill(r, s, &main, part, now)
		if errors.Is(err, storage.ErrBadCursor) {
			c.badAddress(w, r, locale.T("This list cannot be shown"), err, choice{Label: locale.T("Unread items"), URL: readPath})
			return
		}
		if c.handleError(w, r, err, locale.T("The store"), c.noList(s)) {
			return
		}
	}
	if part == rowsPart && main.Version != "" && r.Header.Get(versionHeader) == main.Version {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Security-Policy", readingPolicy)
	w.Header().Set(offline.ClientHeader, offline.ClientKey(r))
	title := main.Heading
	if main.Open != nil {
		title = main.Open.Title
	}
	scripts := readingScripts
	if part == "" && c.Interests.On(r.Context()) {
		scripts = append(slices.Clone(scripts), "dwell.js")
	}
	c.render(w, r, http.StatusOK, "reading", page{
		Title: title, Here: readPath, Wide: true, Scripts: scripts, Parts: []string{articlePart, rowsPart, foldersPart}, Main: main,
	})
}

// noList returns the handler for a list of a feed or a view that does not exist.
func (c readingPages) noList(s readingState) http.HandlerFunc {
	if s["view"] == "" {
		return feedPages(c).noFeed
	}
	return func(w http.ResponseWriter, r *http.Request) {
		c.showMessage(w, r, http.StatusNotFound, message{
			Heading: locale.T("View not found"),
			Text:    []locale.Text{locale.T("It may have been removed, or be for others only.")},
			Links:   []choice{{Label: locale.T("Views"), URL: "/views"}},
		})
	}
}

// versionHeader is the header with the version of the rows that a script has: the same ones are not sent again.
const versionHeader = "Feedmesh-Version"

var readingScripts = []string{"reading.js", "offline.js"}

// The parts of the reading page that scripts request.
const (
	articlePart = "article"
	rowsPart    = "rows"
	foldersPart = "folders"
)

// fill adds the folders and the list, or only the requested part.
func (c readingPages) fill(r *http.Request, s readingState, main *readingPage, part string, now time.Time) error {
	if part != rowsPart {
		if err := c.fillFolders(r, s, main); err != nil {
			return err
		}
	}
	if part == foldersPart {
		return nil
	}
	return c.fillRows(r, s, main, now)
}

// fillFolders adds the folders and the heading of the list.
func (c readingPages) fillFolders(r *http.Request, s readingState, main *readingPage) error {
	folders, err := c.Reading.Folders(r.Context(), wire.FolderQuery{Tag: s["tag"]})
	if err != nil {
		return err
	}
	main.addFolders(folders, s, func(feedID string) string { return iconOf(r, feedID) })
	labels, err := c.Reading.Labels(r.Context(), wire.None{})
	if err != nil {
		return err
	}
	main.addLabels(labels, s)
	if s["feed"] != "" {
		f, err := c.Store.Feed(r.Context(), s["feed"])
		if err != nil {
			return err
		}
		main.Heading = locale.Data(f.Name())
	}
	return nil
}

// fillRows adds the list.
func (c readingPages) fillRows(r *http.Request, s readingState, main *readingPage, now time.Time) error {
	q := wire.ReadingQuery{Feed: s["feed"], Tag: s["tag"], View: s["view"], Label: s["label"], Show: cmp.Or(s["show"], wire.ShowUnread), Oldest: s["sort"] == "oldest", Limit: readingLimit, Cursor: s["cursor"]}
	list, err := c.Reading.List(r.Context(), q)
	if err != nil {
		return err
	}
	// An item that is opened is no longer unread; it stays in the list until another list is opened.
	if main.Open != nil && q.Show == wire.ShowUnread {
		list.Items = withOpen(list.Items, main.Open.listed, q.Oldest)
	}
	pictures, ids := pictureChoice(r), []string{}
	for _, i := range list.Items {
		ids = append(ids, i.ID)
		row := s.row(i, now)
		row.Icon = iconOf(r, i.FeedID)
		if main.Cards {
			row.addCard(i, pictures)
		}
		main.Rows = append(main.Rows, row)
	}
	main.Version = versionOf(main.Rows)
	c.Interests.Listed(r.Context(), ids)
	if s["cursor"] != "" {
		main.First = s.with("cursor", "", "open", "").URL()
	}
	if list.Next != "" {
		main.Next = s.with("cursor", list.Next, "open", "").URL()
	}
	if len(main.Rows) == 0 {
		main.Empty = c.whyNothing(r, q)
	}
	return nil
}

// versionOf returns a hash of rows and their marks; empty without rows.
func versionOf(rows []readingRow) string {
	if len(rows) == 0 {
		return ""
	}
	sum := fnv.New64a()
	for _, row := range rows {
		fmt.Fprintln(sum, row.ID, row.Read, row.Starred)
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// withOpen returns the items with the open one in its place, unless the list has it.
func withOpen(items []wire.ReadingItem, open wire.ReadingItem, oldest bool) []wire.ReadingItem {
	for n, i := range items {
		if i.ID == open.ID {
			return items
		}
		if i.Time.Before(open.Time) != oldest && !i.Time.Equal(open.Time) {
			return append(items[:n:n], append([]wire.ReadingItem{open}, items[n:]...)...)
		}
	}
	return append(items, open)
}

// whyNothing explains an empty list.
func (c readingPages) whyNothing(r *http.Request, q wire.ReadingQuery) locale.Text {
	status, err := c.status(r.Context())
	switch {
	case q.Show == wire.ShowStarred:
		return locale.T("No starred items. Press f, or the star of an item, to keep it here.")
	case q.Cursor != "":
		return locale.T("No more items.")
	case err == nil && status.Feeds.Stored == 0:
		return locale.T("No feeds yet. Add some on the page Feeds; their items appear within a minute.")
	case err == nil && status.Items == 0:
		return locale.T("No items yet. They appear after the first poll of the feeds; reload this page in a moment.")
	case q.Show == wire.ShowUnread:
		return locale.T("Nothing unread.")
	}
	return locale.T("No items.")
}

// addFolders adds the links to lists with their numbers of unread items.
func (p *readingPage) addFolders(f wire.Folders, s readingState, icon func(feedID string) string) {
	base := readingState{"sort": s["sort"], "layout": s["layout"]}
	all := s["feed"] == "" && s["tag"] == "" && s["view"] == "" && s["label"] == ""
	p.Heading = locale.T("All feeds")
	p.Folders = []choice{{Label: p.Heading, URL: base.with("show", s["show"]).URL(), Count: f.Unread, Active: all}}
	for _, folder := range f.Folders {
		p.Folders = append(p.Folders, choice{Label: locale.Data(folder.Name), URL: base.with("tag", folder.Name, "show", s["show"]).URL(), Count: folder.Unread, Active: s["tag"] == folder.Name})
	}
	if s["tag"] != "" {
		p.Heading = locale.Data(s["tag"])
	}
	for _, feed := range f.Feeds {
		p.Feeds = append(p.Feeds, choice{Label: orRemoved(feed.Title), Icon: icon(feed.ID), URL: base.with("tag", s["tag"], "feed", feed.ID, "show", s["show"]).URL(), Count: feed.Unread, Active: s["feed"] == feed.ID})
	}
	for _, v := range f.Views {
		isShown := s["view"] == v.Name
		if isShown {
			p.Heading = locale.Data(v.Title)
		}
		p.Views = append(p.Views, choice{Label: locale.Data(v.Title), URL: base.with("view", v.Name, "show", s["show"]).URL(), Count: v.Unread, Active: isShown})
	}
	list := s.with("cursor", "", "open", "")
	for _, show := range []choice{{Label: locale.T("Unread"), Key: ""}, {Label: locale.T("All"), Key: wire.ShowAll}, {Label: locale.T("Starred"), Key: wire.ShowStarred}} {
		p.Shows = append(p.Shows, choice{Label: show.Label, URL: list.with("show", show.Key).URL(), Active: s["show"] == show.Key})
	}
	p.Sort = choice{Label: locale.T("Oldest first"), URL: list.with("sort", "oldest").URL()}
	if s["sort"] == "oldest" {
		p.Sort = choice{Label: locale.T("Newest first"), URL: list.with("sort", "").URL()}
	}
}

// addLabels adds the links to lists of the items with a label.
func (p *readingPage) addLabels(labels wire.ItemLabels, s readingState) {
	base := readingState{"sort": s["sort"], "layout": s["layout"], "show": wire.ShowAll}
	for _, label := range labels.Labels {
		p.Labels = append(p.Labels, choice{Label: locale.Data(label.Name), URL: base.with("label", label.Name).URL(), Active: s["label"] == label.Name})
	}
	if s["label"] != "" {
		p.Heading = locale.Data(s["label"])
	}
}

// row returns a row of the list.
func (s readingState) row(i wire.ReadingItem, now time.Time) readingRow {
	at, age := i.Time, shortAge(now.Sub(i.Time))
	if i.Published.IsZero() && i.Time.Before(i.Seen) {
		at, age = i.Seen, locale.T("no date")
	}
	return readingRow{
		ID: i.ID, URL: s.with("open", i.ID).URL(), Title: TitleOrDefault(i.Title), Lang: i.Language, Feed: orRemoved(i.FeedTitle),
		At: locale.NewTimestamp(at, now), Age: age, Read: i.Read, Starred: i.Starred, Open: s["open"] == i.ID,
		Time: i.Time.Format(time.RFC3339Nano),
	}
}

// addLayout adds how the list is shown, and the links and forms that change it.
func (p *readingPage) addLayout(s readingState, pictures string) {
	p.Cards = s["layout"] == "cards"
	p.Layout = choice{Label: locale.T("Cards"), URL: s.with("layout", "cards", "open", "").URL()}
	if p.Cards {
		p.Layout = choice{Label: locale.T("List"), URL: s.with("layout", "", "open", "").URL()}
	}
	for _, c := range []choice{{Label: locale.T("All"), Key: allPictures}, {Label: locale.T("Small"), Key: smallPictures}, {Label: locale.T("None"), Key: noPictures}} {
		c.Active = c.Key == pictures
		p.Pictures = append(p.Pictures, c)
	}
}

// addCard adds what a card shows beside the title.
func (row *readingRow) addCard(i wire.ReadingItem, pictures string) {
	row.Excerpt = i.Excerpt
	if pictures != noPictures {
		row.Picture = i.Picture
	}
}

// shortAge formats a time span for a narrow column: "5 min", "3 h", "2 d".
func shortAge(d time.Duration) locale.Text {
	switch hours := d.Hours(); {
	case d < time.Minute:
		return locale.T("now")
	case hours < 1:
		return locale.T("%d min", int64(d.Minutes()))
	case hours < 24:
		return locale.T("%d h", int64(hours))
	case hours < 365*24:
		return locale.T("%d d", int64(hours/24))
	default:
		return locale.T("%d y", int64(hours/24/365))
	}
}

// prefetchHeader is the header of requests for an item that may be opened next. It is not marked as read, but shown as
// if it were: another request follows when it is opened.
const prefetchHeader = "Feedmesh-Prefetch"

// open returns an item and marks it as read, except for a browser or script that fetches the page in advance.
func (c readingPages) open(r *http.Request, id string, s readingState) (*openItem, error) {
	o, err := c.article(r, id, s)
	if err != nil {
		return nil, err
	}
	o.Feed.Icon = iconOf(r, o.listed.FeedID)
	if purpose := r.Header.Get("Sec-Purpose"); o.Read || strings.HasPrefix(purpose, "prefetch") {
		return o, nil
	}
	o.Read = true
	if r.Header.Get(prefetchHeader) != "" {
		return o, nil
	}
	read := true
	err = c.CheckSpace()
	if err == nil {
		err = c.Reading.Mark(r.Context(), storage.MarkChange{Read: &read}, id)
	}
	if err == nil {
		c.Interests.Opened(r.Context(), id)
	}
	if o.listed.Read = err == nil; err != nil {
		c.Log.Warn("opened item not marked as read", "item", id, "err", err)
		o.Read, o.Note = false, locale.T("It could not be marked as read: the store accepts no changes at the moment.")
	}
	return o, nil
}

// article returns an item without marking it as read.
func (c readingPages) article(r *http.Request, id string, s readingState) (*openItem, error) {
	view, err := c.Items.Get(r.Context(), wire.ByID{ID: id})
	if err != nil {
		return nil, err
	}
	marked, err := c.Reading.Of(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if len(marked) == 0 {
		return nil, storage.ErrNotFound
	}
	o := &openItem{
		itemPage: itemPages(c).view(r, view), ID: id, Details: itemURL(id), Starred: marked[0].Starred, Read: marked[0].Read, Minutes: minutesToRead(view.HTML),
		Closed: s.with("open", "").URL() + "#" + id, Time: marked[0].Time.Format(time.RFC3339Nano), listed: marked[0],
	}
	if o.Annotation, err = c.annotation(r, id, s.with("open", id).URL()); err != nil {
		return nil, err
	}
	o.addShare(r)
	if o.FullText != nil {
		o.FullText.Back = s.with("open", id).URL()
	}
	o.Feed.URL = readingState{"feed": view.FeedID, "show": s["show"], "sort": s["sort"], "layout": s["layout"]}.URL()
	return o, nil
}

// An annotationForm shows and changes the client's labels and note of an item.
type annotationForm struct {
	ID, Back string
	Labels   []choice
	Text     string // the labels, separated by commas
	Note     string
	Known    []string // all labels of the client
}

// annotation returns the form for an item. back is the URL of the page that has it.
func (c readingPages) annotation(r *http.Request, id, back string) (annotationForm, error) {
	a, err := c.Reading.Annotation(r.Context(), wire.ByID{ID: id})
	if err != nil {
		return annotationForm{}, err
	}
	known, err := c.Reading.Labels(r.Context(), wire.None{})
	form := annotationForm{ID: id, Back: back, Text: strings.Join(a.Labels, ", "), Note: a.Note}
	form.Labels = linksOf(a.Labels, func(name string) string { return readingState{"label": name, "show": wire.ShowAll}.URL() })
	for _, label := range known.Labels {
		form.Known = append(form.Known, label.Name)
	}
	return form, err
}

// maxAnnotationForm bounds a form in bytes: a note and labels, each byte escaped as three.
const maxAnnotationForm = 32 << 10

// annotate changes the labels and the note of an item.
func (c readingPages) annotate(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxAnnotationForm)
	if err := r.ParseForm(); err != nil {
		c.notAnnotated(w, r, http.StatusRequestEntityTooLarge, locale.T("the labels or the note are too long"))
		return
	}
	id, note := r.PostForm.Get("id"), strings.ReplaceAll(r.PostForm.Get("note"), "\r\n", "\n")
	labels := []string{}
	for label := range strings.SplitSeq(r.PostForm.Get("labels"), ",") {
		if label = strings.TrimSpace(label); label != "" {
			labels = append(labels, label)
		}
	}
	_, err := c.Reading.Annotate(r.Context(), wire.AnnotateItemRequest{ID: id, Body: wire.AnnotationChange{Labels: &labels, Note: &note}})
	if limit := new(*reading.LimitError); errors.As(err, limit) {
		c.notAnnotated(w, r, http.StatusUnprocessableEntity, locale.Composed((*limit).Reason))
		return
	}
	if c.handleError(w, r, err, locale.T("The store"), itemPages(c).noItem) {
		return
	}
	next := backTo(r.PostForm.Get("back"))
	if item := itemURL(id); r.PostForm.Get("back") == item {
		next = item
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (c readingPages) notAnnotated(w http.ResponseWriter, r *http.Request, status int, reason locale.Text) {
	c.showMessage(w, r, status, message{
		Heading: locale.T("Labels and note not saved"), Text: []locale.Text{locale.Sentence(reason)}, Links: []choice{{Label: locale.T("Unread items"), URL: readPath}},
	})
}

// shell returns the reading page without data, in a language. It is rendered with the templates of the page, so that it
// looks alike.
func (c readingPages) shell(l *locale.Language) offline.Shell {
	main := readingPage{pager: pager{More: locale.T("More items")}, Back: readPath, Shell: true}
	main.addFolders(wire.Folders{}, readingState{}, nil)
	html, err := rendered(l, "reading", page{Title: locale.T("Read"), Here: readPath, Wide: true, Scripts: readingScripts, Main: main})
	if err != nil {
		panic(err) // templates and data are part of the program
	}
	files := []string{sheet.Path, scripts()[baseScript].Path, scripts()["theme.js"].Path}
	for _, name := range readingScripts {
		files = append(files, scripts()[name].Path)
	}
	if path := textsPath(l); path != "" {
		files = append(files, path)
	}
	return offline.Shell{Page: []byte(html), Help: helpPath, Assets: files}
}

// rendered executes a template without the controls that need a scope.
func rendered(l *locale.Language, name string, data any) (string, error) {
	var b strings.Builder
	err := templates[templateKey{language: l}]().ExecuteTemplate(&b, name, data)
	return b.String(), err
}

// keptRows returns the rows of the newest unread items.
func (c readingPages) keptRows(r *http.Request) ([]offline.Row, error) {
	list, err := c.Reading.List(r.Context(), wire.ReadingQuery{Show: wire.ShowUnread, Limit: offline.MaxItems})
	if err != nil {
		return nil, err
	}
	now, l := c.Now(), locale.From(r)
	rows := make([]offline.Row, len(list.Items))
	for n, i := range list.Items {
		rows[n] = offline.Row{ID: i.ID, Feed: i.FeedID, FeedTitle: orRemoved(i.FeedTitle).In(l), Starred: i.Starred}
		if rows[n].HTML, err = rendered(l, "row", readingState{}.row(i, now)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// keptTexts returns the articles of items as they are when they are opened, except that they are not marked as read.
func (c readingPages) keptTexts(r *http.Request, ids []string) ([]offline.Text, error) {
	texts := []offline.Text{}
	for _, id := range ids {
		o, err := c.article(r, id, readingState{})
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(o.Content) > offline.MaxText {
			o.Content, o.Note = "", locale.T("The text is too long to be kept for reading offline.")
		}
		html, err := rendered(locale.From(r), "article", page{Main: readingPage{Open: o}})
		if err != nil {
			return nil, err
		}
		texts = append(texts, offline.Text{ID: id, HTML: html})
	}
	return texts, nil
}

// notKept responds to a request for kept items that failed.
func (c readingPages) notKept(w http.ResponseWriter, r *http.Request, err error) {
	c.showUnavailable(w, r, err, locale.T("The store"))
}

// wordsPerMinute is a usual reading speed.
const wordsPerMinute = 230

// minutesToRead returns the time to read an item, at least a minute.
func minutesToRead(html string) int {
	return max(1, int(math.Round(float64(len(strings.Fields(text.PlainText(html))))/wordsPerMinute)))
}

// mark changes the marks of items and returns to the list.
func (c readingPages) mark(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxMarksForm)
	if err := r.ParseForm(); err != nil || len(r.PostForm["id"]) == 0 {
		c.showMessage(w, r, http.StatusBadRequest, message{
			Heading: locale.T("Nothing was marked"), Text: []locale.Text{locale.T("The form names no item, or too many.")}, Links: []choice{{Label: locale.T("Unread items"), URL: readPath}},
		})
		return
	}
	change := storage.MarkChange{Read: yesOrNo(r.PostForm.Get("read")), Starred: yesOrNo(r.PostForm.Get("starred"))}
	if err := c.Reading.Mark(r.Context(), change, r.PostForm["id"]...); err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	http.Redirect(w, r, backTo(r.PostForm.Get("back")), http.StatusSeeOther)
}

// maxMarksForm bounds a form in bytes: the IDs of the items that one "mark all as read" can undo.
const maxMarksForm = 64 << 10

// yesOrNo returns the value of a field, nil if it is neither.
func yesOrNo(value string) *bool {
	if yes := value == "yes"; yes || value == "no" {
		return &yes
	}
	return nil
}

// backTo returns the URL of a reading page, given as a field of a form: no other page is redirected to.
func backTo(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host == "" && u.Scheme == "" && u.Path == readPath {
		return u.String()
	}
	return readPath
}

// markAll marks all items of the list as read, and shows the list with a form to undo it.
func (c readingPages) markAll(w http.ResponseWriter, r *http.Request) {
	stream := wire.ReadStream{Feed: formValue(w, r, "feed"), Tag: formValue(w, r, "tag"), View: formValue(w, r, "view"), Label: formValue(w, r, "label")}
	for field, to := range map[string]*time.Time{"until": &stream.Until, "older": &stream.Older} {
		if at, err := time.Parse(time.RFC3339Nano, formValue(w, r, field)); err == nil {
			*to = at
		}
	}
	values := readingState{"feed": stream.Feed, "tag": stream.Tag, "view": stream.View, "label": stream.Label}
	done, err := c.Reading.MarkAll(r.Context(), wire.MarkAllReadRequest{Body: stream})
	if c.handleError(w, r, err, locale.T("The store"), c.noList(values)) {
		return
	}
	marked := &markedRead{Number: int64(len(done.IDs)), IDs: done.IDs}
	if done.More {
		marked.IDs = nil
	}
	c.show(w, r, values, marked)
}
