// Package output serves feeds of stored items to other readers: of a search, the list of stories, the feeds
// with a tag, or a view; as RSS 2.0, Atom or JSON Feed 1.1. Parameters and errors of [Handler] are those
// of the REST interface. A document has at most 100 entries.
package output

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver/hub"
	"feedmesh/agent/service"
	"feedmesh/agent/syndication"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	defaultLimit = 50
	maxLimit     = 100
)

type outputs struct{ *service.Service }

// Path is the prefix of the paths of outputs.
const Path = "/outputs/"

// viewsPath is the prefix of the paths of views: feeds that the hub pushes.
const viewsPath = Path + "views/"

// Handler returns a handler for paths under [Path]. Its requests are authenticated already.
func Handler(s *service.Service) http.Handler {
	o := &outputs{s}
	mux := http.NewServeMux()
	for ending, f := range syndication.Formats {
		mux.HandleFunc("GET "+Path+"search."+ending, o.serve(f, o.search))
		mux.HandleFunc("GET "+Path+"stories."+ending, o.serve(f, o.stories))
		mux.HandleFunc("GET "+Path+"tag."+ending, o.serve(f, o.byTag))
	}
	mux.HandleFunc("GET "+Path+"searches/{file}", o.savedSearch)
	mux.HandleFunc("GET "+viewsPath+"{file}", o.view)
	mux.Handle("POST "+hub.Path, newHub(s))
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, &httpError{http.StatusNotFound, "no such output; available are /outputs/search, stories, tag and views/NAME, each with " + syndication.Endings})
	})
	return mux
}

// A documentSource returns the document for a request.
type documentSource func(r *http.Request, query url.Values) (syndication.Document, error)

// serve returns a handler that writes the document of a source in a format.
func (o *outputs) serve(f syndication.Format, from documentSource) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := from(r, r.URL.Query())
		if err != nil {
			writeError(w, err)
			return
		}
		d.Self = BaseURL(r) + r.URL.EscapedPath()
		if parameters := r.URL.Query(); len(parameters) > 0 {
			d.Self += "?" + parameters.Encode()
		}
		if d.Hub != "" {
			w.Header().Add("Link", hub.Links(d.Hub, d.Self))
		}
		send(w, r, f, d)
	}
}

// send writes a document, or 304 if the client has the current version.
func send(w http.ResponseWriter, r *http.Request, f syndication.Format, d syndication.Document) {
	body, err := f.Write(d)
	if err != nil {
		writeError(w, err)
		return
	}
	sum := sha256.Sum256(body)
	h := w.Header()
	h.Set("Content-Type", f.Kind+"; charset=utf-8")
	h.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	h.Set("Cache-Control", "private, max-age=60")
	http.ServeContent(w, r, "", d.Updated, bytes.NewReader(body))
}

// search returns the items that match a query, newest first by default.
func (o *outputs) search(r *http.Request, query url.Values) (syndication.Document, error) {
	if !query.Has("sort") {
		query.Set("sort", "newest")
	}
	query.Del("facets")
	in, err := firstPage[wire.Search](query)
	if err != nil {
		return syndication.Document{}, err
	}
	found, err := o.Search.Find(r.Context(), in)
	if err != nil {
		return syndication.Document{}, problem.Of(err, o.Log)
	}
	ids := make([]string, len(found.Items))
	for i, item := range found.Items {
		ids[i] = item.ID
	}
	d, err := o.documentOf(r.Context(), ids)
	d.Title, d.Description, d.Home = "feedmesh: newest items", "The newest items.", BaseURL(r)+"/"
	if q := query.Get("q"); q != "" {
		d.Title = "feedmesh: " + q
	}
	if parameters := r.URL.Query(); len(parameters) > 0 {
		d.Home += "?" + parameters.Encode()
	}
	return d, err
}

// byTag returns the newest items of all feeds with a tag.
func (o *outputs) byTag(r *http.Request, query url.Values) (syndication.Document, error) {
	tag := query.Get("tag")
	if tag == "" {
		return syndication.Document{}, &httpError{http.StatusBadRequest, "missing parameter: add ?tag=NAME"}
	}
	limit := defaultLimit
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return syndication.Document{}, &httpError{http.StatusBadRequest, "limit must be a number from 1 to 100"}
		}
		limit = n
	}
	page, err := o.Store.ListMarked(r.Context(), "", storage.MarkQuery{Stream: storage.Stream{Tag: tag}}, storage.MarkedItem{}, limit)
	if err != nil {
		return syndication.Document{}, err
	}
	ids := make([]string, len(page))
	for i, m := range page {
		ids[i] = m.ItemID
	}
	d, err := o.documentOf(r.Context(), ids)
	d.Title, d.Description, d.Home = "feedmesh: feeds tagged "+tag, "The newest items of all feeds with this tag.", BaseURL(r)+"/"
	return d, err
}

