// Package greader serves readers that speak the API of Google Reader, such as
// NetNewsWire, Reeder, FeedMe, RSS Guard and Newsboat: subscriptions, what is in
// them, and what a client has read and starred. Folders are the tags of feeds; each
// token has marks of its own ([storage.Marks]).
//
// Nobody ever wrote the API down. What is here is what the servers and clients that
// are left agree on: the original's description at undoc.in, FreshRSS's
// p/api/greader.php, Miniflux's internal/googlereader, Newsboat's src/feedhqapi.cpp.
package greader

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// A Store is the part of a [storage.Store] that readers see.
type Store interface {
	storage.Feeds
	storage.Items
	storage.Marks
}

// Deps are what the handler stands on.
type Deps struct {
	Store Store

	// Login returns who has the password, or an error that is [access.ErrWrong]
	// if nobody has.
	Login func(r *http.Request, password string) (access.Client, error)

	// Subscribe adds a feed by its address and returns its ID, also of one that
	// is known. Its errors are for whoever asked.
	Subscribe func(ctx context.Context, address string, tags []string) (feedID string, err error)

	// Unsubscribe removes a feed.
	Unsubscribe func(ctx context.Context, feedID string) error

	// Export serves all feeds as OPML.
	Export http.Handler

	Now func() time.Time
	Log *slog.Logger
}

const (
	maxBody = 2 << 20 // bytes of a request: 10,000 items' long IDs are 500 KB
	maxIDs  = 10_000  // items that a request names

	// maxListed is how many items one answer names, some 100 bytes each. RSS Guard
	// asks for 200,000 at once; others ask on.
	maxListed = 100_000
)

// A server answers readers.
type server struct{ Deps }

// A call answers a request whose parameters are those of its address and of its
// body, as readers put them into either.
type call func(w http.ResponseWriter, r *http.Request, p url.Values) error

// Handler returns the API, for paths that begin with /reader/ or /accounts/. Who
// asks must be in the request's context, but to log in. Requests are to pass through
// [Tidy] before.
func Handler(d Deps) http.Handler {
	s := &server{d}
	mux := http.NewServeMux()
	for path, c := range map[string]call{
		"/accounts/ClientLogin":                s.login,
		"/reader/api/0/token":                  s.token,
		"/reader/api/0/user-info":              s.userInfo,
		"/reader/api/0/preference/list":        constant(`{"prefs":[]}`),
		"/reader/api/0/preference/stream/list": constant(`{"streamprefs":{}}`),
		"/reader/api/0/subscription/list":      s.subscriptions,
		"/reader/api/0/tag/list":               s.tags,
		"/reader/api/0/unread-count":           s.unreadCounts,
		"/reader/api/0/stream/items/ids":       s.itemIDs,
		"/reader/api/0/stream/items/contents":  s.itemContents,
		"/reader/api/0/stream/contents":        s.streamContents,
		streamPath + "{stream...}":             s.streamContents,
		atomPath + "{stream...}":               s.streamAtom,
		"/reader/api/0/edit-tag":               posted(s.editTag),
		"/reader/api/0/mark-all-as-read":       posted(s.markAllRead),
		"/reader/api/0/subscription/edit":      posted(writer(s.editSubscription)),
		"/reader/api/0/subscription/quickadd":  posted(writer(s.quickAdd)),
		"/reader/api/0/rename-tag":             posted(writer(s.renameTag)),
		"/reader/api/0/disable-tag":            posted(writer(s.disableTag)),
	} {
		mux.HandleFunc(path, s.answer(c))
	}
	mux.Handle("/reader/api/0/subscription/export", d.Export)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, &fault{http.StatusNotFound, "there is no such call here"})
	})
	return mux
}

// The rest of these paths is a stream.
const (
	streamPath = "/reader/api/0/stream/contents/"
	atomPath   = "/reader/atom/"
)

// answer makes a handler of a call.
func (s *server) answer(c call) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store") // it is one client's own
		p, err := parameters(w, r)
		if err == nil {
			err = c(w, r, p)
		}
		if err != nil {
			s.fail(w, err)
		}
	}
}

// parameters returns those of the address and of the body. Not all clients say of
// what kind their body is.
func parameters(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	p := r.URL.Query()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, &fault{http.StatusRequestEntityTooLarge, "the request is too large, or broken off; ask for fewer items at once"}
	}
	posted, err := url.ParseQuery(strings.TrimSpace(string(body)))
	if err != nil {
		return nil, badRequest("the body is not a form: " + err.Error())
	}
	for name, values := range posted {
		p[name] = append(p[name], values...)
	}
	return p, nil
}

// posted allows a call by POST only, which no link or image can do.
func posted(c call) call {
	return func(w http.ResponseWriter, r *http.Request, p url.Values) error {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			return &fault{http.StatusMethodNotAllowed, "this changes something: send it by POST"}
		}
		return c(w, r, p)
	}
}

// writer allows a call to those who may change feeds.
func writer(c call) call {
	return func(w http.ResponseWriter, r *http.Request, p url.Values) error {
		if !access.From(r.Context()).May(access.Write) {
			return &fault{http.StatusForbidden, "this token may not change feeds: it takes one of scope write"}
		}
		return c(w, r, p)
	}
}

// constant answers always the same JSON.
func constant(answer string) call {
	return func(w http.ResponseWriter, _ *http.Request, _ url.Values) error {
		return sendJSON(w, json.RawMessage(answer))
	}
}

// A fault is what is wrong with a request.
type fault struct {
	status int
	why    string
}

func (f *fault) Error() string { return f.why }

func badRequest(why string) error { return &fault{http.StatusBadRequest, why} }

// fail says that a call failed, unless its answer has begun.
func (s *server) fail(w http.ResponseWriter, err error) {
	var f *fault
	switch {
	case errors.As(err, &f):
	case errors.Is(err, context.Canceled):
		return
	case errors.Is(err, storage.ErrNotFound):
		f = &fault{http.StatusNotFound, err.Error()}
	default:
		s.Log.Error("request of a reader failed", "err", err)
		f = &fault{http.StatusServiceUnavailable, err.Error()}
	}
	sendText(w, f.status, f.why+"\n")
}

func sendText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// sendOK is how all that is done is answered; some clients compare it.
func sendOK(w http.ResponseWriter) error {
	sendText(w, http.StatusOK, "OK")
	return nil
}

func sendJSON(w http.ResponseWriter, answer any) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	return ended(json.NewEncoder(w).Encode(answer))
}

// ended drops the error of an answer that its client does not wait for.
func ended(error) error { return nil }
