package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/role/deliver/alert"
	"feedmesh/agent/role/deliver/schedule"
	"feedmesh/agent/role/deliver/webhook"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Subscriptions answers requests about subscriptions to views. That of another client does not exist for a client, unless it
// is an administrator.
type Subscriptions struct {
	*core
	views *Views
	off   offCache
}

// readable reports whether a client may see and change a subscription.
func readable(s storage.Subscription, c access.Client) bool {
	return access.IsSame(s.Owner, c.ID) || c.May(access.Admin)
}

// List returns the subscriptions that the client may see, ordered by title.
func (s *Subscriptions) List(ctx context.Context, _ wire.None) (wire.SubscriptionList, error) {
	client := access.From(ctx)
	stored, err := storage.Subscriptions(s.Store).List(ctx)
	if err != nil {
		return wire.SubscriptionList{}, err
	}
	stored = slices.DeleteFunc(stored, func(one storage.Subscription) bool { return !readable(one, client) })
	slices.SortStableFunc(stored, func(a, b storage.Subscription) int { return cmp.Compare(a.Title, b.Title) })
	states, err := s.statesOf(ctx, stored)
	return wire.SubscriptionList{Subscriptions: states}, err
}

// statesOf returns subscriptions as clients see them.
func (s *Subscriptions) statesOf(ctx context.Context, stored []storage.Subscription) ([]wire.SubscriptionState, error) {
	states, err := s.Store.DeliveryStates(ctx, convert(stored, func(one storage.Subscription) string { return one.ID })...)
	if err != nil {
		return nil, err
	}
	views, err := storage.Views(s.Store).List(ctx)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, v := range views {
		names[v.Number] = v.Name
	}
	client := access.From(ctx)
	return convert(stored, func(one storage.Subscription) wire.SubscriptionState {
		d := states[one.ID]
		out := wire.SubscriptionState{
			ID: one.ID, Title: one.Title, Views: []string{}, Channel: one.Channel, Schedule: one.Schedule, Alert: one.Alert, Mine: access.IsSame(one.Owner, client.ID), Created: one.Created, Expires: one.Expires,
			State: wire.SubscriptionOn, Off: d.Off, Problem: d.Problem, Failures: d.Failures, FailingSince: d.FailingSince, Due: d.Due, Sent: d.Sent,
		}
		for _, number := range one.Views {
			if name := names[number]; name != "" {
				out.Views = append(out.Views, name)
			}
		}
		if address, _, err := s.Secrets.OpenReceiver(one); err != nil {
			out.Receiver = err.Error()
		} else if ch := s.Channels[one.Channel]; ch != nil {
			out.Receiver = ch.Redacted(address)
		}
		switch {
		case d.Off != "":
			out.State = wire.SubscriptionOff
		case d.Failures > 0:
			out.State = wire.SubscriptionFailing
		}
		return out
	}), nil
}

// read returns a subscription that the client may see, or [storage.ErrNotFound].
func (s *Subscriptions) read(ctx context.Context, id string) (storage.Subscription, error) {
	stored, err := storage.Subscriptions(s.Store).Get(ctx, id)
	if err == nil && !readable(stored, access.From(ctx)) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return stored, fmt.Errorf("subscription %s: %w", id, err)
	}
	return stored, nil
}

// Get returns one subscription.
func (s *Subscriptions) Get(ctx context.Context, in wire.ByID) (wire.SubscriptionState, error) {
	stored, err := s.read(ctx, in.ID)
	if err != nil {
		return wire.SubscriptionState{}, err
	}
	states, err := s.statesOf(ctx, []storage.Subscription{stored})
	if err != nil {
		return wire.SubscriptionState{}, err
	}
	return states[0], nil
}

