// Package greader implements the Google Reader API for feed readers such as NetNewsWire, Reeder, FeedMe, RSS
// Guard and Newsboat: subscriptions, their items, and the read and starred marks of each client. Folders are
// the tags of feeds; each person and each other token has its own marks and labels of items ([storage.Marks]). The API has
// labels for both: a label that is the name of a folder is the folder, and hides the label of items. [Handler] serves the API; responses and
// request bodies are bounded.
//
// The API was never specified. This package follows the common behavior of existing servers and clients: the
// original's description at undoc.in, FreshRSS's p/api/greader.php, Miniflux's internal/googlereader,
// Newsboat's src/feedhqapi.cpp.
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

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/storage"
)

// A Login returns the client with a name and a password, and the secret of its further requests. Its errors are those of
// [access.TokenStore.Authenticate] and [access.People.Login].
type Login func(r *http.Request, name, password string) (client access.Client, secret string, err error)

const (
	maxBody = 2 << 20 // bytes of a request: the long IDs of 10,000 items take 500 KB
	maxIDs  = 10_000  // items in a request

	// maxItemIDs bounds the IDs in a response, some 100 bytes each. RSS Guard requests 200,000 in one batch;
	// other clients request further pages.
	maxItemIDs = 100_000
)

// A server sends the answers of the calls.
type server struct {
	logIn Login
	log   *slog.Logger
}

// A handler serves a request with the parameters of its URL and its body combined, because clients put them
// into either.
type handler func(w http.ResponseWriter, r *http.Request, p url.Values) error

// Handler returns the API, for paths that begin with /reader/ or /accounts/. Except for the login, the
// request's context must contain the client. Requests must pass through [NormalizePaths] first.
func Handler(of *service.Service, login Login) http.Handler {
	s, all := &server{login, of.Log}, &streams{of.Store, of.Reading, of.Now}
	items, marks, feeds := &itemCalls{all}, &markCalls{all}, &feedCalls{all, of.Feeds}
	mux := http.NewServeMux()
	for path, c := range map[string]handler{
		"/accounts/ClientLogin":                s.login,
		"/reader/api/0/token":                  token,
		"/reader/api/0/user-info":              userInfo,
		"/reader/api/0/preference/list":        staticJSON(`{"prefs":[]}`),
		"/reader/api/0/preference/stream/list": staticJSON(`{"streamprefs":{}}`),
		"/reader/api/0/subscription/list":      feeds.subscriptions,
		"/reader/api/0/tag/list":               feeds.tags,
		"/reader/api/0/unread-count":           marks.unreadCounts,
		"/reader/api/0/stream/items/ids":       items.itemIDs,
		"/reader/api/0/stream/items/contents":  items.itemContents,
		"/reader/api/0/stream/contents":        items.streamContents,
		streamPath + "{stream...}":             items.streamContents,
		atomPath + "{stream...}":               items.streamAtom,
		"/reader/api/0/edit-tag":               requirePost(thenOK(marks.editTag)),
		"/reader/api/0/mark-all-as-read":       requirePost(thenOK(marks.markAllRead)),
		"/reader/api/0/subscription/edit":      requirePost(requireWrite(thenOK(feeds.editSubscription))),
		"/reader/api/0/subscription/quickadd":  requirePost(requireWrite(feeds.quickAdd)),
		"/reader/api/0/rename-tag":             requirePost(requireWrite(thenOK(feeds.renameTag))),
		"/reader/api/0/disable-tag":            requirePost(requireWrite(thenOK(feeds.disableTag))),
	} {
		mux.HandleFunc(path, s.answer(c))
	}
	mux.HandleFunc("/reader/api/0/subscription/export", feeds.export)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, &requestError{http.StatusNotFound, "this call is not supported"})
	})
	return mux
}

// The rest of these paths is a stream's ID.
const (
	streamPath = "/reader/api/0/stream/contents/"
	atomPath   = "/reader/atom/"
)

// answer returns an HTTP handler for a handler of the API.
func (s *server) answer(c handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store") // the response belongs to one client
		p, err := Parameters(w, r)
		if err == nil {
			err = c(w, r, p)
		}
		if err != nil {
			s.fail(w, err)
		}
	}
}

// Parameters returns the parameters of the URL and of the body, which is buffered up to maxBody. Some clients
// omit the body's Content-Type.
func Parameters(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	p := r.URL.Query()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, &requestError{http.StatusRequestEntityTooLarge, "the request is too large or incomplete; request fewer items"}
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

// requirePost rejects methods other than POST, so that no link or image can trigger a change.
func requirePost(c handler) handler {
	return func(w http.ResponseWriter, r *http.Request, p url.Values) error {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			return &requestError{http.StatusMethodNotAllowed, "this call needs POST"}
		}
		return c(w, r, p)
	}
}

// requireWrite rejects clients without the scope write.
func requireWrite(c handler) handler {
	return func(w http.ResponseWriter, r *http.Request, p url.Values) error {
		if !access.From(r.Context()).May(access.Write) {
			return &requestError{http.StatusForbidden, "this token may not change feeds; use a token with the scope write"}
		}
		return c(w, r, p)
	}
}

// staticJSON always sends the same JSON.
func staticJSON(answer string) handler {
	return func(w http.ResponseWriter, _ *http.Request, _ url.Values) error {
		return sendJSON(w, json.RawMessage(answer))
	}
}

// A requestError is an error caused by the request, with its HTTP status.
type requestError struct {
	status int
	reason string
}

func (f *requestError) Error() string { return f.reason }

func badRequest(why string) error { return &requestError{http.StatusBadRequest, why} }

// fail sends an error response. A response that has begun can't be changed.
func (s *server) fail(w http.ResponseWriter, err error) {
	var f *requestError
	switch {
	case errors.As(err, &f):
	case errors.Is(err, context.Canceled):
		return
	case errors.Is(err, storage.ErrNotFound):
		f = &requestError{http.StatusNotFound, err.Error()}
	default:
		s.log.Error("reader request failed", "err", err)
		f = &requestError{http.StatusServiceUnavailable, err.Error()}
	}
	sendText(w, f.status, f.reason+"\n")
}

func sendText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// thenOK returns a handler that sends OK after a change. Some clients compare its text.
func thenOK(change func(r *http.Request, p url.Values) error) handler {
	return func(w http.ResponseWriter, r *http.Request, p url.Values) error {
		err := change(r, p)
		if err == nil {
			sendText(w, http.StatusOK, "OK")
		}
		return err
	}
}

func sendJSON(w http.ResponseWriter, answer any) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	return ignoreWriteError(json.NewEncoder(w).Encode(answer))
}

// SendList sends a list in JSON, between head and tail, while each sends its entries. If each fails midway, the
// connection is aborted: a client would take a partial list for the complete one.
func SendList(w http.ResponseWriter, head, tail string, each func(send func(entry any) error) error) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	before, sent := head, false
	err := each(func(entry any) error {
		text, err := json.Marshal(entry)
		if err != nil {
			return err
		}
		io.WriteString(w, before)
		before, sent = ",", true
		_, err = w.Write(text)
		return err
	})
	switch {
	case err != nil && sent:
		panic(http.ErrAbortHandler)
	case err != nil:
		return err
	case !sent:
		io.WriteString(w, head)
	}
	io.WriteString(w, tail)
	return nil
}

// ignoreWriteError drops the error of a response whose client has disconnected.
func ignoreWriteError(error) error { return nil }
