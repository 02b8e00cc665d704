package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/role/deliver/hub"
	"feedmesh/storage"
)

// maxPushes is the maximum number of WebSub subscribers of one client.
const maxPushes = 1000

// A PushRequest is the request of a WebSub subscriber for the new entries of the feed of a view.
type PushRequest struct {
	View, Title     string // of the view
	Topic, Callback string // URLs of the feed and of the subscriber
	Secret          string // by which messages are signed; or empty
	Lease           time.Duration
	Ends            bool // the subscriber wants no more
}

// id returns the ID of the subscription: a subscriber has one for each feed.
func (p PushRequest) id() string {
	sum := sha256.Sum256([]byte(p.Topic + "\x00" + p.Callback))
	return "push-" + hex.EncodeToString(sum[:12])
}

// lease returns the time that is granted.
func (p PushRequest) lease() time.Duration {
	if p.Lease == 0 {
		return hub.DefaultLease
	}
	return min(max(p.Lease, hub.MinLease), hub.MaxLease)
}

// CheckPush returns an error if a subscriber can't have what it requests. It connects to nothing.
func (s *Subscriptions) CheckPush(ctx context.Context, p PushRequest) error {
	if err := s.Channels[deliver.WebSub].Check(p.Callback); err != nil {
		return errorf(KindMalformed, "hub.callback: %v", err)
	}
	if len(p.Topic) > hub.MaxURL || len(p.Secret) > hub.MaxSecret {
		return errorf(KindMalformed, "hub.topic has at most %d bytes, hub.secret at most %d", hub.MaxURL, hub.MaxSecret)
	}
	if p.Ends {
		return nil
	}
	all, err := storage.Subscriptions(s.Store).List(ctx)
	if err != nil {
		return err
	}
	own, client := 0, access.From(ctx)
	for _, one := range all {
		if one.Channel == deliver.WebSub && one.ID != p.id() && access.IsSame(one.Owner, client.ID) {
			own++
		}
	}
	if own >= maxPushes {
		return errorf(KindConflict, "%s has %d WebSub subscribers, which is all it may have", client.Name, own)
	}
	return nil
}

// Push adds, extends or removes the subscription of a subscriber that confirms its request.
func (s *Subscriptions) Push(ctx context.Context, p PushRequest) error {
	mode := hub.Subscribe
	if p.Ends {
		mode = hub.Unsubscribe
	}
	if err := s.Channels[deliver.WebSub].(*hub.Channel).Verify(ctx, p.Callback, mode, p.Topic, p.lease()); err != nil {
		return err
	}
	if p.Ends {
		err := storage.Subscriptions(s.Store).Remove(ctx, p.id())
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		return err
	}
	v, err := s.views.read(ctx, p.View)
	if err != nil {
		return err
	}
	next := storage.Subscription{
		ID: p.id(), Owner: access.From(ctx).ID, Title: p.Title, Views: []int64{v.stored.Number}, Channel: deliver.WebSub, Receiver: p.Callback, Secret: p.Secret,
		Topic: p.Topic, Expires: s.Now().Add(p.lease()), Created: s.Now(),
	}
	if next.After, err = s.Store.LastSerial(ctx); err != nil {
		return err
	}
	if next.Receiver, next.Secret, err = s.Secrets.SealReceiver(ctx, next); err != nil {
		return unsealed(err)
	}
	err = storage.Subscriptions(s.Store).Change(ctx, next.ID, func(stored *storage.Subscription) (*storage.Subscription, error) {
		if stored != nil {
			next.After, next.Created = stored.After, stored.Created
		}
		return &next, nil
	})
	if err != nil {
		return fmt.Errorf("store the subscription: %w", err)
	}
	states, err := s.Store.DeliveryStates(ctx, next.ID)
	if err == nil && states[next.ID].Off != "" {
		err = s.turn(ctx, next.ID, true)
	}
	return err
}
