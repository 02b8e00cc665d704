package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/deliver/alert"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/storage"
)

const (
	alertInterval = time.Minute // of the evaluation of conditions that may begin to hold without a new item
	maxRead       = 500         // size of a batch of members that is read for a condition
	maxAlertItems = 20          // items of an alert through a channel of single items
	maxAlerted    = 1000        // keys of alerts that are stored
)

// An occurrence is one time that the condition of an alert holds.
type occurrence struct {
	key     string // the same for each evaluation while it holds
	text    string
	members []storage.Member // the items that it is about
}

// sendAlerts sends a message for each time that the condition of the subscription holds and of which none was sent yet.
func (r *run) sendAlerts(ctx context.Context) error {
	evaluate := map[alert.Kind]func(context.Context) ([]occurrence, int64, error){
		alert.More: r.more, alert.Story: r.stories, alert.Event: r.events, alert.Burst: r.bursts, alert.Silence: r.silence,
	}[r.condition.Kind]
	occurrences, cursor, err := evaluate(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	for _, o := range occurrences {
		if slices.Contains(r.state.Alerted, o.key) {
			continue
		}
		if time.Since(began) > runTime {
			return nil // others get their turn; the same members are read again
		}
		if err := r.sendAlert(ctx, o); err != nil {
			return err
		}
		if r.state.Failures > 0 {
			return nil // the same members are read again
		}
		r.state.Alerted = append(r.state.Alerted, o.key)
		r.state.Alerted = r.state.Alerted[max(0, len(r.state.Alerted)-maxAlerted):]
	}
	r.state.Cursor = max(r.state.Cursor, cursor)
	if r.condition.IsTimed() {
		r.state.Due = r.clock.Now().Add(alertInterval)
	}
	return nil
}

// sendAlert sends the message of one occurrence.
func (r *run) sendAlert(ctx context.Context, o occurrence) error {
	limits := r.channel.Limits()
	items, more, err := r.shown(ctx, o.members, max(limits.Items, maxAlertItems))
	if err != nil {
		return err
	}
	m := channel.Message{ID: channel.MessageID(r.ID, o.key), At: r.now(), Title: r.Title, Alert: o.text, Items: items, More: more}
	return r.sendMessage(ctx, m, storage.Attempt{Subscription: r.ID, View: r.Views[0], Items: len(o.members), Entered: m.At})
}

// now returns the time for which the condition is evaluated: while the receiver fails, that of the first failure, so that what
// happened then is not lost.
func (r *run) now() time.Time {
	now := r.clock.Now()
	if since := r.state.FailingSince; !since.IsZero() && since.Before(now) {
		return since
	}
	return now
}

// more evaluates "more than N in TIME". Items of an alert are not counted again.
func (r *run) more(ctx context.Context) ([]occurrence, int64, error) {
	since := r.now().Add(-r.condition.Within)
	if sent := r.state.Sent; sent.After(since) && !sent.After(r.now()) { // a later one is that of a wrong clock
		since = sent
	}
	members, cursor, err := r.enteredSince(ctx, since)
	if err != nil || len(members) <= r.condition.N {
		return nil, cursor, err
	}
	text := fmt.Sprintf("%d items in %s", len(members), alert.TimeText(r.condition.Within))
	return []occurrence{{members[0].ItemID, text, members}}, cursor, nil
}

// enteredSince returns at most maxRead members that entered at or after a time, each item once, and the last serial of all that were read.
func (r *run) enteredSince(ctx context.Context, since time.Time) (members []storage.Member, last int64, err error) {
	first, err := r.store.FirstSerial(ctx, r.Views, since)
	if err != nil {
		return nil, 0, err
	}
	if first == 0 {
		pending, err := r.store.ListPending(ctx, r.Views, r.state.Cursor, maxRead)
		if n := len(pending); n > 0 {
			last = pending[n-1].Serial
		}
		return nil, last, err
	}
	read, err := r.store.ListPending(ctx, r.Views, first-1, maxRead)
	if err != nil {
		return nil, 0, err
	}
	isSeen := map[string]bool{}
	for _, m := range read {
		if last = m.Serial; !isSeen[m.ItemID] {
			isSeen[m.ItemID] = true
			members = append(members, m)
		}
	}
	return members, last, nil
}

// entered returns the next items that entered, at most maxRead, with their members, and the last serial.
func (r *run) entered(ctx context.Context) (items map[string]storage.Item, members []storage.Member, last int64, err error) {
	members, err = r.store.ListPending(ctx, r.Views, r.state.Cursor, maxRead)
	if err != nil || len(members) == 0 {
		return nil, nil, 0, err
	}
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ItemID
	}
	stored, err := r.store.Items(ctx, ids...)
	items = map[string]storage.Item{}
	for _, item := range stored {
		items[item.ID] = item
	}
	return items, members, members[len(members)-1].Serial, err
}

