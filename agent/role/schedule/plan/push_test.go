package plan

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const hubURL = "https://hub.example/"

// pushed returns an observation of a push with items.
func pushed(f *Feed, items int, at time.Time) subjects.Observation {
	return subjects.Observation{
		Receipt: subjects.PushReceipt(f.FeedID, 0, "hash of a push", 1000, at), Outcome: subjects.Stored,
		Items: items, Dates: []int64{at.Unix()},
	}
}

// polled returns an observation of a poll that found a new item of the given age.
func polled(f *Feed, age time.Duration, at time.Time) subjects.Observation {
	o := observation(f, subjects.Stored, at)
	o.Items, o.Dates, o.Hints = 1, []int64{at.Add(-age).Unix()}, &subjects.Hints{Hub: hubURL}
	return o
}

// subscribe sets the end of the feed's subscription.
func subscribe(p *Plan, f *Feed, until time.Time) {
	p.SetPushed(map[string]time.Time{f.FeedID: until})
}

func TestObserve_PushIsNotAPoll(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds[feedID(0)]
	due(t, p, f, noon)
	p.Observe(polled(f, 2*time.Hour, noon), noon)
	for _, inFlight := range []bool{false, true} {
		now := noon.Add(time.Hour)
		if inFlight {
			due(t, p, f, now)
			now = now.Add(time.Second)
		}
		before := *f.State
		if p.Observe(pushed(f, 1, now), now) != f {
			t.Fatalf("in flight %t: a push with an item changed nothing", inFlight)
		}
		want := before
		want.PushTrust, want.Changed, want.Model = f.State.PushTrust, now, f.State.Model
		if !reflect.DeepEqual(*f.State, want) {
			t.Errorf("in flight %t: got %+v, want only trust, model and change time different from %+v", inFlight, *f.State, want)
		}
		if m := f.model(); f.State.PushTrust <= before.PushTrust || !m.Newest().Equal(now) {
			t.Errorf("in flight %t: got trust %v after %v and the newest item at %v, want more trust and %v", inFlight, f.State.PushTrust, before.PushTrust, m.Newest(), now)
		}
		checkConsistent(t, p)
		if again := p.Observe(pushed(f, 0, now), now); again != nil {
			t.Errorf("in flight %t: a repeated push changed %+v", inFlight, again.State)
		}
	}
	for _, outcome := range []subjects.Outcome{subjects.Failed, subjects.Nothing} {
		o := pushed(f, 0, noon.Add(2*time.Hour))
		o.Outcome = outcome
		if p.Observe(o, noon.Add(2*time.Hour)) != nil || f.State.Failures > 0 {
			t.Errorf("%s: a push without items changed the feed", outcome)
		}
	}
	if p.Observe(pushed(&Feed{FeedState: subjects.FeedState{FeedID: "gone"}}, 1, noon), noon) != nil {
		t.Error("a push for a missing feed changed a feed")
	}
}

func TestPush_TrustFollowsPushesAndPolls(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds[feedID(0)]
	now := noon
	for _, c := range []struct {
		name  string
		until time.Duration // length of the subscription
		age   time.Duration // of the item that a poll finds
		edit  func(*subjects.Observation)
		lost  bool
	}{
		{name: "no subscription", age: time.Hour},
		{name: "subscription ended just now", until: 1, age: time.Hour, edit: func(*subjects.Observation) { now = now.Add(1) }},
		{name: "missed", until: time.Hour, age: time.Hour, lost: true},
		{name: "push may be in progress", until: time.Hour, age: pushDelay - time.Second},
		{name: "push overdue", until: time.Hour, age: pushDelay + time.Second, lost: true},
		{name: "one of two is overdue", until: time.Hour, age: time.Second, edit: func(o *subjects.Observation) {
			o.Dates = append(o.Dates, o.Fetched.Add(-time.Hour).Unix())
		}, lost: true},
		{name: "without a date", until: time.Hour, edit: func(o *subjects.Observation) { o.Dates = nil }, lost: true},
		{name: "changed, not new", until: time.Hour, age: time.Hour, edit: func(o *subjects.Observation) { o.Items = 0 }},
		{name: "nothing new", until: time.Hour, age: time.Hour, edit: func(o *subjects.Observation) { o.Outcome, o.Items = subjects.Nothing, 0 }},
	} {
		now = now.Add(24 * time.Hour)
		subscribe(p, f, now.Add(c.until))
		p.Observe(pushed(f, 1, now.Add(-12*time.Hour)), now)
		due(t, p, f, now)
		o := polled(f, c.age, now)
		if c.edit != nil {
			c.edit(&o)
		}
		before := f.State.PushTrust
		p.Observe(o, now)
		if lost := f.State.PushTrust == before/2; lost != c.lost || !lost && f.State.PushTrust != before {
			t.Errorf("%s: got trust %v to %v, want it halved: %t", c.name, before, f.State.PushTrust, c.lost)
		}
		checkConsistent(t, p)
	}
}

func TestPush_SubscribedFeedIsPolledLess(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindPrice}), Spacing: spacing})
	const url = "http://a.example/feed"
	f := p.Add(storage.Feed{ID: storage.FeedID(url), URL: url}, noon)
	wait := func(now time.Time) time.Duration {
		due(t, p, f, now)
		o := observation(f, subjects.Nothing, now)
		for i := range 20 {
			o.Dates = append(o.Dates, noon.Add(-time.Duration(i+1)*30*time.Minute).Unix())
		}
		p.Observe(o, now)
		return f.State.Next.Sub(now)
	}
	wait(noon.Add(-time.Hour)) // the first interval is random
	alone := wait(noon)
	f.State.PushTrust = 0.9
	if ended := wait(noon.Add(time.Minute)); ended > alone*3/2 {
		t.Errorf("got interval %v with trust but no subscription, %v without trust; want it not longer", ended, alone)
	}
	subscribe(p, f, noon.Add(time.Hour))
	if pushed := wait(noon.Add(2 * time.Minute)); pushed < 2*alone {
		t.Errorf("got interval %v with pushes, %v without; want at least twice as long", pushed, alone)
	}
}

func TestHubs_FollowFeedHints(t *testing.T) {
	p := planOf(6, 6)
	hints := []*subjects.Hints{
		{Hub: hubURL, Self: "https://self.example/"}, {Hub: hubURL}, {Self: "https://self.example/"}, nil, {Hub: hubURL}, {Hub: hubURL},
	}
	for i, h := range hints {
		p.feeds[feedID(i)].State.Hints = h
	}
	p.feeds[feedID(4)].State.Request = &storage.Request{Proxy: "tor"}
	p.feeds[feedID(5)].State.Next = time.Time{} // its host returned 410
	subscribed := []string{feedID(0), feedID(2), feedID(3), feedID(4), feedID(5), "removed"}
	got := p.Hubs(subscribed)
	slices.SortFunc(got, func(a, b Hub) int { return cmp.Compare(a.FeedID, b.FeedID) })
	want := []Hub{
		{feedID(0), hubURL, "https://self.example/"}, {feedID(1), hubURL, "http://host1.example/1"},
		{FeedID: feedID(2)}, {FeedID: feedID(4)}, {FeedID: feedID(5)}, {FeedID: "removed"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
