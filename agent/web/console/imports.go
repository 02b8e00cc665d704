package console

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const importsPath = "/imports"

func importPath(id string) string { return importsPath + "/" + url.PathEscape(id) }

func (c importPages) routes(mux *http.ServeMux) {
	mux.HandleFunc(importsPath, c.imports)
	mux.HandleFunc("POST "+importsPath, c.beginImport)
	mux.HandleFunc(importsPath+"/{id}", c.importPage)
	mux.HandleFunc("POST "+importsPath+"/{id}/cancel", c.cancelImport)
}

// An importRow is an import with its progress.
type importRow struct {
	Name, State                 locale.Text
	URL                         string
	Started, Finished           *locale.Timestamp
	Total, Done                 int64
	Added, Known, Invalid, Left int64
	Running, Ending, Cancelled  bool
}

func (c importPages) importRow(imp wire.Import) importRow {
	row := importRow{
		Name: locale.Data(imp.Name), URL: importPath(imp.ID), State: locale.Composed(imp.State),
		Started: locale.NewTimestamp(imp.Started, c.Now()), Finished: locale.NewTimestamp(imp.Finished, c.Now()),
		Total: int64(imp.Total), Done: int64(imp.Done), Added: int64(imp.Added), Known: int64(imp.Existing), Invalid: int64(imp.Invalid),
		Left: int64(imp.Total - imp.Done), Running: imp.Finished.IsZero(), Ending: imp.Finished.IsZero() && imp.Cancel,
		Cancelled: imp.State == wire.ImportEnded,
	}
	if imp.Name == "" {
		row.Name = locale.T("List %s", imp.ID)
	}
	return row
}

func (c importPages) imports(w http.ResponseWriter, r *http.Request) {
	all, err := c.Imports.List(r.Context(), wire.None{})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The list of imports"))
		return
	}
	var rows []importRow
	for _, imp := range all.Imports {
		rows = append(rows, c.importRow(imp))
	}
	c.render(w, r, http.StatusOK, "imports", page{Title: locale.T("Imports"), Here: feedsPath, Main: rows})
}

// beginImport starts an import of the form's file, which it reads up to the size limit, and redirects to its
// page.
func (c importPages) beginImport(w http.ResponseWriter, r *http.Request) {
	name, list, err := readList(w, r)
	if err == nil && len(list) == 0 {
		err = invalidList("No file was chosen, or it is empty.")
	}
	var imp wire.Import
	if err == nil {
		imp, err = c.Imports.Start(r.Context(), wire.ImportFeedsRequest{Name: name, RawBody: list})
	}
	var large *http.MaxBytesError
	switch kind := service.KindOf(err); {
	case err == nil:
		http.Redirect(w, r, importPath(imp.ID), http.StatusSeeOther)
	case errors.As(err, &large):
		c.noList(w, r, http.StatusRequestEntityTooLarge, locale.T("The list is larger than %s: split it.", locale.Bytes(service.MaxImport)))
	case kind == service.KindInvalid:
		c.noList(w, r, http.StatusUnprocessableEntity, locale.Composed(err.Error()))
	case kind == service.KindBusy:
		c.noList(w, r, http.StatusTooManyRequests, locale.T("Too many imports are queued. Retry when some have finished."))
	default:
		c.showUnavailable(w, r, err, locale.T("The store"))
	}
}

// invalidList returns the error of a form without a list.
func invalidList(reason string) error {
	return &service.Error{Kind: service.KindInvalid, Message: reason}
}

func (c importPages) noList(w http.ResponseWriter, r *http.Request, status int, why locale.Text) {
	c.showMessage(w, r, status, message{
		Heading: locale.T("This list cannot be imported"),
		Text:    []locale.Text{why, locale.T("No feed was added. A list is OPML, as other readers export it, or text with one URL per line.")},
		Links:   []choice{{Label: locale.T("Choose another file"), URL: importsPath}, toFeeds},
	})
}

// maxFormOverhead bounds the size of a form besides its file, in bytes.
const maxFormOverhead = 64 << 10

// readList returns the file of a form and its name.
func readList(w http.ResponseWriter, r *http.Request) (name string, list []byte, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, service.MaxImport+maxFormOverhead)
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, invalidList("The form has no file.")
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil, nil
		case err != nil:
			return "", nil, listError(err)
		case part.FormName() != "list":
			continue
		}
		name = path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
		if name == "." || name == "/" {
			name = ""
		}
		list, err = io.ReadAll(part)
		return strings.ToValidUTF8(name[:min(len(name), 255)], ""), list, listError(err)
	}
}

