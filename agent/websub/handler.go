package websub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
)

// A Delivery is what a hub pushed for a feed, signed with what only it and we
// know. Often it has the new entries only, not all that the feed shows.
type Delivery struct {
	FeedID      string
	Topic       string
	ContentType string
	Body        []byte
}

// HandlerOptions are what a [Handler] stands on.
type HandlerOptions struct {
	Subscriptions Subscriptions
	// Deliver hands on a body; it may be called with one twice, and at the same
	// time. After an error the hub is asked to push it again.
	Deliver func(ctx context.Context, d Delivery) error
	Now     func() time.Time
	Metrics *Metrics
	Log     *slog.Logger
}

// A Handler serves what hubs call: it confirms what was asked for, and nothing
// else, and hands on what they push. Hubs show no token of the API, so it is to
// be served beside what asks for one, at [Path]. There may be many in a mesh.
type Handler struct {
	HandlerOptions
	bodies *semaphore.Weighted
	rates  rates
}

// NewHandler returns a handler.
func NewHandler(o HandlerOptions) *Handler {
	return &Handler{HandlerOptions: o, bodies: semaphore.NewWeighted(maxBodies)}
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.URL.Path, Path)
	switch {
	case !tokens.MatchString(token):
		h.end(w, unknown, http.StatusNotFound, "there never was anything here")
	case r.Method == http.MethodGet:
		h.confirm(w, r, token)
	case r.Method == http.MethodPost:
		h.take(w, r, token)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "hubs ask by GET and push by POST", http.StatusMethodNotAllowed)
	}
}

// tokens are such as [rand.Text] makes: what a stranger sends instead may not be
// fit to be looked up.
var tokens = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// maxChallenge is the most that we echo, in bytes.
const maxChallenge = 4 << 10

// confirm answers a hub that asks whether we want what it was asked for, or that
// tells that it refuses.
//
// Source: WebSub, sections 5.2 and 5.3.
func (h *Handler) confirm(w http.ResponseWriter, r *http.Request, token string) {
	q := r.URL.Query()
	mode, challenge := q.Get("hub.mode"), q.Get("hub.challenge")
	outcome, now := unasked, h.Now()
	_, err := change(r.Context(), h.Subscriptions, token, func(s *Subscription) bool {
		outcome = unasked
		switch {
		case q.Get("hub.topic") != s.Topic:
		case mode == "denied" && s.State != Leaving && s.State != Left:
			outcome, s.Until = denied, time.Time{}
			s.deny(strings.TrimSuffix("the hub refused: "+words(q.Get("hub.reason")), ": "), now)
		case challenge != "" && len(challenge) <= maxChallenge && s.confirms(mode, now):
			outcome = verified
			s.confirm(granted(q.Get("hub.lease_seconds")), now)
		}
		return outcome != unasked
	})
	if err != nil && !errors.Is(err, ErrUnknown) {
		h.later(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8") // whatever the challenge looks like
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch outcome {
	case verified:
		h.end(w, outcome, http.StatusOK, challenge)
	case denied:
		h.end(w, outcome, http.StatusOK, "")
	default:
		h.end(w, outcome, http.StatusNotFound, "nothing like that was asked for")
	}
}

// end counts and answers a call.
func (h *Handler) end(w http.ResponseWriter, outcome string, status int, text string) {
	h.Metrics.calls.WithLabelValues(outcome).Inc()
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// later logs why a call came to nothing, and asks for it again.
func (h *Handler) later(w http.ResponseWriter, err error) {
	h.Log.Error("a hub's call failed; it is asked to call again", "err", err)
	w.Header().Set("Retry-After", "60")
	h.end(w, failed, http.StatusServiceUnavailable, "not now")
}
