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

// Bounds of pushes.
const (
	maxBody      = 10 << 20         // bytes of a body
	maxBodies    = 4                // buffered at the same time
	readTimeout  = 30 * time.Second // of a body
	pushInterval = 2 * time.Second  // average for one subscription
	maxBurst     = 30               // burst of pushes for one subscription
	maxRates     = 10_000           // subscriptions with a rate limiter
)

// receive receives a pushed body. An unsigned body is ignored but gets the same response, as the Recommendation
// requires, so that a forger learns nothing.
//
// Source: WebSub, sections 7 and 7.1.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request, token string) {
	s, err := h.Subscriptions.Get(r.Context(), token)
	switch {
	case errors.Is(err, ErrUnknown) || err == nil && s.Until.IsZero():
		h.respond(w, unknown, http.StatusGone, "no such subscription")
		return
	case err != nil:
		h.respondLater(w, err)
		return
	case !h.rates.allow(token, h.Now()):
		w.Header().Set("Retry-After", "60")
		h.respond(w, tooMany, http.StatusTooManyRequests, "too many requests")
		return
	}
	if h.bodies.Acquire(r.Context(), 1) != nil {
		return // the hub disconnected
	}
	defer h.bodies.Release(1)
	body, err := read(w, r)
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		h.respond(w, tooLarge, http.StatusRequestEntityTooLarge, fmt.Sprintf("at most %d bytes are accepted", maxBody))
		return
	} else if err != nil {
		h.respond(w, failed, http.StatusBadRequest, "incomplete body")
		return
	}
	outcome, err := h.admit(r.Context(), s, r.Header, body)
	if err != nil {
		h.respondLater(w, fmt.Errorf("deliver a push for feed %s: %w", s.FeedID, err))
		return
	}
	h.respond(w, outcome, http.StatusAccepted, "")
}

// read reads a body with a size limit and a timeout.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	// If the deadline is not supported, as in HTTP/2, the server's own timeouts apply.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

// admit delivers a signed, new body. A repeated body is ignored, because a replay would undo later changes.
func (h *Handler) admit(ctx context.Context, s Subscription, header http.Header, body []byte) (outcome string, err error) {
	valid, found := signed(header, s.Secret, body)
	switch {
	case !found:
		return unsigned, nil
	case !valid:
		return forged, nil
	case s.isRepeated(body):
		return repeated, nil
	}
	if err := h.Deliver(ctx, Delivery{FeedID: s.FeedID, Partition: s.Partition, Topic: s.Topic, ContentType: header.Get("Content-Type"), Body: body}); err != nil {
		return "", err
	}
	_, err = change(ctx, h.Subscriptions, s.Token, func(s *Subscription) bool {
		s.recordBody(body, h.Now())
		return true
	})
	if err != nil { // a repetition will be delivered too
		h.Log.Warn("record push failed", "feed_id", s.FeedID, "err", err)
	}
	return delivered, nil
}

// rates limits the pushes of each subscription. The zero value is ready for use.
type rates struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter // by token
}

// allow reports whether a subscription may push now.
func (r *rates) allow(token string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limiters == nil || len(r.limiters) == maxRates {
		r.limiters = make(map[string]*rate.Limiter) // reset all limits
	}
	if r.limiters[token] == nil {
		r.limiters[token] = rate.NewLimiter(rate.Every(pushInterval), maxBurst)
	}
	return r.limiters[token].AllowN(now, 1)
}