// listError converts an error of reading a form: size errors unchanged, others to an invalid list.
func listError(err error) error {
	var large *http.MaxBytesError
	if err == nil || errors.As(err, &large) {
		return err
	}
	return invalidList("The upload is incomplete.")
}

// An importPage shows the outcome of each feed of a list.
type importPage struct {
	pager
	importRow
	CSV       string
	CancelURL string
	Verdicts  []choice
	Verdict   locale.Text // of the lines; nil: any
	Lines     []importLine
}

type importLine struct {
	wire.ImportLine
	Verdict, Detail locale.Text
	Page            string // URL of the feed's page; empty if it has none
	Bad             bool
}

var importParams = []param{
	{name: "verdict", max: 16, of: "filter", values: wire.Verdicts},
	{name: "after", of: "page"},
}

const linesOnPage = 100

func (c importPages) importPage(w http.ResponseWriter, r *http.Request) {
	s, err := readParams(r.URL.RawQuery, importParams)
	if err != nil {
		c.badAddress(w, r, locale.T("Invalid page of this import"), err, choice{Label: locale.T("All imports"), URL: importsPath})
		return
	}
	imp, err := c.Imports.Get(r.Context(), wire.ByID{ID: r.PathValue("id")})
	if errors.Is(err, storage.ErrNotFound) {
		c.noImport(w, r)
		return
	}
	after, _ := strconv.Atoi(s["after"])
	var found wire.ImportPage
	if err == nil {
		found, err = c.Imports.Lines(r.Context(), wire.ImportSearch{ID: imp.ID, Verdict: s["verdict"], After: after, Limit: linesOnPage})
	}
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The import"))
		return
	}
	main := importPage{
		pager: pager{More: locale.T("More lines")}, importRow: c.importRow(imp), Verdict: locale.Composed(s["verdict"]),
		CSV: "/api/imports/" + url.PathEscape(imp.ID) + "/report", CancelURL: importPath(imp.ID) + "/cancel",
	}
	at := func(verdict string, after int) string {
		params := map[string]string{"verdict": verdict}
		if after > 0 {
			params["after"] = strconv.Itoa(after)
		}
		return addressOf(importPath(imp.ID), params)
	}
	main.Verdicts = append(main.Verdicts, choice{Label: locale.T("all"), URL: at("", 0), Active: s["verdict"] == ""})
	for _, verdict := range wire.Verdicts {
		main.Verdicts = append(main.Verdicts, choice{Label: locale.Composed(verdict), URL: at(verdict, 0), Active: s["verdict"] == verdict})
	}
	if after > 0 {
		main.First = at(s["verdict"], 0)
	}
	if found.Next > 0 {
		main.Next = at(s["verdict"], found.Next)
	}
	for _, line := range found.Lines {
		row := importLine{
			ImportLine: line, Verdict: locale.Composed(line.Verdict), Detail: locale.Composed(line.Detail), Bad: slices.Contains(badVerdicts, line.Verdict),
		}
		if line.FeedID != "" && line.Verdict != wire.VerdictLeftOut && line.Verdict != wire.VerdictWaiting && line.Verdict != wire.VerdictRedirected {
			row.Page = feedPath(line.FeedID)
		}
		main.Lines = append(main.Lines, row)
	}
	c.render(w, r, http.StatusOK, "import", page{Title: main.Name, Here: feedsPath, Scripts: []string{"imports.js"}, Parts: []string{"import-progress"}, Main: main})
}

// badVerdicts are the verdicts that need attention.
var badVerdicts = []string{wire.VerdictInvalid, wire.VerdictFailed, wire.VerdictNoFeed, wire.VerdictBlocked, wire.VerdictGone}

func (c importPages) noImport(w http.ResponseWriter, r *http.Request) {
	c.showMessage(w, r, http.StatusNotFound, message{
		Heading: locale.T("Import not found"), Text: []locale.Text{locale.T("Only the last hundred imports are stored.")},
		Links: []choice{{Label: locale.T("All imports"), URL: importsPath}},
	})
}

func (c importPages) cancelImport(w http.ResponseWriter, r *http.Request) {
	imp, err := c.Imports.Cancel(r.Context(), wire.ByID{ID: r.PathValue("id")})
	if !c.handleError(w, r, err, locale.T("The store"), c.noImport) {
		http.Redirect(w, r, importPath(imp.ID), http.StatusSeeOther)
	}
}

const (
	maxForm     = 16 << 10         // bytes
	formTimeout = 30 * time.Second // timeout of forms that fetch a page and its feeds
)

