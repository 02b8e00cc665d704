package storagetest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"feedmesh/storage"
)

// subscribe stores a subscription to views.
func subscribe(c storeTest, id string, views ...int64) storage.Subscription {
	c.Helper()
	last, err := c.LastSerial(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	s := storage.Subscription{ID: id, Owner: "ann", Title: "Новости", Views: views, Channel: "webhook", Receiver: "https://receiver.example/?a=b", Secret: "whsec", Schedule: "daily 08:00 UTC", After: last, Created: day,
		Topic: "https://mesh.example/outputs/views/a.rss", Expires: day.AddDate(2, 0, 0), Alert: "burst"}
	if err := storage.Subscriptions(c.Store).Change(c.Context(), id, func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		c.Fatal(err)
	}
	return s
}

// claimAt returns the IDs of the subscriptions that a claimant claims at a minute of the day, for ten minutes.
func claimAt(c storeTest, claimant string, minute int, failing bool) (ids []string) {
	c.Helper()
	now := day.Add(time.Duration(minute) * time.Minute)
	claimed, err := c.ClaimSubscriptions(c.Context(), storage.Claim{Claimant: claimant, Now: now, Until: now.Add(10 * time.Minute)}, failing, 10)
	if err != nil {
		c.Fatal(err)
	}
	for _, one := range claimed {
		ids = append(ids, one.ID)
	}
	slices.Sort(ids)
	return ids
}

func announcedChanges(c storeTest) {
	changed := c.Changed()
	if changed == nil {
		return // other processes write to the store
	}
	isClosed := func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	if claimed := claimAt(c, "x", 0, false); claimed != nil || isClosed() {
		c.Errorf("a claim of nothing is announced as a change")
	}
	for _, text := range []string{"one", "two"} {
		if err := storage.Notes(c.Store).Put(c.Context(), storage.Fence{}, "note", []byte(text)); err != nil {
			c.Fatal(err)
		}
		if !isClosed() {
			c.Errorf("note %s is not announced", text)
		}
		if changed = c.Changed(); isClosed() {
			c.Errorf("note %s is announced again", text)
		}
	}
}

func nextDelivery(c storeTest) {
	at := func(minute int) time.Time { return day.Add(time.Duration(minute) * time.Minute) }
	want := func(what, claimant string, minute int, failing bool, want time.Time) {
		c.Helper()
		next, err := c.NextDelivery(c.Context(), claimant, at(minute), failing)
		if err != nil {
			c.Fatal(err)
		}
		c.wantEqual(what, next.UTC(), want)
	}
	s := subscribe(c, "a", 1)
	want("without anything to send", "x", 0, false, time.Time{})
	changeMembers(c, nil, aMember(1, "new", 0))
	c.wantEqual("claimed", claimAt(c, "x", 0, false), []string{"a"})
	want("of the process that claimed it", "x", 0, false, time.Time{})
	want("of another process, when the claim ends", "y", 0, false, at(10))
	state := storage.DeliveryState{Subscription: s.ID, Cursor: s.After + 1, Due: at(30)}
	if err := c.FinishDelivery(c.Context(), "x", state, []storage.Attempt{{ItemID: "new", View: 1, At: at(0), Next: at(20)}}, false); err != nil {
		c.Fatal(err)
	}
	want("of a retry", "x", 0, false, at(20))
	want("of a digest, after that of the retry", "x", 20, false, at(30))
	want("of subscriptions whose last attempt failed", "x", 0, true, time.Time{})
	want("after the due times", "x", 30, false, time.Time{})
	want("before a due time in the far future, which counts as due", "x", -60*24*60, false, time.Time{})
}

func claimedSubscriptions(c storeTest) {
	changeMembers(c, nil, aMember(1, "old", 0))
	s := subscribe(c, "a", 1, 2)
	subscribe(c, "b", 3)
	if got, err := storage.Subscriptions(c.Store).Get(c.Context(), "a"); err != nil {
		c.Fatal(err)
	} else {
		c.wantEqual("the subscription", got, s)
	}
	wantClaimed := func(what, claimant string, minute int, want ...string) {
		c.Helper()
		c.wantEqual(what, claimAt(c, claimant, minute, false), want)
	}
	wantClaimed("without new members", "x", 0)
	past, absent := aMember(3, "past", 0), aMember(3, "absent", 0)
	past.Past, absent.Absent = true, true
	changeMembers(c, nil, past, absent)
	wantClaimed("with members that are past or absent", "x", 0)
	changeMembers(c, nil, aMember(2, "new", 0))
	wantClaimed("with a new member of one of its views", "x", 0, "a")
	wantClaimed("by another process", "y", 9)
	wantClaimed("when the claim has ended", "y", 10, "a")
	wantClaimed("by a process that waited for the store, so that its time is older than the claim", "x", 8)
	wantClaimed("when it is expired", "x", 3*366*24*60)
	wantClaimed("by a process whose clock is an hour behind, when the claim lasts too long", "z", -50, "a")

	pending, err := c.ListPending(c.Context(), s.Views, s.After, 10)
	if err != nil || len(pending) != 1 || pending[0].ItemID != "new" || pending[0].Serial <= s.After {
		c.Errorf("pending are %+v, %v", pending, err)
	}
	changeMembers(c, nil, aMember(1, "newer", 0))
	if pending, err = c.ListPending(c.Context(), s.Views, pending[0].Serial, 10); err != nil || len(pending) != 1 || pending[0].ItemID != "newer" {
		c.Errorf("pending after the first are %+v, %v", pending, err)
	}

	for view, want := range map[int64]int64{2: s.After + 3, 3: 0} { // after the members of view 3 that are not sent
		first, err := c.FirstSerial(c.Context(), []int64{view}, day)
		if err != nil {
			c.Fatal(err)
		}
		c.wantEqual(fmt.Sprint("the first serial of view ", view), first, want)
	}
	first, err := c.FirstSerial(c.Context(), s.Views, day.Add(time.Hour))
	if err != nil || first != 0 {
		c.Errorf("got the first serial %d, %v after all entries", first, err)
	}

	// A change of the subscription keeps its progress.
	state := storage.DeliveryState{Subscription: "a", Cursor: pending[0].Serial, Alerted: []string{"one", "два"}, Problem: "не оценивается"}
	if err := c.ChangeDelivery(c.Context(), "a", func(d *storage.DeliveryState) { *d = state }); err != nil {
		c.Fatal(err)
	}
	s.Title = "News"
	if err := storage.Subscriptions(c.Store).Change(c.Context(), "a", func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		c.Fatal(err)
	}
	wantClaimed("when all are sent", "x", 100)
	wantState(c, state)
	s.IsTimed = true
	if err := storage.Subscriptions(c.Store).Change(c.Context(), "a", func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		c.Fatal(err)
	}
	wantClaimed("without a new member, when it is timed", "x", 100, "a")
	s.IsTimed = false
	if err := storage.Subscriptions(c.Store).Change(c.Context(), "a", func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		c.Fatal(err)
	}

	changeMembers(c, nil, aMember(1, "another", 0))
	for _, test := range []struct {
		what  string
		state storage.DeliveryState
		want  []string
	}{
		{"that is off", storage.DeliveryState{Off: "gone"}, nil},
		{"that is off, whose owner is to be informed", storage.DeliveryState{Off: "gone", Inform: day.AddDate(0, 0, 5)}, []string{"a"}},
		{"that is off, whose owner is to be informed later", storage.DeliveryState{Off: "gone", Inform: day.AddDate(0, 0, 5), Due: day.Add(101 * time.Minute)}, nil},
		{"that is due later", storage.DeliveryState{Due: day.Add(101 * time.Minute)}, nil},
		{"that is due", storage.DeliveryState{Due: day.Add(100 * time.Minute)}, []string{"a"}},
		{"that is due in a year", storage.DeliveryState{Due: day.Add(365 * 24 * time.Hour)}, []string{"a"}},
	} {
		test.state.Subscription, test.state.Cursor = "a", state.Cursor
		if err := c.ChangeDelivery(c.Context(), "a", func(d *storage.DeliveryState) { *d = test.state }); err != nil {
			c.Fatal(err)
		}
		wantState(c, test.state)
		wantClaimed("a subscription "+test.what, "x", 100, test.want...)
	}
	if err := storage.Subscriptions(c.Store).RemoveExpired(c.Context(), s.Expires.Add(-time.Second)); err != nil {
		c.Fatal(err)
	}
	wantState(c, storage.DeliveryState{Subscription: "a", Cursor: state.Cursor, Due: day.Add(365 * 24 * time.Hour)})
	if err := storage.Subscriptions(c.Store).RemoveExpired(c.Context(), s.Expires); err != nil {
		c.Fatal(err)
	}
	_, err = storage.Subscriptions(c.Store).Get(c.Context(), "a")
	c.wantError("read an expired subscription", err, storage.ErrNotFound)
	c.wantError("change a delivery that is not there", c.ChangeDelivery(c.Context(), "none", func(*storage.DeliveryState) {}), storage.ErrNotFound)
}

func wantState(c storeTest, want storage.DeliveryState) {
	c.Helper()
	states, err := c.DeliveryStates(c.Context(), want.Subscription, "none")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the states", states, map[string]storage.DeliveryState{want.Subscription: want})
}

func finishedDeliveries(c storeTest) {
	s := subscribe(c, "a", 1)
	changeMembers(c, nil, aMember(1, "x", 0), aMember(1, "y", 0))
	c.wantEqual("claimed", claimAt(c, "p", 0, false), []string{"a"})
	attempt := storage.Attempt{Subscription: "a", View: 1, Serial: 7, ItemID: "x", Items: 1, Number: 1, Entered: day, At: day, Took: 1500 * time.Microsecond, Status: 503, Error: "busy", Next: day.Add(time.Minute)}
	state := storage.DeliveryState{Subscription: "a", Cursor: s.After + 1, Failures: 1, FailingSince: day, Due: day.Add(time.Second), Sent: day, Problem: "none", Inform: day.AddDate(0, 0, 5)}
	c.wantError("finish without the claim", c.FinishDelivery(c.Context(), "q", state, []storage.Attempt{attempt}, false), storage.ErrConflict)
	attempts := func() []storage.Attempt {
		c.Helper()
		all, err := c.ListAttempts(c.Context(), "a", 0, 2000)
		if err != nil {
			c.Fatal(err)
		}
		return all
	}
	c.wantEqual("attempts without the claim", len(attempts()), 0)
	if err := c.FinishDelivery(c.Context(), "p", state, []storage.Attempt{attempt}, true); err != nil {
		c.Fatal(err)
	}
	wantState(c, state)
	got := attempts()
	if len(got) != 1 || got[0].ID == 0 {
		c.Fatalf("got %+v", got)
	}
	attempt.ID = got[0].ID
	c.wantEqual("the attempt", got[0], attempt)

	if err := c.ExtendClaims(c.Context(), "p", day.Add(15*time.Minute)); err != nil {
		c.Fatal(err)
	}
	if err := c.ExtendClaims(c.Context(), "q", day); err != nil { // of another claimant
		c.Fatal(err)
	}
	c.wantEqual("claimed during a claim that was extended", claimAt(c, "q", 14, true), []string(nil))
	if err := c.FinishDelivery(c.Context(), "p", state, nil, false); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("claimed among those that do not fail", claimAt(c, "q", 1, false), []string(nil))
	c.wantEqual("claimed among those that fail", claimAt(c, "q", 1, true), []string{"a"})

	// Attempts are bounded; those to be repeated stay.
	var many []storage.Attempt
	for i := range storage.MaxAttempts + 5 {
		many = append(many, storage.Attempt{Subscription: "a", View: 1, ItemID: fmt.Sprint(i), Items: 1, Number: 1, Entered: day, At: day, Status: 200})
	}
	if err := c.FinishDelivery(c.Context(), "q", state, many, false); err != nil {
		c.Fatal(err)
	}
	got = attempts()
	if last := got[len(got)-1]; len(got) != storage.MaxAttempts+1 || last.ItemID != "x" || got[len(got)-2].ItemID != "5" {
		c.Errorf("got %d attempts, the last %+v", len(got), last)
	}
	if page, err := c.ListAttempts(c.Context(), "a", got[1].ID, 1); err != nil || len(page) != 1 || page[0].ID != got[2].ID {
		c.Errorf("the next page is %+v, %v", page, err)
	}
	if err := storage.Subscriptions(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("attempts of a removed subscription", len(attempts()), 0)
	c.wantError("finish a removed subscription", c.FinishDelivery(c.Context(), "q", state, nil, false), storage.ErrConflict)
}

func scoredMembers(c storeTest) {
	feed := c.addFeed("https://example.org/scored")
	var ids []string
	var items []storage.Item
	for i, sentiment := range []float64{0.5, 0, -0.25} {
		item := anItem(feed, fmt.Sprint(i))
		item.Sentiment, item.StoryID = sentiment, fmt.Sprint("story", i)
		items, ids = append(items, item), append(ids, item.ID)
	}
	if _, err := c.PutItems(c.Context(), storage.Batch{FeedID: feed, Items: items}); err != nil {
		c.Fatal(err)
	}
	absent, past := aMember(1, "absent", 0), aMember(1, "past", 0)
	absent.Absent, past.Past = true, true
	changeMembers(c, nil, aMember(1, ids[0], 0), aMember(2, ids[1], 0), aMember(1, ids[1], 0), absent, past, aMember(1, "removed", 0), aMember(1, ids[2], 0))
	page := func(before int64) (page []storage.ScoredMember) {
		c.Helper()
		page, err := c.ListScored(c.Context(), 1, before, 2)
		if err != nil {
			c.Fatal(err)
		}
		return page
	}
	first := page(math.MaxInt64)
	if len(first) != 2 {
		c.Fatalf("got %+v", first)
	}
	c.wantEqual("the last member", first[0], storage.ScoredMember{View: 1, Serial: first[0].Serial, ItemID: ids[2], StoryID: "story2", Entered: day, Sentiment: -0.25})
	c.wantEqual("a member whose item was removed", first[1], storage.ScoredMember{View: 1, Serial: first[1].Serial, ItemID: "removed", Entered: day})
	second := page(first[1].Serial)
	if len(second) != 2 || second[0].ItemID != ids[1] || second[0].Sentiment != 0 || second[1].ItemID != ids[0] || second[1].Sentiment != 0.5 {
		c.Errorf("the next page is %+v", second)
	}
	c.wantEqual("the page after the last", len(page(second[1].Serial)), 0)
}

func dueAttempts(c storeTest) {
	subscribe(c, "a", 1)
	changeMembers(c, nil, aMember(1, "x", 0))
	claimAt(c, "p", 0, false)
	state := storage.DeliveryState{Subscription: "a", Cursor: 1 << 40}
	finish := func(attempts ...storage.Attempt) {
		c.Helper()
		if err := c.FinishDelivery(c.Context(), "p", state, attempts, true); err != nil {
			c.Fatal(err)
		}
	}
	failed := func(item string, number, next int) storage.Attempt {
		return storage.Attempt{Subscription: "a", View: 1, ItemID: item, Items: 1, Number: number, Entered: day, At: day, Error: "failed", Next: day.Add(time.Duration(next) * time.Minute)}
	}
	wantDue := func(minute int, want ...string) {
		c.Helper()
		due, err := c.DueAttempts(c.Context(), "a", day.Add(time.Duration(minute)*time.Minute), 10)
		if err != nil {
			c.Fatal(err)
		}
		var got []string
		for _, a := range due {
			got = append(got, fmt.Sprint(a.ItemID, a.Number))
		}
		c.wantEqual(fmt.Sprintf("due in minute %d", minute), got, want)
	}
	finish(failed("x", 1, 5), failed("y", 1, 3), storage.Attempt{Subscription: "a", ItemID: "z", Number: 1, Entered: day, At: day})
	wantDue(2)
	wantDue(3, "y1")
	wantDue(5, "y1", "x1")
	finish(failed("y", 2, 9))
	wantDue(5, "x1")
	wantDue(9, "x1", "y2")
	sent := failed("x", 2, 0)
	sent.Next, sent.Error = time.Time{}, ""
	finish(sent)
	wantDue(9, "y2")
	if err := c.FinishDelivery(c.Context(), "p", state, nil, false); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("claimed before an attempt is due", claimAt(c, "p", 8, false), []string(nil))
	c.wantEqual("claimed when it is", claimAt(c, "p", 9, false), []string{"a"})

	if err := c.RepeatDelivery(c.Context(), "a", "x", day); err != nil {
		c.Fatal(err)
	}
	wantDue(9, "x2", "y2")
	c.wantError("repeat what was never sent", c.RepeatDelivery(c.Context(), "a", "none", day), storage.ErrNotFound)
	c.wantError("repeat a message of several", c.RepeatDelivery(c.Context(), "a", "", day), storage.ErrNotFound)
}
