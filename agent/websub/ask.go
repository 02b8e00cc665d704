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

// How hubs are asked. Most feeds have one of a few hubs, which get them in
// portions; one that does not answer costs one request a round.
const (
	roundEvery   = time.Minute
	hubsAtOnce   = 4
	portion      = 25 // of one host in a round
	askTimeout   = 30 * time.Second
	maxErrorText = 200 // bytes of a hub's words
)

// Run asks hubs for what is due until ctx ends, and returns when the last of
// them has answered.
func (s *Subscriber) Run(ctx context.Context) {
	tick := time.NewTicker(roundEvery)
	defer tick.Stop()
	for {
		if err := s.round(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("subscriptions not renewed; tried again in a minute", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// round does what is due now.
func (s *Subscriber) round(ctx context.Context) error {
	due := make(map[string][]Subscription) // by the hub's host
	for sub, err := range s.Subscriptions.List(ctx) {
		if err != nil {
			return fmt.Errorf("list subscriptions: %w", err)
		}
		s.saw(sub)
		if !sub.Next.After(s.Now()) {
			due[host(sub.Hub)] = append(due[host(sub.Hub)], sub)
		}
	}
	var g errgroup.Group
	g.SetLimit(hubsAtOnce)
	for _, subs := range due {
		g.Go(func() error { return s.portion(ctx, subs) })
	}
	return g.Wait()
}

// portion does what is due at one host, longest due first, until that turns out
// to be down.
func (s *Subscriber) portion(ctx context.Context, due []Subscription) error {
	slices.SortFunc(due, func(a, b Subscription) int { return a.Next.Compare(b.Next) })
	for _, sub := range due[:min(len(due), portion)] {
		up, err := s.act(ctx, sub)
		if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrUnknown) {
			return fmt.Errorf("subscription of feed %s: %w", sub.FeedID, err)
		}
		if !up || ctx.Err() != nil {
			break
		}
	}
	return nil
}

// act does what is due about a subscription. It returns false if the hub was
// asked and is down.
func (s *Subscriber) act(ctx context.Context, sub Subscription) (up bool, err error) {
	switch {
	case sub.State == Left, sub.State == Leaving && (sub.Asked.IsZero() || sub.Failures == maxPartings):
		return true, s.Subscriptions.Delete(ctx, sub)
	case sub.State == Asked:
		s.Metrics.requests.WithLabelValues(unconfirmed).Inc()
		return true, s.put(ctx, sub, func(sub *Subscription) {
			sub.fail(fmt.Sprintf("the hub did not confirm the subscription within %v: can it reach %s?", patience, sub.Base+Path), s.Now())
		})
	case sub.State == Leaving:
		return s.ask(ctx, sub, "unsubscribe")
	}
	return s.ask(ctx, sub, "subscribe")
}

// ask asks the hub. That it is being asked is written down before, for it may
// call back before it answers.
func (s *Subscriber) ask(ctx context.Context, sub Subscription, mode string) (up bool, err error) {
	if err := s.put(ctx, sub, func(sub *Subscription) { sub.ask(s.Now()) }); err != nil {
		return true, err
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	status, body, err := s.Poster.Post(asking, sub.Hub, form(sub, mode))
	if ctx.Err() != nil {
		return true, nil // not the hub's fault; it is asked again when it has not confirmed
	}
	outcome, why := judge(status, body, err)
	s.Metrics.requests.WithLabelValues(outcome).Inc()
	if outcome == accepted {
		return true, nil
	}
	s.Log.Debug("hub not asked", "feed_id", sub.FeedID, "url", sub.Hub, "err", why)
	return outcome == refused, s.fail(ctx, sub, outcome, why)
}

// fail notes that asking came to nothing, unless the hub called back nevertheless.
func (s *Subscriber) fail(ctx context.Context, sub Subscription, outcome, why string) error {
	now := s.Now()
	sub, err := change(ctx, s.Subscriptions, sub.Token, func(sub *Subscription) bool {
		switch {
		case sub.State != Asked && sub.State != Leaving:
			return false
		case outcome == refused && sub.State == Asked:
			sub.deny(why, now)
		default:
			sub.fail(why, now)
		}
		return true
	})
	if err != nil {
		return err
	}
	s.saw(sub)
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
	s.saw(sub)
	return nil
}

// form is what a hub is asked with.
//
// Source: WebSub, section 5.1.
func form(s Subscription, mode string) url.Values {
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

// judge says what came of a request, and why in words. A refusal is the hub's
// last word for now; a failure may pass.
func judge(status int, body []byte, err error) (outcome, why string) {
	switch {
	case err != nil:
		return failed, fmt.Sprintf("the hub could not be asked: %v", err)
	case status/100 == 2:
		return accepted, ""
	}
	why = strings.TrimSuffix(fmt.Sprintf("the hub answered %d: %s", status, words(string(body))), ": ")
	if status/100 == 4 && status != 408 && status != 429 {
		return refused, why
	}
	return failed, why
}

// words returns what a hub wrote, on one line and not too long; "" if it is a
// web page.
func words(text string) string {
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
