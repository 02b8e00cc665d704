package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/agent/role/deliver/alert"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/role/deliver/schedule"
	"feedmesh/agent/syndication"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	messageBatch = 20              // size of a batch of messages of single items, whose attempts are stored together
	errorTime    = 5 * time.Second // from an error of this process to the next claim
)

// A run sends what a claimed subscription has to send.
type run struct {
	*deliverer
	storage.Subscription
	state     storage.DeliveryState
	channel   channel.Channel
	schedule  schedule.Schedule
	condition alert.Condition // of an alert
	at        time.Time       // for which the condition is evaluated
	to        channel.Receiver
	attempts  []storage.Attempt // that are not stored yet
}

// run sends for a claimed subscription until nothing is left, its receiver fails, or its time is over. If it is off, its owner is informed.
func (d *deliverer) run(ctx context.Context, s storage.ClaimedSubscription) {
	r := &run{deliverer: d, Subscription: s.Subscription, state: s.State}
	var err error
	if r.state.Off != "" {
		err = r.informOwner(ctx)
	} else if err = r.open(); err != nil {
		r.failed(err) // as when the receiver can't be reached: it works again with the key
	} else if r.condition != (alert.Condition{}) {
		err = r.sendAlerts(ctx)
	} else if r.channel.Limits().Items == 1 {
		err = r.sendSingle(ctx)
	} else {
		err = r.sendGathered(ctx)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrConflict) {
		d.log.Warn("subscription failed", "subscription", s.ID, "err", err)
	}
	if errors.Is(err, storage.ErrConflict) {
		return // its owner changed it, or another process has it
	}
	if soon := d.clock.Now().Add(errorTime); err != nil && ctx.Err() == nil && r.state.Due.Before(soon) {
		r.state.Due = soon
	}
	// The end of a claim is stored also when this process is shut down.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := r.save(ctx, false); err != nil {
		d.log.Warn("progress of subscription not stored, items are sent again with the same ID", "subscription", s.ID, "err", err)
	}
}

// open finds the channel and opens the secrets of the receiver.
func (r *run) open() (err error) {
	if r.channel = r.channels[r.Channel]; r.channel == nil {
		return fmt.Errorf("this agent has no channel %q: configure it, or change the subscription", r.Channel)
	}
	if r.schedule, err = schedule.Parse(r.Schedule); err != nil {
		return err
	}
	if r.condition, err = alert.Parse(r.Alert); err != nil {
		return err
	}
	r.to.Topic = r.Topic
	r.to.Address, r.to.Secret, err = r.secrets.OpenReceiver(r.Subscription)
	if r.Channel == Mail {
		r.to.Unsubscribe = unsubscribeURL(r.base, r.ID, r.to.Secret)
	}
	return err
}

// save stores progress and attempts. The claim goes on if keep is set.
func (r *run) save(ctx context.Context, keep bool) error {
	err := r.store.FinishDelivery(ctx, r.claimant, r.state, r.attempts, keep)
	if err == nil {
		r.attempts = r.attempts[:0]
	}
	return err
}

// isSporadic reports whether only the last attempt failed, without delay: it may be due to the item or the connection, so the next one is
// tried at once.
func (r *run) isSporadic() bool {
	return r.state.Failures == 1 && r.attempts[len(r.attempts)-1].Took < time.Second
}

// A single is one member to send.
type single struct {
	storage.Member
	retries int       // attempts before
	last    time.Time // the last of them; zero: it is new
}

