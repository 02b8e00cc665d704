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
	alertInterval = time.Minute // of the evaluation of conditions that may begin to hold without a new item, at least
	maxRead       = 500         // size of a batch of members that is read for a condition
	maxAlertItems = 20          // items of an alert through a channel of single items
	maxAlerted    = 1000        // keys of alerts that are stored
)

// An occurrence is one time that the condition of an alert holds.
type occurrence struct {
	key     string // the same for each evaluation while it holds
	text    string
	members []storage.Member // the items that it is about
	lines   []string         // more about it
	more    int              // number of further lines
	others  []string         // keys of what the same message is about
}

// sendAlerts sends a message for each time that the condition of the subscription holds and of which none was sent yet.
func (r *run) sendAlerts(ctx context.Context) error {
	r.at = r.now()
	occurrences, cursor, err := r.evaluate(ctx)
	if err == nil && len(occurrences) == 0 && r.isPast() {
		// What was to be retried does not hold any more. What holds now must not wait for it.
		r.at = r.clock.Now()
		occurrences, cursor, err = r.evaluate(ctx)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	for _, o := range occurrences {
		if time.Since(began) > runTime {
			return nil // others get their turn; the same members are read again
		}
		if err := r.sendAlert(ctx, o); err != nil {
			return err
		}
		if r.state.Failures > 0 {
			return nil // the same members are read again
		}
		r.state.Alerted = append(append(r.state.Alerted, o.key), o.others...)
		if r.condition.Kind == alert.Feed {
			slices.Sort(r.state.Alerted)
		}
		r.state.Alerted = r.state.Alerted[max(0, len(r.state.Alerted)-maxAlerted):]
	}
	r.state.Cursor = max(r.state.Cursor, cursor)
	if r.condition.IsTimed() {
		r.state.Due = r.clock.Now().Add(r.interval(len(occurrences) > 0))
	}
	return nil
}

// evaluate returns the times that the condition holds at r.at and of which no message was sent yet, and the serial of the last member that needs not
// be read again. It sets the problem of the state.
func (r *run) evaluate(ctx context.Context) ([]occurrence, int64, error) {
	r.state.Problem = ""
	evaluate := map[alert.Kind]func(context.Context) ([]occurrence, int64, error){
		alert.More: r.more, alert.Story: r.stories, alert.Event: r.events, alert.Burst: r.bursts, alert.Silence: r.silence, alert.Feed: r.feedsFail, alert.Falls: r.falls,
	}[r.condition.Kind]
	occurrences, cursor, err := evaluate(ctx)
	return slices.DeleteFunc(occurrences, func(o occurrence) bool { return slices.Contains(r.state.Alerted, o.key) }), cursor, err
}

// interval returns the time to the next evaluation of a timed condition.
func (r *run) interval(isSent bool) time.Duration {
	switch {
	case r.condition.Kind == alert.Feed && isSent:
		return feedPause
	case r.condition.Kind == alert.Falls:
		return max(alertInterval, r.condition.Within/100)
	}
	return alertInterval
}

// sendAlert sends the message of one occurrence.
func (r *run) sendAlert(ctx context.Context, o occurrence) error {
	limits := r.channel.Limits()
	items, more, err := r.shown(ctx, o.members, max(limits.Items, maxAlertItems))
	if err != nil {
		return err
	}
	m := channel.Message{ID: channel.MessageID(r.ID, o.key), At: r.at, Title: r.Title, Alert: o.text, Lines: o.lines, Items: items, More: more + o.more}
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

// isPast reports whether the condition is evaluated for the time of the first failure.
func (r *run) isPast() bool { return r.at.Equal(r.state.FailingSince) }

// more evaluates "more than N in TIME". Items of an alert are not counted again.
func (r *run) more(ctx context.Context) ([]occurrence, int64, error) {
	since := r.at.Add(-r.condition.Within)
	if sent := r.state.Sent; sent.After(since) && !sent.After(r.at) { // a later one is that of a wrong clock
		since = sent
	}
	members, cursor, err := r.enteredSince(ctx, since)
	if err != nil || len(members) <= r.condition.N {
		return nil, cursor, err
	}
	text := fmt.Sprintf("%d items in %s", len(members), alert.TimeText(r.condition.Within))
	return []occurrence{{key: members[0].ItemID, text: text, members: members}}, cursor, nil
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
			reached = append(reached, occurrence{key: id, text: fmt.Sprintf("a story has %d publishers", len(publishers)), members: byStory[id]})
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
			begun = append(begun, occurrence{key: "event " + item.EventID, text: "a story has a new event", members: []storage.Member{m}})
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
		found = append(found, occurrence{key: b.Name + " " + b.Since.UTC().Format(time.RFC3339), text: text, members: members})
	}
	if cursor == 0 { // nothing is to be sent for the members that entered
		_, cursor, err = r.enteredSince(ctx, r.clock.Now())
	}
	return found, cursor, err
}

// silence evaluates "silence of TIME", which begins with the subscription or the last item.
func (r *run) silence(ctx context.Context) ([]occurrence, int64, error) {
	since := r.at.Add(-r.condition.Within)
	members, cursor, err := r.enteredSince(ctx, since)
	if err != nil || len(members) > 0 || r.Created.After(since) {
		return nil, cursor, err
	}
	text := "no item for " + alert.TimeText(r.condition.Within)
	return []occurrence{{key: "silence after " + strconv.FormatInt(max(cursor, r.state.Cursor), 10), text: text}}, cursor, nil
}
