package websub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What pushes may cost.
const (
	maxBody     = 10 << 20         // bytes of a body
	maxBodies   = 4                // in memory at once
	readTimeout = 30 * time.Second // of a body
	pushEvery   = 2 * time.Second  // for one subscription, in the long run
	maxBurst    = 30               // pushes for one subscription at once
	maxRates    = 10_000           // subscriptions of which the rate is known
)

// take takes a body that is pushed. One that its hub did not sign is ignored, but
// answered like the others, as the Recommendation has it: who forges does not
// learn how far it came.
//
// Source: WebSub, sections 7 and 7.1.
func (h *Handler) take(w http.ResponseWriter, r *http.Request, token string) {
	s, err := h.Subscriptions.Get(r.Context(), token)
	switch {
	case errors.Is(err, ErrUnknown) || err == nil && s.Until.IsZero():
		h.end(w, unknown, http.StatusGone, "nothing is wanted here any more")
		return
	case err != nil:
		h.later(w, err)
		return
	case !h.rates.allow(token, h.Now()):
		w.Header().Set("Retry-After", "60")
		h.end(w, tooMany, http.StatusTooManyRequests, "too many at once")
		return
	}
	if h.bodies.Acquire(r.Context(), 1) != nil {
		return // the hub has gone
	}
	defer h.bodies.Release(1)
	body, err := read(w, r)
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		h.end(w, tooLarge, http.StatusRequestEntityTooLarge, fmt.Sprintf("at most %d bytes are taken", maxBody))
		return
	} else if err != nil {
		h.end(w, failed, http.StatusBadRequest, "the body did not come whole")
		return
	}
	outcome, err := h.admit(r.Context(), s, r.Header, body)
	if err != nil {
		h.later(w, fmt.Errorf("deliver a push for feed %s: %w", s.FeedID, err))
		return
	}
	h.end(w, outcome, http.StatusAccepted, "")
}

// read reads a body within bounds.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	// Where it can't be set, as in HTTP/2, the server's own timeouts hold.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

// admit delivers a body if it is the hub's and new. A body that came before is
// none: played again later it would undo what came after it.
func (h *Handler) admit(ctx context.Context, s Subscription, header http.Header, body []byte) (outcome string, err error) {
	right, some := signed(header, s.Secret, body)
	switch {
	case !some:
		return unsigned, nil
	case !right:
		return forged, nil
	case s.brought(body):
		return repeated, nil
	}
	if err := h.Deliver(ctx, Delivery{FeedID: s.FeedID, Topic: s.Topic, ContentType: header.Get("Content-Type"), Body: body}); err != nil {
		return "", err
	}
	_, err = change(ctx, h.Subscriptions, s.Token, func(s *Subscription) bool {
		s.bring(body, h.Now())
		return true
	})
	if err != nil { // then a repeat is delivered too
		h.Log.Warn("a push is not remembered", "feed_id", s.FeedID, "err", err)
	}
	return delivered, nil
}

// rates bound how often each subscription brings something. The zero value is
// ready.
type rates struct {
	mu sync.Mutex
	of map[string]*rate.Limiter // by token
}

// allow reports whether a subscription may bring something now.
func (r *rates) allow(token string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || len(r.of) == maxRates {
		r.of = make(map[string]*rate.Limiter) // they start anew
	}
	if r.of[token] == nil {
		r.of[token] = rate.NewLimiter(rate.Every(pushEvery), maxBurst)
	}
	return r.of[token].AllowN(now, 1)
}