// sendSingle sends a message for each item, the retries that are due first.
func (r *run) sendSingle(ctx context.Context) error {
	limit := messageBatch
	if r.state.Failures > 0 {
		limit = 1 // a receiver that fails is tested with one message
	}
	for end, saved := time.Now().Add(runTime), time.Now(); time.Now().Before(end); saved = time.Now() {
		batch, err := r.singles(ctx, limit)
		if err != nil || len(batch) == 0 {
			return err
		}
		items, err := r.items(ctx, batch)
		if err != nil {
			return err
		}
		for _, one := range batch {
			item := items[one.ItemID]
			if item == nil { // purged since
				r.attempts = append(r.attempts, r.attempt(one, r.clock.Now(), "the item was removed before it was received"))
				r.pass(one)
				continue
			}
			if err := r.send(ctx, one, *item); err != nil {
				return err
			}
			if r.state.Failures > 0 && !r.isSporadic() || r.state.Off != "" {
				return nil
			}
			if time.Since(saved) > saveInterval {
				break
			}
		}
		if len(batch) < limit {
			return nil // that was all: what entered since is claimed with the next event
		}
		if err := r.save(ctx, true); err != nil {
			return err
		}
		limit = messageBatch
	}
	return nil
}

// singles returns the next batch of members to send: retries, then new ones, in order.
func (r *run) singles(ctx context.Context, limit int) ([]single, error) {
	due, err := r.store.DueAttempts(ctx, r.ID, r.clock.Now(), limit)
	if err != nil {
		return nil, err
	}
	isMember, err := r.members(ctx, due)
	if err != nil {
		return nil, err
	}
	var batch []single
	for _, a := range due {
		one := single{storage.Member{View: a.View, ItemID: a.ItemID, Serial: a.Serial, Entered: a.Entered}, a.Number, a.At}
		if isMember[a.ItemID] {
			batch = append(batch, one)
		} else {
			r.attempts = append(r.attempts, r.attempt(one, r.clock.Now(), "the item left the view before it was received"))
		}
	}
	if len(due) == limit && len(batch) > 0 {
		return batch, nil
	}
	pending, err := r.pending(ctx, limit-len(batch))
	for _, m := range pending {
		batch = append(batch, single{Member: m})
	}
	return batch, err
}

// members returns which items of attempts are in a view of the subscription, by ID: spam that is found later is not sent.
func (r *run) members(ctx context.Context, attempts []storage.Attempt) (map[string]bool, error) {
	if len(attempts) == 0 {
		return nil, nil
	}
	ids := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.ItemID
	}
	members, err := r.store.MembersOfItems(ctx, ids...)
	is := map[string]bool{}
	for _, m := range members {
		if !m.Absent && slices.Contains(r.Views, m.View) {
			is[m.ItemID] = true
		}
	}
	return is, err
}

// pending returns at most limit members to send that the cursor has not passed, each item once.
func (r *run) pending(ctx context.Context, limit int) (pending []storage.Member, err error) {
	for cursor := r.state.Cursor; len(pending) < limit; {
		members, err := r.store.ListPending(ctx, r.Views, cursor, limit)
		if err != nil || len(members) == 0 {
			return pending, err
		}
		isRepeated, err := r.repeated(ctx, members)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			cursor = m.Serial
			switch {
			case !isRepeated[m.Serial] && len(pending) < limit:
				pending = append(pending, m)
			case len(pending) == 0:
				r.state.Cursor = m.Serial
			}
		}
		if len(r.Views) == 1 || len(members) < limit {
			break
		}
	}
	return pending, nil
}

// repeated returns the serials of members whose item entered another view of the subscription before.
func (r *run) repeated(ctx context.Context, members []storage.Member) (map[int64]bool, error) {
	repeated := map[int64]bool{}
	if len(r.Views) == 1 {
		return repeated, nil
	}
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ItemID
	}
	all, err := r.store.MembersOfItems(ctx, ids...)
	if err != nil {
		return nil, err
	}
	first := map[string]int64{}
	for _, m := range all {
		if !m.Past && m.Serial > r.After && slices.Contains(r.Views, m.View) {
			if before, is := first[m.ItemID]; !is || m.Serial < before {
				first[m.ItemID] = m.Serial
			}
		}
	}
	for _, m := range members {
		repeated[m.Serial] = first[m.ItemID] < m.Serial
	}
	return repeated, nil
}

// pass moves the cursor over a new member that was sent, or is retried. A retry does not move it: the owner may have set it back.
func (r *run) pass(one single) {
	if one.last.IsZero() {
		r.state.Cursor = one.Serial
	}
}

