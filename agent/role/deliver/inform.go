package deliver

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/storage"
)

const (
	maxInforming   = 5 * 24 * time.Hour // after it was turned off, the owner of a subscription is not informed any more
	informInterval = 10 * time.Minute   // from an attempt to inform the owner to its retry
	maxInformants  = 10                 // size of a batch of subscriptions through which one after the other is tried
)

// SubscriptionsPath is the path of the page of subscriptions. That of one follows, with its ID.
const SubscriptionsPath = "/views/subscriptions"

// informedBy are the channels through which owners are informed, the preferred ones first.
var informedBy = []string{Mail, Chat, Webhook, NATS}

// informOwner informs the owner of the subscription that it is off, through the first of the owner's other subscriptions that accepts the message. The
// claim on the subscription locks out other workers; a retry, also after a crash or a timeout, has the same ID.
func (r *run) informOwner(ctx context.Context) error {
	now := r.clock.Now()
	if !r.state.Inform.After(now) {
		r.log.Warn("owner not informed that a subscription is off: no other subscription of the owner works", "subscription", r.ID, "title", r.Title)
		r.state.Inform = time.Time{}
		return nil
	}
	if latest := now.Add(maxInforming); r.state.Inform.After(latest) { // stored by a process with a wrong clock
		r.state.Inform = latest
	}
	others, err := r.informants(ctx)
	if err != nil {
		return err
	}
	m := r.notice()
	for _, other := range others {
		err := other.inform(ctx, m)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			r.log.Info("owner informed that a subscription is off", "subscription", r.ID, "by", other.ID)
			r.state.Inform, r.state.Due = time.Time{}, time.Time{}
			return nil
		}
		r.log.Info("owner not informed that a subscription is off", "subscription", r.ID, "by", other.ID, "err", err)
	}
	r.state.Due = r.clock.Now().Add(informInterval)
	return nil
}

// notice returns the message that the subscription is off.
func (r *run) notice() channel.Message {
	off := channel.Off{ID: r.ID, Title: r.Title, Channel: r.Channel, Reason: r.state.Off}
	if r.base != "" {
		off.URL = r.base + SubscriptionsPath + "/" + url.PathEscape(r.ID)
	}
	return channel.Message{
		ID: channel.MessageID(r.ID, "off until "+r.state.Inform.UTC().Format(time.RFC3339Nano)), At: r.state.Inform.Add(-maxInforming), Title: r.Title, Off: &off,
		Alert: "this subscription is off", Lines: []string{"Nothing is sent by " + r.Channel + " any more: " + r.state.Off, "What enters meanwhile is sent when you turn it on again."},
	}
}

// informants returns the other subscriptions of the owner that are on and do not fail, at most maxInformants: those of preferred channels first, and of
// each channel those whose receiver accepted a message last.
func (r *run) informants(ctx context.Context) (others []*run, err error) {
	all, err := storage.Subscriptions(r.store).List(ctx)
	if err != nil {
		return nil, err
	}
	now := r.clock.Now()
	all = slices.DeleteFunc(all, func(s storage.Subscription) bool {
		return s.ID == r.ID || !access.IsSame(s.Owner, r.Owner) || s.IsExpired(now) || !slices.Contains(informedBy, s.Channel)
	})
	ids := make([]string, len(all))
	for i, s := range all {
		ids[i] = s.ID
	}
	states, err := r.store.DeliveryStates(ctx, ids...)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s storage.Subscription) bool {
		state, is := states[s.ID]
		return !is || state.Off != "" || state.Failures > 0
	})
	slices.SortStableFunc(all, func(a, b storage.Subscription) int {
		return cmp.Or(cmp.Compare(slices.Index(informedBy, a.Channel), slices.Index(informedBy, b.Channel)), states[b.ID].Sent.Compare(states[a.ID].Sent))
	})
	for _, s := range all {
		other := &run{deliverer: r.deliverer, Subscription: s, state: states[s.ID]}
		if err := other.open(); err == nil && !other.schedule.IsQuiet(now) {
			others = append(others, other)
		}
		if len(others) == maxInformants {
			break
		}
	}
	return others, nil
}

// inform makes one attempt to send the message that another subscription is off.
func (r *run) inform(ctx context.Context, m channel.Message) error {
	r.to.Unsubscribe = "" // the link would end the subscription that works
	_, err := r.try(ctx, m)
	result := "received"
	if err != nil {
		result = "failed"
	}
	r.deliverer.attempts.WithLabelValues(r.Channel, result).Inc()
	return err
}