// A foundPage shows the feeds found at a URL, with buttons to add them.
type foundPage struct {
	wire.Discovery
	Feeds   []candidate
	Number  int64 // of Feeds
	Problem locale.Text
	Anyway  bool   // the URL may be added although no feed was found
	AddPath string // action of the forms
	Moves   string // title of the feed that the forms move; empty: they add a feed
	Words   string // that feeds of a list must contain
}

type candidate struct {
	wire.Candidate
	URL     string
	Page    string // of the feed's page if it is stored
	Newest  *locale.Timestamp
	Entries locale.Text // their number
	Problem locale.Text
}

// find looks for feeds at the submitted URL.
func (c feedPages) find(w http.ResponseWriter, r *http.Request) {
	address := formValue(w, r, "url")
	if address == "" {
		http.Redirect(w, r, feedsPath, http.StatusSeeOther)
		return
	}
	c.showFound(w, r, address, foundPage{AddPath: feedsPath, Words: formValue(w, r, "words")})
}

// findAddresses finds addresses to which a feed may have moved: those of the feeds of its site.
func (c feedPages) findAddresses(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	site := storage.WebURL(f.Site)
	if at, err := url.Parse(f.URL); site == "" && err == nil {
		site = at.Scheme + "://" + at.Host + "/"
	}
	c.showFound(w, r, site, foundPage{AddPath: feedPath(f.ID) + "/move", Moves: rowOf(f, c.Now()).Title})
}

// moveFeed moves a feed to another address.
func (c feedPages) moveFeed(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	to, err := c.Feeds.Move(r.Context(), wire.MoveFeedRequest{ID: id, Body: wire.FeedAddress{URL: formValue(w, r, "url")}})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.noFeed(w, r)
	case err != nil:
		c.showError(w, r, err, locale.T("The schedule"), choice{Label: locale.T("Back to the feed"), URL: feedPath(id)})
	default:
		c.showMessage(w, r, http.StatusAccepted, message{
			Heading: locale.T("The feed is being moved"),
			Text:    []locale.Text{locale.T("Its items, their marks and its settings will be at %s within seconds.", to.URL)},
			Links:   []choice{{Label: locale.T("The feed at its new address"), URL: feedPath(to.ID)}, toFeeds},
		})
	}
}

// showFound shows the feeds that are found at an address.
func (c feedPages) showFound(w http.ResponseWriter, r *http.Request, address string, main foundPage) {
	found, err := c.Discovery.Find(r.Context(), wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: address, Words: main.Words}})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	main.Discovery, main.Number, main.Problem = found, int64(len(found.Feeds)), locale.Composed(found.Problem)
	_, invalid := storage.CanonicalURL(found.URL)
	main.Anyway = len(found.Feeds) == 0 && found.Kind != wire.KindList && invalid == nil && main.Moves == ""
	now := c.Now()
	for _, f := range found.Feeds {
		offer := candidate{
			Candidate: f, URL: f.URL, Newest: locale.NewTimestamp(f.Newest, now), Entries: entriesText(f.Entries), Problem: locale.Composed(f.Problem),
		}
		if f.Stored {
			offer.Page = feedPath(f.FeedID)
		}
		main.Feeds = append(main.Feeds, offer)
	}
	title := locale.T("Add a feed")
	if main.Moves != "" {
		title = locale.T("Move %s", main.Moves)
	}
	c.render(w, r, http.StatusOK, "found", page{Title: title, Here: feedsPath, Main: main})
}

// add adds a feed and redirects to its page.
func (c feedPages) add(w http.ResponseWriter, r *http.Request) {
	added, err := c.Feeds.Add(r.Context(), wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{formValue(w, r, "url")}}})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	if f := added.Results[0]; f.Outcome != wire.ImportInvalid {
		http.Redirect(w, r, feedPath(f.FeedID), http.StatusSeeOther)
		return
	}
	c.showMessage(w, r, http.StatusUnprocessableEntity, message{
		Heading: locale.T("This feed cannot be added"),
		Text:    []locale.Text{locale.Composed(added.Results[0].Reason)},
		Links:   []choice{toFeeds},
	})
}

// refresh requests a poll of a feed and redirects to its page.
func (c feedPages) refresh(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	_, err := c.Feeds.Refresh(r.Context(), wire.ByID{ID: id})
	if !c.handleError(w, r, err, locale.T("The schedule"), c.noFeed) {
		http.Redirect(w, r, feedPath(id), http.StatusSeeOther)
	}
}

// formValue returns a field of a form; it is empty if the form exceeds maxForm.
func formValue(w http.ResponseWriter, r *http.Request, name string) string {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	return strings.TrimSpace(r.PostFormValue(name))
}