// send sends the message of one item. It returns an error only if ctx ends.
func (r *run) send(ctx context.Context, one single, item channel.Item) error {
	m := channel.Message{ID: channel.MessageID(r.ID, one.ItemID), At: one.Entered, Title: r.Title, Items: []channel.Item{item}}
	began := r.clock.Now()
	response, err := r.try(ctx, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a := r.attempt(one, began, "")
	a.Took, a.Status = r.clock.Now().Sub(began), cmp.Or(response.Status, channel.StatusOf(err))
	if err == nil {
		r.succeeded(one.retries == 0, one.Entered)
	} else {
		a.Error = shortened(err.Error())
		// A message is given up only if the receiver accepted others meanwhile: else it is the receiver that fails.
		isRefused := one.retries >= len(retryAfter) && r.state.Sent.After(one.last)
		r.failed(err)
		if !isRefused && (r.state.Off == "" || one.retries > 0) {
			a.Next = r.clock.Now().Add(stepOf(retryAfter, a.Number))
		}
	}
	if r.state.Off == "" { // otherwise it is new when the subscription is turned on again
		r.pass(one)
	}
	r.attempts = append(r.attempts, a)
	return nil
}

// attempt returns the next attempt for a member.
func (r *run) attempt(one single, at time.Time, problem string) storage.Attempt {
	return storage.Attempt{
		Subscription: r.ID, View: one.View, Serial: one.Serial, ItemID: one.ItemID, Items: 1, Number: one.retries + 1,
		Entered: one.Entered, At: at, Error: problem,
	}
}

// try makes one attempt to send a message.
func (r *run) try(ctx context.Context, m channel.Message) (channel.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	response, err := r.channel.Send(ctx, r.to, m)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no response within %v", sendTimeout)
	}
	return response, err
}

// sendGathered sends one message for all items that entered since the last one.
func (r *run) sendGathered(ctx context.Context) error {
	limits := r.channel.Limits()
	members, err := r.pending(ctx, limits.Items+limits.More)
	if err != nil || len(members) == 0 {
		return err
	}
	first, last := members[0], members[len(members)-1]
	if next := r.schedule.Next(first.Entered); next.After(r.clock.Now()) {
		r.state.Due = next
		return nil
	}
	items, more, err := r.shown(ctx, members, limits.Items)
	if err != nil {
		return err
	}
	if len(items) == 0 { // all were purged
		r.state.Cursor = last.Serial
		return nil
	}
	m := channel.Message{ID: channel.MessageID(r.ID, first.ItemID), At: first.Entered, Title: r.Title, Items: items, More: more}
	a := storage.Attempt{Subscription: r.ID, View: last.View, Serial: last.Serial, Items: len(items) + more, Entered: first.Entered}
	if err := r.sendMessage(ctx, m, a); err != nil || r.state.Failures > 0 {
		return err
	}
	r.state.Cursor, r.state.Due = last.Serial, r.clock.Now().Add(limits.Pause)
	return nil
}

// shown returns the items of the first members, at most limit, without those that were removed, and the number of the other members.
func (r *run) shown(ctx context.Context, members []storage.Member, limit int) (items []channel.Item, more int, err error) {
	batch := make([]single, min(len(members), limit))
	for i := range batch {
		batch[i].Member = members[i]
	}
	byID, err := r.items(ctx, batch)
	for _, one := range batch {
		if item := byID[one.ItemID]; item != nil {
			items = append(items, *item)
		}
	}
	return items, len(members) - len(batch), err
}

