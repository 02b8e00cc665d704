package schedule

import (
	"testing"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/agent/websub"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// subscriber returns a schedule with one feed and a subscriber.
func (r *testbed) subscriber(store storage.Store) (*hubs, *websub.Subscriber) {
	r.T.Helper()
	env := r.Env(r.Mesh)
	env.Config.PublicURL = "https://feeds.example"
	s := &hubs{r.scheduler(store), hubOptions(env, 0, 1)}
	subscriber, err := websub.Open(r.T.Context(), s.options)
	if err != nil {
		r.T.Fatal(err)
	}
	return s, subscriber
}

// subscriptions returns the subscriptions in the bucket.
func (r *testbed) subscriptions() (all []websub.Subscription) {
	r.T.Helper()
	for sub, err := range r.Mesh.Subscriptions().List(r.T.Context()) {
		if err != nil {
			r.T.Fatal(err)
		}
		all = append(all, sub)
	}
	return all
}

func TestSyncSubscriptions(t *testing.T) {
	r := newTestbed(t)
	store := worktest.StoreWith(t, worktest.Blog)
	s, subscriber := r.subscriber(store)
	pass := func() {
		t.Helper()
		if err := s.sync(t.Context(), subscriber); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	if got := r.subscriptions(); got != nil {
		t.Fatalf("got %+v before the feed was read, want none", got)
	}
	r.Advance(time.Second)
	feeds := s.plan.PopDue(policy.Warm, r.Clock())
	o := about(feeds[0].FeedID, subjects.Nothing, feeds[0].State.Crawl, r.Clock())
	o.Hints = &subjects.Hints{Hub: worktest.Hub}
	if err := s.observe(t.Context(), []subjects.Observe{{Source: "a", Observations: []subjects.Observation{o}}}); err != nil {
		t.Fatal(err)
	}
	pass()
	pass()
	subs := r.subscriptions()
	if len(subs) != 1 || subs[0].FeedID != o.FeedID || subs[0].Hub != worktest.Hub || subs[0].Topic != worktest.Blog || subs[0].State != websub.Queued {
		t.Fatalf("got %+v, want one subscription of the feed at its hub", subs)
	}

	// The hub confirms through an agent with the api role.
	subs[0].State, subs[0].Until, subs[0].Next = websub.Verified, r.Clock().Add(time.Hour), r.Clock().Add(time.Hour)
	if _, err := r.Mesh.Subscriptions().Put(t.Context(), subs[0]); err != nil {
		t.Fatal(err)
	}
	_, next := r.subscriber(store) // as after a failover
	if err := s.sync(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := feeds[0].State.PushUntil; !got.Equal(subs[0].Until) {
		t.Errorf("got the subscription's end %v in the plan, want %v", got, subs[0].Until)
	}

	// The feed is removed.
	if err := s.observe(t.Context(), []subjects.Observe{{Source: "b", Observations: []subjects.Observation{{
		Receipt: subjects.Receipt{FeedID: o.FeedID}, Outcome: subjects.Removed,
	}}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.sync(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := r.subscriptions(); len(got) != 1 || got[0].State != websub.Unsubscribing {
		t.Errorf("got %+v, want the subscription of the removed feed ended", got)
	}
}