// story returns the items of a story that count. It has none if it was joined with another one meanwhile.
func (r *run) story(ctx context.Context, id string) (storage.StoryItems, error) {
	of, err := storage.ItemsOfStory(ctx, r.store, id, placement.MaxItems)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	of.Items = placement.CountedItems(of.Items)
	return of, err
}

// stories evaluates "story reaches N publishers" for the stories of the items that entered.
func (r *run) stories(ctx context.Context) (reached []occurrence, cursor int64, err error) {
	items, members, cursor, err := r.entered(ctx)
	if err != nil {
		return nil, 0, err
	}
	byStory := map[string][]storage.Member{}
	var stories []string // in order of entry
	for _, m := range members {
		id := items[m.ItemID].StoryID
		if id != "" && byStory[id] == nil {
			stories = append(stories, id)
		}
		byStory[id] = append(byStory[id], m)
	}
	for _, id := range stories {
		of, err := r.story(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		publishers := map[string]bool{}
		for _, item := range of.Items {
			publishers[placement.Publisher(item)] = true
		}
		if len(publishers) >= r.condition.N {
			reached = append(reached, occurrence{id, fmt.Sprintf("a story has %d publishers", len(publishers)), byStory[id]})
		}
	}
	return reached, cursor, nil
}

// events evaluates "new event" for the items that entered: those that are the first of an event of a story with others.
func (r *run) events(ctx context.Context) (begun []occurrence, cursor int64, err error) {
	items, members, cursor, err := r.entered(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range members {
		item := items[m.ItemID]
		if item.StoryID == "" {
			continue
		}
		of, err := r.story(ctx, item.StoryID)
		if err != nil {
			return nil, 0, err
		}
		isFirst, hasOthers := true, false
		for _, other := range of.Items {
			if other.EventID != item.EventID {
				hasOthers = true
			} else if other.ID != item.ID && other.FirstSeen.Before(item.FirstSeen) {
				isFirst = false
			}
		}
		if isFirst && hasOthers {
			begun = append(begun, occurrence{"event " + item.EventID, "a story has a new event", []storage.Member{m}})
		}
	}
	return begun, cursor, nil
}

// bursts evaluates "burst": it reads what the role cluster detected.
func (r *run) bursts(ctx context.Context) (found []occurrence, cursor int64, err error) {
	note, err := storage.Notes(r.store).Read(ctx, placement.BurstsNote)
	if err != nil {
		return nil, 0, err
	}
	var all []placement.Burst
	if len(note) > 0 {
		if err := json.Unmarshal(note, &all); err != nil {
			return nil, 0, fmt.Errorf("read bursts, which the role cluster writes again: %w", err)
		}
	}
	for _, b := range all {
		number, err := strconv.ParseInt(b.Name, 10, 64)
		if b.Of != placement.OfView || err != nil || !slices.Contains(r.Views, number) || b.Since.Before(r.Created) {
			continue
		}
		members, last, err := r.enteredSince(ctx, b.Since)
		if err != nil {
			return nil, 0, err
		}
		cursor = max(cursor, last)
		text := fmt.Sprintf("more items than usual: %d since %s", b.Items, b.Since.UTC().Format("2006-01-02 15:04 UTC"))
		found = append(found, occurrence{b.Name + " " + b.Since.UTC().Format(time.RFC3339), text, members})
	}
	if cursor == 0 { // nothing is to be sent for the members that entered
		_, cursor, err = r.enteredSince(ctx, r.clock.Now())
	}
	return found, cursor, err
}

// silence evaluates "silence of TIME", which begins with the subscription or the last item.
func (r *run) silence(ctx context.Context) ([]occurrence, int64, error) {
	since := r.now().Add(-r.condition.Within)
	members, cursor, err := r.enteredSince(ctx, since)
	if err != nil || len(members) > 0 || r.Created.After(since) {
		return nil, cursor, err
	}
	text := "no item for " + alert.TimeText(r.condition.Within)
	return []occurrence{{"silence after " + strconv.FormatInt(max(cursor, r.state.Cursor), 10), text, nil}}, cursor, nil
}