// sendMessage sends a message of several items, and records the attempt. It returns an error only if ctx ends.
func (r *run) sendMessage(ctx context.Context, m channel.Message, a storage.Attempt) error {
	a.At, a.Number = r.clock.Now(), r.state.Failures+1
	response, err := r.try(ctx, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.Took, a.Status = r.clock.Now().Sub(a.At), cmp.Or(response.Status, channel.StatusOf(err))
	if err == nil {
		r.succeeded(a.Number == 1, a.Entered)
	} else {
		a.Error = shortened(err.Error())
		r.failed(err)
	}
	r.attempts = append(r.attempts, a)
	return nil
}

// succeeded records that the receiver accepted a message.
func (r *run) succeeded(isFirst bool, entered time.Time) {
	now := r.clock.Now()
	r.state.Failures, r.state.FailingSince, r.state.Due, r.state.Sent = 0, time.Time{}, time.Time{}, now
	r.deliverer.attempts.WithLabelValues(r.Channel, "received").Inc()
	if isFirst {
		r.lag.Observe(now.Sub(entered).Seconds())
	}
}

// failed records that an attempt failed, and turns the subscription off if its receiver wants no more, or fails for days.
func (r *run) failed(err error) {
	now := r.clock.Now()
	r.deliverer.attempts.WithLabelValues(r.Channel, "failed").Inc()
	r.state.Failures++
	if r.state.FailingSince.IsZero() || r.state.FailingSince.After(now) {
		r.state.FailingSince = now
	}
	wait := stepOf(waitAfter, r.state.Failures)
	var response *channel.ResponseError
	if errors.As(err, &response) {
		wait = max(wait, min(response.RetryAfter, 24*time.Hour))
	}
	r.state.Due = now.Add(wait)
	switch {
	case response != nil && response.IsGone:
		r.turnOff("the receiver wants no more: " + response.Text)
	case r.state.Failures >= len(waitAfter) && now.Sub(r.state.FailingSince) >= maxFailing:
		r.turnOff(fmt.Sprintf("it failed for %d days, at last: %s", maxFailing/(24*time.Hour), err))
	}
}

func (r *run) turnOff(reason string) {
	r.state.Off = shortened(reason)
	if r.Channel != WebSub { // its subscriber subscribes again
		r.state.Inform, r.state.Due = r.clock.Now().Add(maxInforming), time.Time{}
	}
	r.log.Warn("subscription turned off", "subscription", r.ID, "title", r.Title, "reason", r.state.Off)
	event := subjects.Event{Kind: subjects.SubscriptionOff, At: r.clock.Now(), Title: r.Title, Name: r.ID, Text: r.ID + ": " + r.state.Off}
	// The page of the subscription shows it as well: a lost event changes nothing.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := r.out.Publish(ctx, event.Message()); err != nil {
		r.log.Warn("event not published", "kind", event.Kind, "err", err)
	}
}

// maxReason bounds the stored description of an error, in bytes.
const maxReason = 300

func shortened(text string) string {
	if len(text) <= maxReason {
		return text
	}
	for cut := maxReason; ; cut-- {
		if text[cut]&0xC0 != 0x80 { // the first byte of a character
			return text[:cut] + "…"
		}
	}
}

// items returns the items of members as receivers get them, by ID, without those that were removed.
func (r *run) items(ctx context.Context, members []single) (map[string]*channel.Item, error) {
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ItemID
	}
	stored, err := r.store.Items(ctx, ids...)
	if err != nil {
		return nil, err
	}
	byID := map[string]storage.Item{}
	titles := map[string]string{}
	for _, item := range stored {
		byID[item.ID] = item
		if _, is := titles[item.FeedID]; is {
			continue
		}
		feed, err := r.store.Feed(ctx, item.FeedID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		titles[item.FeedID] = feed.Title
	}
	items := map[string]*channel.Item{}
	for _, m := range members {
		item, is := byID[m.ItemID]
		if !is {
			continue
		}
		v, err := r.views.get(ctx, m.View)
		if err != nil {
			return nil, err
		}
		items[m.ItemID] = &channel.Item{
			ID: item.ID, View: v.Name, URL: item.URL, Title: v.Set.Prefix + cmp.Or(item.Title, item.Excerpt, item.URL), Excerpt: item.Excerpt, Author: item.Author,
			FeedID: item.FeedID, FeedTitle: titles[item.FeedID], Published: item.Time(), Language: item.Language, Categories: item.Categories,
			Topics: item.Topics, Labels: v.Set.Labels, StoryID: item.StoryID,
			Entry: syndication.EntryOf(item, titles[item.FeedID]).With(v.Set.Prefix, v.Set.Labels),
		}
	}
	return items, nil
}