// view serves a view: the last part of the path is its name and the format.
func (o *outputs) view(w http.ResponseWriter, r *http.Request) {
	f, name, is := syndication.FormatOf(r.PathValue("file"))
	if !is {
		writeError(w, &httpError{http.StatusNotFound, "the path of an output must end in " + syndication.Endings})
		return
	}
	o.serve(f, o.documentOfView(name))(w, r)
}

// documentOfView returns the source of a view.
func (o *outputs) documentOfView(name string) documentSource {
	return func(r *http.Request, query url.Values) (syndication.Document, error) {
		in, err := firstPage[wire.ListViewItemsRequest](query)
		if err != nil {
			return syndication.Document{}, err
		}
		in.Name = name
		v, err := o.Views.Get(r.Context(), wire.ViewName{Name: name})
		if err == nil && v.Problem != "" {
			err = &httpError{http.StatusServiceUnavailable, "the view can't be read: " + v.Problem}
		}
		if err != nil {
			return syndication.Document{}, noneOfName(err, "view")
		}
		page, err := o.Views.Items(r.Context(), in)
		if err != nil {
			return syndication.Document{}, err
		}
		ids := make([]string, len(page.Items))
		for i, item := range page.Items {
			ids[i] = item.ID
		}
		d, err := o.documentOf(r.Context(), ids)
		d.Title, d.Description, d.Home = titleOf(v), "The items of the view "+v.Name+".", BaseURL(r)+"/"
		// A token in the address of the feed authorizes requests to its hub too.
		d.Hub = BaseURL(r) + hub.Path
		if token := access.AddressToken(r.Context()); token != "" {
			d.Hub += "?" + url.Values{"token": {token}}.Encode()
		}
		for i := range d.Entries {
			d.Entries[i] = d.Entries[i].With(v.Set.Prefix, v.Set.Labels)
		}
		return d, err
	}
}

// titleOf returns the title of the feed of a view.
func titleOf(v wire.ViewState) string { return cmp.Or(v.Title, "feedmesh: "+v.Name) }

// noneOfName returns the error of a name: not found, or the given one.
func noneOfName(err error, what string) error {
	if errors.Is(err, storage.ErrNotFound) {
		return &httpError{http.StatusNotFound, "no " + what + " of this name"}
	}
	return err
}

// savedSearch redirects to the feed of the view that a saved search of an earlier version became.
func (o *outputs) savedSearch(w http.ResponseWriter, r *http.Request) {
	file := r.PathValue("file")
	_, saved, _ := syndication.FormatOf(file)
	for _, name := range service.ViewsOfSaved(saved) {
		_, err := o.Views.Get(r.Context(), wire.ViewName{Name: name})
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			writeError(w, err)
			return
		}
		query := r.URL.Query() // the server has removed the token
		if token := access.AddressToken(r.Context()); token != "" {
			query.Set("token", token)
		}
		to := url.URL{Path: viewsPath + name + strings.TrimPrefix(file, saved), RawQuery: query.Encode()}
		http.Redirect(w, r, to.String(), http.StatusMovedPermanently)
		return
	}
	writeError(w, noneOfName(storage.ErrNotFound, "view"))
}

// documentOf returns a document of those items that are still stored.
func (o *outputs) documentOf(ctx context.Context, ids []string) (syndication.Document, error) {
	items, err := o.Store.Items(ctx, ids...)
	if err != nil {
		return syndication.Document{}, err
	}
	var d syndication.Document
	titles := map[string]string{}
	for _, item := range items {
		title, cached := titles[item.FeedID]
		if !cached {
			if f, err := o.Store.Feed(ctx, item.FeedID); err == nil && f.Title != "" {
				title = f.Name()
			}
			titles[item.FeedID] = title
		}
		d.Add(syndication.EntryOf(item, title))
	}
	return d, nil
}

// BaseURL returns the URL under which the client reached this server. A reverse proxy may terminate TLS.
func BaseURL(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// An httpError is an error with its HTTP status.
type httpError struct {
	status int
	detail string
}

func (f *httpError) Error() string { return f.detail }

// writeError writes an error as problem+json.
func writeError(w http.ResponseWriter, err error) {
	var p huma.StatusError
	if errors.As(err, &p) {
		problem.Write(w, p) // an error means that the client disconnected
		return
	}
	f := &httpError{http.StatusServiceUnavailable, err.Error()}
	errors.As(err, &f)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(f.status)
	json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(f.status), "status": f.status, "detail": f.detail})
}
