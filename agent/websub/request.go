package websub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"
)

// Bounds of requests to hubs. Most feeds share a few hubs, which receive requests in batches; an unavailable
// hub costs one request a round.
const (
	roundInterval   = time.Minute
	hubWorkers      = 4
	maxHostRequests = 25 // requests to one host in a round
	requestTimeout  = 30 * time.Second
	maxErrorText    = 200 // bytes of a hub's error text
)

// Run sends due requests to hubs until ctx ends, and returns when the last has completed.
func (s *Subscriber) Run(ctx context.Context) {
	tick := time.NewTicker(roundInterval)
	defer tick.Stop()
	for {
		if err := s.round(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("renew subscriptions failed, retry in a minute", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// round handles the subscriptions that are due now.
func (s *Subscriber) round(ctx context.Context) error {
	due := make(map[string][]Subscription) // by the hub's host
	for sub, err := range s.Subscriptions.List(ctx) {
		if err != nil {
			return fmt.Errorf("list subscriptions: %w", err)
		}
		if !s.owns(sub) {
			continue
		}
		s.updateCache(sub)
		if !sub.Next.After(s.Now()) {
			due[host(sub.Hub)] = append(due[host(sub.Hub)], sub)
		}
	}
	var g errgroup.Group
	g.SetLimit(hubWorkers)
	for _, subs := range due {
		g.Go(func() error { return s.handleHost(ctx, subs) })
	}
	return g.Wait()
}

// handleHost handles due subscriptions of one host, oldest first, until the host turns out to be unavailable.
func (s *Subscriber) handleHost(ctx context.Context, due []Subscription) error {
	slices.SortFunc(due, func(a, b Subscription) int { return a.Next.Compare(b.Next) })
	for _, sub := range due[:min(len(due), maxHostRequests)] {
		available, err := s.handle(ctx, sub)
		if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrUnknown) {
			return fmt.Errorf("subscription of feed %s: %w", sub.FeedID, err)
		}
		if !available || ctx.Err() != nil {
			break
		}
	}
	return nil
}

// handle handles a due subscription. It returns false if the hub is unavailable.
func (s *Subscriber) handle(ctx context.Context, sub Subscription) (available bool, err error) {
	switch {
	case sub.State == Unsubscribed, sub.State == Unsubscribing && (sub.Requested.IsZero() || sub.Failures == maxUnsubscribes):
		return true, s.Subscriptions.Delete(ctx, sub)
	case sub.State == Requested:
		s.Metrics.requests.WithLabelValues(unconfirmed).Inc()
		return true, s.put(ctx, sub, func(sub *Subscription) {
			sub.recordFailure(fmt.Sprintf("the hub did not confirm the subscription within %v: can it reach %s?", confirmTimeout, sub.Base+Path), s.Now())
		})
	case sub.State == Unsubscribing:
		return s.sendRequest(ctx, sub, "unsubscribe")
	}
	return s.sendRequest(ctx, sub, "subscribe")
}

// sendRequest sends a request to the hub. The request is stored before, because the hub may call back before it
// responds.
func (s *Subscriber) sendRequest(ctx context.Context, sub Subscription, mode string) (available bool, err error) {
	if err := s.put(ctx, sub, func(sub *Subscription) { sub.recordRequest(s.Now()) }); err != nil {
		return true, err
	}
	requestCtx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	status, body, err := s.Poster.Post(requestCtx, sub.Hub, requestForm(sub, mode))
	if ctx.Err() != nil {
		return true, nil // not an error of the hub; retried if it does not confirm
	}
	outcome, reason := classifyResponse(status, body, err)
	s.Metrics.requests.WithLabelValues(outcome).Inc()
	if outcome == accepted {
		return true, nil
	}
	s.Log.Debug("hub request failed", "feed_id", sub.FeedID, "url", sub.Hub, "err", reason)
	return outcome == refused, s.recordFailure(ctx, sub, outcome, reason)
}

// recordFailure records a failed request, unless the hub called back nevertheless.
func (s *Subscriber) recordFailure(ctx context.Context, sub Subscription, outcome, reason string) error {
	now := s.Now()
	sub, err := change(ctx, s.Subscriptions, sub.Token, func(sub *Subscription) bool {
		switch {
		case sub.State != Requested && sub.State != Unsubscribing:
			return false
		case outcome == refused && sub.State == Requested:
			sub.recordDenial(reason, now)
		default:
			sub.recordFailure(reason, now)
		}
		return true
	})
	if err != nil {
		return err
	}
	s.updateCache(sub)
	return nil
}

// put stores an edited subscription.
func (s *Subscriber) put(ctx context.Context, sub Subscription, edit func(*Subscription)) error {
	edit(&sub)
	revision, err := s.Subscriptions.Put(ctx, sub)
	if err != nil {
		return err
	}
	sub.Revision = revision
	s.updateCache(sub)
	return nil
}

// requestForm returns the parameters of a request to a hub.
//
// Source: WebSub, section 5.1.
func requestForm(s Subscription, mode string) url.Values {
	f := url.Values{
		"hub.mode":     {mode},
		"hub.topic":    {s.Topic},
		"hub.callback": {s.Base + Path + s.Token},
	}
	if mode == "subscribe" {
		f.Set("hub.lease_seconds", strconv.Itoa(int(lease/time.Second)))
		f.Set("hub.secret", s.Secret)
	}
	return f
}

// classifyResponse classifies the response to a request, with its reason as text. A refusal is final for now; a failure
// is retried.
func classifyResponse(status int, body []byte, err error) (outcome, reason string) {
	switch {
	case err != nil:
		return failed, fmt.Sprintf("hub request failed: %v", err)
	case status/100 == 2:
		return accepted, ""
	}
	reason = strings.TrimSuffix(fmt.Sprintf("the hub returned status %d: %s", status, oneLine(string(body))), ": ")
	if status/100 == 4 && status != 408 && status != 429 {
		return refused, reason
	}
	return failed, reason
}

// oneLine returns a hub's text on one line and shortened; "" for a web page.
func oneLine(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return ""
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// host returns the host of an address, or the address if it has none.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return cmp.Or(u.Host, address)
}
