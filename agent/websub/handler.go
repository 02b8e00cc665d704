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

// Delivery is content that a hub pushed for a feed, with a valid signature. Often it contains new entries
// only.
type Delivery struct {
	FeedID      string
	Partition   int // of the schedule that has the feed
	Topic       string
	ContentType string
	Body        []byte
}

// HandlerOptions are the parameters of a [Handler].
type HandlerOptions struct {
	Subscriptions Subscriptions
	// Deliver processes a body. It may be called twice with one body, and concurrently. After an error the
	// hub is requested to push again.
	Deliver func(ctx context.Context, d Delivery) error
	Now     func() time.Time
	Metrics *Metrics
	Log     *slog.Logger
}

// Handler serves the calls of hubs: it confirms requested subscriptions and delivers pushed content. Hubs
// have no API token, so serve it outside of authentication, at [Path]. A mesh may have several.
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
		h.respond(w, unknown, http.StatusNotFound, "unknown callback")
	case r.Method == http.MethodGet:
		h.confirm(w, r, token)
	case r.Method == http.MethodPost:
		h.receive(w, r, token)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "use GET to verify and POST to push", http.StatusMethodNotAllowed)
	}
}

// tokens matches the output of [crypto/rand.Text]. Other strings may be invalid as keys.
var tokens = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// maxChallenge bounds the echoed challenge, in bytes.
const maxChallenge = 4 << 10

// confirm answers a hub that verifies a request or that reports a denial.
//
// Source: WebSub, sections 5.2 and 5.3.
func (h *Handler) confirm(w http.ResponseWriter, r *http.Request, token string) {
	q := r.URL.Query()
	mode, challenge := q.Get("hub.mode"), q.Get("hub.challenge")
	outcome, now := unrequested, h.Now()
	_, err := change(r.Context(), h.Subscriptions, token, func(s *Subscription) bool {
		outcome = unrequested
		switch {
		case q.Get("hub.topic") != s.Topic:
		case mode == "denied" && s.State != Unsubscribing && s.State != Unsubscribed:
			outcome, s.Until = denied, time.Time{}
			s.recordDenial(strings.TrimSuffix("the hub refused: "+oneLine(q.Get("hub.reason")), ": "), now)
		case challenge != "" && len(challenge) <= maxChallenge && s.awaits(mode, now):
			outcome = verified
			s.recordConfirmation(parseLease(q.Get("hub.lease_seconds")), now)
		}
		return outcome != unrequested
	})
	if err != nil && !errors.Is(err, ErrUnknown) {
		h.respondLater(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8") // regardless of the challenge's content
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch outcome {
	case verified:
		h.respond(w, outcome, http.StatusOK, challenge)
	case denied:
		h.respond(w, outcome, http.StatusOK, "")
	default:
		h.respond(w, outcome, http.StatusNotFound, "no matching request")
	}
}

// respond counts and answers a call.
func (h *Handler) respond(w http.ResponseWriter, outcome string, status int, text string) {
	h.Metrics.calls.WithLabelValues(outcome).Inc()
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// respondLater logs a temporary error and requests a retry from the hub.
func (h *Handler) respondLater(w http.ResponseWriter, err error) {
	h.Log.Error("hub call failed, retry requested", "err", err)
	w.Header().Set("Retry-After", "60")
	h.respond(w, failed, http.StatusServiceUnavailable, "temporarily unavailable")
}