// Add adds a subscription to views that the client may read.
func (s *Subscriptions) Add(ctx context.Context, in wire.AddSubscriptionRequest) (wire.AddedSubscription, error) {
	ch := s.Channels[in.Body.Channel]
	if ch == nil || in.Body.Channel == deliver.WebSub { // its subscribers subscribe by themselves
		return wire.AddedSubscription{}, errorf(KindConflict, "this node has no channel %s: configure it", in.Body.Channel)
	}
	var problems []FieldError
	if err := ch.Check(in.Body.Receiver); err != nil {
		problems = append(problems, fieldf("body.receiver", "%v", err))
	}
	times, err := schedule.Parse(in.Body.Schedule)
	if err != nil {
		problems = append(problems, fieldf("body.schedule", "%v", err))
	} else if in.Body.Schedule != "" && ch.Limits().Items == 1 {
		problems = append(problems, fieldf("body.schedule", "a %s gets each item at once", in.Body.Channel))
	}
	condition, err := alert.Parse(in.Body.Alert)
	if err != nil {
		problems = append(problems, fieldf("body.alert", "%v", err))
	} else if in.Body.Alert != "" && in.Body.Schedule != "" {
		problems = append(problems, fieldf("body.schedule", "an alert is sent at once"))
	}
	secret := in.Body.Secret
	if in.Body.Channel == deliver.Webhook {
		if secret == "" {
			secret = webhook.NewSecret()
		} else if err := webhook.CheckSecret(secret); err != nil {
			problems = append(problems, fieldf("body.secret", "%v", err))
		}
	} else if in.Body.Channel == deliver.Mail && secret == "" {
		secret = rand.Text() // key of the link to unsubscribe
	} else if secret != "" {
		problems = append(problems, fieldf("body.secret", "only webhooks are signed"))
	}
	if len(problems) > 0 {
		return wire.AddedSubscription{}, &Error{KindInvalid, "the subscription is wrong, nothing was added", problems}
	}
	last, err := s.Store.LastSerial(ctx)
	if err != nil {
		return wire.AddedSubscription{}, err
	}
	added := storage.Subscription{
		ID: strings.ToLower(nuid.Next()), Owner: access.From(ctx).ID, Title: cmp.Or(in.Body.Title, strings.Join(in.Body.Views, ", ")), Channel: in.Body.Channel,
		Receiver: in.Body.Receiver, Secret: secret, Schedule: times.String(), After: last, Created: s.Now(),
		Alert: condition.String(), IsTimed: condition.IsTimed(),
	}
	for _, name := range in.Body.Views {
		v, err := s.views.read(ctx, name)
		if errors.Is(err, storage.ErrNotFound) {
			return wire.AddedSubscription{}, errorf(KindConflict, "there is no view %s: add it first", name)
		} else if err != nil {
			return wire.AddedSubscription{}, err
		}
		if !slices.Contains(added.Views, v.stored.Number) {
			added.Views = append(added.Views, v.stored.Number)
		}
	}
	if condition.Kind == alert.Falls {
		if err := s.checkScored(ctx, added.Views); err != nil {
			return wire.AddedSubscription{}, err
		}
	}
	if added.Receiver, added.Secret, err = s.Secrets.SealReceiver(ctx, added); err != nil {
		return wire.AddedSubscription{}, unsealed(err)
	}
	err = storage.Subscriptions(s.Store).Change(ctx, added.ID, func(*storage.Subscription) (*storage.Subscription, error) { return &added, nil })
	if errors.Is(err, storage.ErrTooMany) {
		err = errorf(KindConflict, "there are %d subscriptions, which is all there may be: remove one first", storage.MaxSubscriptions)
	}
	if err != nil {
		return wire.AddedSubscription{}, err
	}
	state, err := s.Get(ctx, wire.ByID{ID: added.ID})
	if in.Body.Channel != deliver.Webhook {
		secret = "" // a key that its owner does not need
	}
	return wire.AddedSubscription{SubscriptionState: state, Secret: secret}, err
}

// maxUnscored is the number of members of a view that are searched for a sentiment.
const maxUnscored = 500

// checkScored returns an error if items entered the views, and none of the last has a sentiment. Without items, and for what comes later, the
// role deliver stores a problem of the subscription.
func (s *Subscriptions) checkScored(ctx context.Context, views []int64) error {
	n := 0
	for _, view := range views {
		members, err := s.Store.ListScored(ctx, view, math.MaxInt64, maxUnscored)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(members, func(m storage.ScoredMember) bool { return m.Sentiment != 0 }) {
			return nil
		}
		n += len(members)
	}
	if n == 0 {
		return nil
	}
	return errorf(KindConflict, "none of the last %d items of these views has a sentiment: turn on classify.sentiment for all agents with the role classify, and add the alert when English or Russian items entered", n)
}

