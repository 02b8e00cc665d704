// Package fever implements the Fever API, version 3, for apps that have no Google Reader API, such as older versions of Reeder
// and Unread: groups, feeds, items, and the read and saved marks of each client. Groups are the tags of feeds, saved items
// are starred items. [Handler] serves the API; responses and request bodies are bounded.
//
// The IDs of Fever are positive integers; those of items ascend in order of arrival, because apps request the items after the
// largest ID that they have. Neither the hashes in the IDs of items nor their times have these properties: an item whose
// document waited in a queue is stored after items that were fetched later. So the store numbers items when an app first
// requests them ([storage.Serials]): each number is larger than all that any app has received. They are small, because some
// apps store them in 32 bits.
//
// Links and favicons are always empty, there are no sparks, and unread_recently_read has no effect: the store does not record
// when an item was marked. XML is not supported.
//
// Source: https://web.archive.org/web/feedafever.com/api.
package fever

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/web/greader"
	"feedmesh/storage"
)

// A Login returns the client of a key, or [access.ErrInvalidToken], a [*access.GuessError], or the error of the store.
type Login func(r *http.Request, key string) (access.Client, error)

const (
	version = 3
	maxForm = 64 << 10 // bytes of a multipart form: 50 numbers and a key take 1 KB
)

// A server answers requests.
type server struct {
	store   storage.Store
	reading *reading.Lists
	now     func() time.Time
	logIn   Login
	log     *slog.Logger

	mu       sync.Mutex // locked while items are numbered, so that concurrent requests share it
	numbered time.Time  // when new items were numbered
	complete time.Time  // when all items were
}

// Handler returns the API, for paths that begin with /fever. It authenticates requests itself: the caller must reject those
// from other sites.
func Handler(of *service.Service, login Login) http.Handler {
	return &server{store: of.Store, reading: of.Reading, now: of.Now, logIn: login, log: of.Log}
}

// ServeHTTP answers a request. The members of the answer depend on the parameters that the request has.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store") // the response belongs to one client
	p, err := parameters(w, r)
	if err != nil {
		s.fail(w, &requestError{"the form is incomplete, wrong or too large: " + err.Error()})
		return
	}
	client, err := s.logIn(r, p.Get("api_key"))
	var guess *access.GuessError
	switch {
	case errors.As(err, &guess):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(guess.Wait.Seconds()))))
		s.send(w, http.StatusTooManyRequests, denied)
		return
	case errors.Is(err, access.ErrInvalidToken), err == nil && !client.May(access.Read):
		s.send(w, http.StatusOK, denied)
		return
	case err != nil:
		s.fail(w, err)
		return
	}
	if err := s.answer(w, r.WithContext(access.With(r.Context(), client)), p); err != nil {
		s.fail(w, err)
	}
}

// denied is the answer to a request without a valid key. The protocol has no status for it.
var denied = map[string]any{"api_version": version, "auth": 0}

// parameters returns the parameters of the URL and the body, which is a form of either type.
func parameters(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		err := r.ParseMultipartForm(maxForm)
		return r.Form, err
	}
	return greader.Parameters(w, r)
}

// answer makes the change that a request contains, then sends what it requests.
func (s *server) answer(w http.ResponseWriter, r *http.Request, p url.Values) error {
	ctx := r.Context()
	members := map[string]any{"api_version": version, "auth": 1, "last_refreshed_on_time": s.now().Unix()}
	if p.Has("mark") && r.Method == http.MethodPost {
		list, err := s.mark(ctx, p)
		if err != nil {
			return err
		}
		p.Set(list, "") // the answer to a change has the list that it changed
	}
	for name, add := range map[string]func(context.Context, map[string]any) error{
		"groups": s.addGroups, "feeds": s.addFeeds, "unread_item_ids": s.addUnread, "saved_item_ids": s.addSaved,
	} {
		if !p.Has(name) {
			continue
		}
		if err := add(ctx, members); err != nil {
			return err
		}
	}
	for _, name := range []string{"favicons", "links"} {
		if p.Has(name) {
			members[name] = []any{}
		}
	}
	if p.Has("items") {
		return s.sendItems(ctx, w, p, members)
	}
	s.send(w, http.StatusOK, members)
	return nil
}

// send sends an answer. A client that has disconnected is no error.
func (s *server) send(w http.ResponseWriter, status int, members map[string]any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(members)
}

// A requestError is an error caused by the request.
type requestError struct{ reason string }

func (e *requestError) Error() string { return e.reason }

// fail sends an error response.
func (s *server) fail(w http.ResponseWriter, err error) {
	var wrong *requestError
	status := http.StatusServiceUnavailable
	switch {
	case errors.Is(err, context.Canceled):
		return
	case errors.As(err, &wrong):
		status = http.StatusBadRequest
	default:
		s.log.Error("fever request failed", "err", err)
	}
	http.Error(w, err.Error(), status)
}
