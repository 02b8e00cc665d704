// Package output makes feeds of what is found here, for readers elsewhere: of any
// search, a list of stories, the feeds with a tag, or a saved search; as RSS 2.0,
// Atom or JSON Feed 1.1. What there is and what is wrong with a search, the REST
// interface says, which it asks in this process: the parameters are the same.
package output

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"feedmesh/storage"
)

// A Store is the part of a [storage.Store] that outputs are made of.
type Store interface {
	storage.Feeds
	storage.Items
	storage.Marks
	storage.SavedSearches
}

const (
	defaultLimit = 50
	maxLimit     = 100
)

type outputs struct {
	rest  http.Handler
	store Store
}

// Handler returns the outputs, for paths that begin with /outputs/. rest is the REST
// interface, whose guard a request has passed already.
func Handler(rest http.Handler, store Store) http.Handler {
	o := &outputs{rest, store}
	mux := http.NewServeMux()
	for ending, f := range formats {
		mux.HandleFunc("GET /outputs/search."+ending, o.serve(f, o.search))
		mux.HandleFunc("GET /outputs/stories."+ending, o.serve(f, o.stories))
		mux.HandleFunc("GET /outputs/tag."+ending, o.serve(f, o.tagged))
	}
	mux.HandleFunc("GET /outputs/searches/{file}", o.saved)
	mux.HandleFunc("/outputs/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, &refusal{http.StatusNotFound, "there is no such output; there are /outputs/search, stories, tag and searches/NAME, each with .rss, .atom or .json"})
	})
	return mux
}

// A source returns what a request asks for.
type source func(r *http.Request, query url.Values) (document, error)

// serve answers requests with what a source has, in a format.
func (o *outputs) serve(f format, from source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := from(r, r.URL.Query())
		if err != nil {
			refuse(w, err)
			return
		}
		d.Self = base(r) + r.URL.EscapedPath()
		if asked := r.URL.Query(); len(asked) > 0 {
			d.Self += "?" + asked.Encode()
		}
		send(w, r, f, d)
	}
}

// send answers with a document, or with nothing but that it is the one that the
// client has.
func send(w http.ResponseWriter, r *http.Request, f format, d document) {
	body, err := f.write(d.clean())
	if err != nil {
		refuse(w, err)
		return
	}
	sum := sha256.Sum256(body)
	h := w.Header()
	h.Set("Content-Type", f.kind+"; charset=utf-8")
	h.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	h.Set("Cache-Control", "private, max-age=60")
	http.ServeContent(w, r, "", d.Updated, bytes.NewReader(body))
}

// search finds items, the newest first unless the request says otherwise.
func (o *outputs) search(r *http.Request, query url.Values) (document, error) {
	if !query.Has("sort") {
		query.Set("sort", "newest")
	}
	query.Del("facets")
	var found struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	if err := o.ask(r, "/api/search", query, &found); err != nil {
		return document{}, err
	}
	ids := make([]string, len(found.Items))
	for i, item := range found.Items {
		ids[i] = item.ID
	}
	d, err := o.documentOf(r.Context(), ids)
	d.Title, d.About, d.Home = "feedmesh: newest items", "What is found here, as it comes.", base(r)+"/"
	if q := query.Get("q"); q != "" {
		d.Title = "feedmesh: " + q
	}
	if shown := r.URL.Query(); len(shown) > 0 {
		d.Home += "?" + shown.Encode()
	}
	return d, err
}

// tagged lists the newest items of all feeds with a tag.
func (o *outputs) tagged(r *http.Request, query url.Values) (document, error) {
	tag := query.Get("tag")
	if tag == "" {
		return document{}, &refusal{http.StatusBadRequest, "no tag is named: write ?tag=NAME"}
	}
	limit := defaultLimit
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return document{}, &refusal{http.StatusBadRequest, "limit must be a number from 1 to 100"}
		}
		limit = n
	}
	page, err := o.store.ListMarked(r.Context(), "", storage.MarkQuery{Stream: storage.Stream{Tag: tag}}, storage.Marked{}, limit)
	if err != nil {
		return document{}, err
	}
	ids := make([]string, len(page))
	for i, m := range page {
		ids[i] = m.ItemID
	}
	d, err := o.documentOf(r.Context(), ids)
	d.Title, d.About, d.Home = "feedmesh: feeds tagged "+tag, "The newest items of all feeds with this tag.", base(r)+"/"
	return d, err
}

// saved serves a saved search, whose name and format are the last part of the path.
func (o *outputs) saved(w http.ResponseWriter, r *http.Request) {
	file := r.PathValue("file")
	ending := path.Ext(file)
	f, is := formats[strings.TrimPrefix(ending, ".")]
	if !is {
		refuse(w, &refusal{http.StatusNotFound, "an output ends in .rss, .atom or .json"})
		return
	}
	all, err := o.store.SavedSearches(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	for _, search := range all {
		if search.Name == strings.TrimSuffix(file, ending) {
			o.serve(f, o.savedAs(search))(w, r)
			return
		}
	}
	refuse(w, &refusal{http.StatusNotFound, "there is no saved search of this name"})
}

// savedAs finds what a saved search finds.
func (o *outputs) savedAs(search storage.SavedSearch) source {
	return func(r *http.Request, _ url.Values) (document, error) {
		query, err := url.ParseQuery(search.Query)
		if err != nil {
			return document{}, err
		}
		for _, own := range []string{"limit", "cursor"} { // of a page that was looked at
			query.Del(own)
		}
		asked := r.Clone(r.Context())
		asked.URL.RawQuery = query.Encode()
		d, err := o.search(asked, query)
		if search.Title != "" {
			d.Title = search.Title
		}
		return d, err
	}
}

// documentOf returns a document of items that are there still.
func (o *outputs) documentOf(ctx context.Context, ids []string) (document, error) {
	items, err := o.store.Items(ctx, ids...)
	if err != nil {
		return document{}, err
	}
	var d document
	titles := map[string]string{}
	for _, item := range items {
		title, known := titles[item.FeedID]
		if !known {
			if f, err := o.store.Feed(ctx, item.FeedID); err == nil {
				title = f.Title
			}
			titles[item.FeedID] = title
		}
		d.add(entryOf(item, title))
	}
	return d, nil
}

// base returns the address at which a client reaches us. What is in front of us may
// speak TLS in our place.
func base(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// A refusal is what is wrong with a request.
type refusal struct {
	status int
	why    string
}

func (f *refusal) Error() string { return f.why }

// refuse answers what is wrong as problem+json, as the API itself does where it was
// asked.
func refuse(w http.ResponseWriter, err error) {
	var theirs *answer
	if errors.As(err, &theirs) {
		w.Header().Set("Content-Type", theirs.header.Get("Content-Type"))
		w.WriteHeader(theirs.status)
		w.Write(theirs.body.Bytes())
		return
	}
	f := &refusal{http.StatusServiceUnavailable, err.Error()}
	errors.As(err, &f)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(f.status)
	json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(f.status), "status": f.status, "detail": f.why})
}