// Unsubscribed returns the title of a subscription to mails whose link has the key, and removes it if remove is set. The link needs
// no login. The error is [storage.ErrNotFound] also for a wrong key.
func (s *Subscriptions) Unsubscribed(ctx context.Context, id, key string, remove bool) (title string, err error) {
	stored, err := storage.Subscriptions(s.Store).Get(ctx, id)
	if err != nil {
		return "", err
	}
	_, secret, err := s.Secrets.OpenReceiver(stored)
	if err != nil {
		return "", err
	}
	if stored.Channel != deliver.Mail || secret == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(key)) == 0 {
		return "", storage.ErrNotFound
	}
	if remove {
		err = storage.Subscriptions(s.Store).Remove(ctx, id)
	}
	return stored.Title, err
}

// Remove removes a subscription.
func (s *Subscriptions) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	if _, err := s.read(ctx, in.ID); err != nil {
		return wire.None{}, err
	}
	defer s.off.expire()
	return wire.None{}, storage.Subscriptions(s.Store).Remove(ctx, in.ID)
}

// removeOf removes all subscriptions of a client that is removed.
func (s *Subscriptions) removeOf(ctx context.Context, owner string) error {
	all, err := storage.Subscriptions(s.Store).List(ctx)
	for _, one := range all {
		if one.Owner == owner {
			err = errors.Join(err, storage.Subscriptions(s.Store).Remove(ctx, one.ID))
		}
	}
	return err
}

// turnedOff is the reason of a subscription that a client turned off.
const turnedOff = "turned off on request"

// Change turns a subscription on or off. One that was turned off because it failed starts anew.
func (s *Subscriptions) Change(ctx context.Context, in wire.ChangeSubscriptionRequest) (wire.SubscriptionState, error) {
	if _, err := s.read(ctx, in.ID); err != nil {
		return wire.SubscriptionState{}, err
	}
	if err := s.turn(ctx, in.ID, in.Body.On); err != nil {
		return wire.SubscriptionState{}, err
	}
	return s.Get(ctx, in.ByID)
}

// turn turns a subscription on or off.
func (s *Subscriptions) turn(ctx context.Context, id string, on bool) error {
	defer s.off.expire()
	return s.Store.ChangeDelivery(ctx, id, func(d *storage.DeliveryState) {
		if on {
			*d = storage.DeliveryState{Subscription: d.Subscription, Cursor: d.Cursor, Sent: d.Sent}
		} else if d.Off == "" {
			d.Off, d.Inform = turnedOff, time.Time{}
		}
	})
}

// Repeat makes items be sent again: one as a retry now, or all since a time as a new batch.
func (s *Subscriptions) Repeat(ctx context.Context, in wire.RepeatRequest) (wire.None, error) {
	stored, err := s.read(ctx, in.ID)
	if err != nil {
		return wire.None{}, err
	}
	if (in.Body.Item == "") == in.Body.Since.IsZero() {
		return wire.None{}, errorf(KindConflict, "state either the item or since")
	}
	if in.Body.Item != "" {
		if err := s.Store.RepeatDelivery(ctx, in.ID, in.Body.Item, s.Now()); errors.Is(err, storage.ErrNotFound) {
			return wire.None{}, errorf(KindConflict, "item %s is not in the log of the subscription: name a time with since", in.Body.Item)
		} else if err != nil {
			return wire.None{}, err
		}
		return wire.None{}, nil
	}
	first, err := s.Store.FirstSerial(ctx, stored.Views, in.Body.Since)
	if err != nil {
		return wire.None{}, err
	}
	return wire.None{}, s.Store.ChangeDelivery(ctx, in.ID, func(d *storage.DeliveryState) {
		if first > 0 {
			d.Cursor = min(d.Cursor, first-1)
		}
	})
}

// Attempts returns a page of the log of a subscription.
func (s *Subscriptions) Attempts(ctx context.Context, in wire.ListAttemptsRequest) (wire.DeliveryAttempts, error) {
	if _, err := s.read(ctx, in.ID); err != nil {
		return wire.DeliveryAttempts{}, err
	}
	stored, err := s.Store.ListAttempts(ctx, in.ID, in.Before, in.Limit)
	if err != nil {
		return wire.DeliveryAttempts{}, err
	}
	page := wire.DeliveryAttempts{Attempts: convert(stored, func(a storage.Attempt) wire.DeliveryAttempt {
		return wire.DeliveryAttempt{ItemID: a.ItemID, Items: a.Items, Number: a.Number, At: a.At, Took: a.Took.Seconds(), Status: a.Status, Error: a.Error, Next: a.Next}
	})}
	if len(stored) == in.Limit {
		page.Next = stored[len(stored)-1].ID
	}
	return page, nil
}
