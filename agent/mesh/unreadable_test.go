package mesh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/websub"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// garbage are values that no agent writes.
var garbage = [][]byte{[]byte("\xff\xfe\x00garbage"), []byte(`{`), []byte(`[1,2]`), []byte(`"text"`), []byte(`{"url":7,"name":7,"id":7,"token":7,"agent":7}`), []byte("null"), []byte("{}"), {}}

// putGarbage writes values under keys of a bucket, past the mesh.
func (r *rig) putGarbage(bucket string, keys []string) {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	r.check(err)
	kv, err := js.KeyValue(r.t.Context(), bucket)
	r.check(err)
	for i, key := range keys {
		_, err := kv.Put(r.t.Context(), key, garbage[i])
		r.check(err)
	}
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// quarantinedBytes returns the quarantined bytes of a queue or bucket.
func quarantinedBytes(t *testing.T, m *mesh.Mesh, queue string) (all [][]byte) {
	t.Helper()
	list, err := m.Quarantined(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		if q.Queue == queue {
			one, err := m.QuarantinedTask(t.Context(), q.Seq)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one.Data())
		}
	}
	return all
}

func checkQuarantined(t *testing.T, m *mesh.Mesh, queue string, want [][]byte) {
	t.Helper()
	got := quarantinedBytes(t, m, queue)
	if len(got) != len(want) {
		t.Fatalf("%s: got %d in quarantine, want %d: %q", queue, len(got), len(want), got)
	}
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || bytes.Equal(g, w)
		}
		if !found {
			t.Errorf("%s: %q is not in quarantine, or not whole: got %q", queue, w, got)
		}
	}
}

// Each writer moves what it can't read to the quarantine and can then write its own values; all else is read.
func TestBuckets_UnreadableValuesAreQuarantinedAndReplaced(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	urls := make([]string, len(garbage))
	ids, hosts, names := make([]string, len(garbage)), make([]string, len(garbage)), make([]string, len(garbage))
	for i := range garbage {
		urls[i] = fmt.Sprintf("https://%d.example/feed", i)
		ids[i], hosts[i], names[i] = storage.FeedID(urls[i]), subjects.HostID(fmt.Sprintf("%d.example", i)), fmt.Sprintf("key%d", i)
	}
	whole := subjects.FeedState{FeedID: storage.FeedID("https://whole.example/"), State: &subjects.State{URL: "https://whole.example/"}}
	meshtest.PutStates(t, m, whole)
	r.check(m.PutHosts(t.Context(), 1, []subjects.Host{{Name: "whole.example"}}))
	r.check(m.PutProxies(t.Context(), []subjects.Proxy{{ID: "whole"}}))
	_, err := m.Subscriptions().Put(t.Context(), websub.Subscription{Token: "whole"})
	r.check(err)
	r.putGarbage(subjects.ScheduleBucket, append(ids[:len(ids)-1:len(ids)-1], "last-task"))
	r.putGarbage(subjects.HostBucket, hosts)
	r.putGarbage(subjects.ProxyBucket, names)
	r.putGarbage(subjects.SubscriptionBucket, names)

	for round := range 2 { // the second finds nothing more
		states, hosts, proxies, subscriptions := 0, 0, 0, 0
		r.check(m.LoadStates(t.Context(), func(subjects.FeedState) { states++ }))
		_, err := m.OpenJournal(t.Context(), 0, 1, func(subjects.FeedState) { states++ })
		r.check(err)
		r.check(m.LoadHosts(t.Context(), 0, 1, func(subjects.Host) { hosts++ }))
		r.check(m.LoadProxies(t.Context(), func(subjects.Proxy) { proxies++ }))
		for sub, err := range m.Subscriptions().List(t.Context()) {
			r.check(err)
			if subscriptions++; sub.Token != "whole" {
				t.Errorf("got the subscription %+v", sub)
			}
		}
		if states != 2 || hosts != 1 || proxies != 1 || subscriptions != 1 {
			t.Errorf("round %d: got %d states, %d hosts, %d proxies and %d subscriptions, want the readable ones", round, states, hosts, proxies, subscriptions)
		}
	}
	// null and {} of the last dispatch are an empty state.
	checkQuarantined(t, m, subjects.ScheduleBucket, garbage)
	for _, bucket := range []string{subjects.HostBucket, subjects.ProxyBucket, subjects.SubscriptionBucket} {
		checkQuarantined(t, m, bucket, garbage)
	}
	states := make([]subjects.FeedState, len(urls))
	for i, url := range urls {
		states[i] = subjects.FeedState{FeedID: ids[i], State: &subjects.State{URL: url}}
	}
	last := meshtest.Journal(t, m).LastDispatch()
	if last.State.Crawl != "" {
		t.Errorf("last dispatch: got %+v, want none", last)
	}
	meshtest.PutStates(t, m, append(states, last)...)
}

// Readers without the right to change a bucket skip what they can't read.
func TestBuckets_ReadersSkipUnreadableValues(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	keys := make([]string, len(garbage))
	for i := range garbage {
		keys[i] = fmt.Sprintf("key%d", i)
	}
	for _, bucket := range []string{subjects.AgentBucket, subjects.PollBucket, subjects.ScheduleBucket, subjects.ProxyBucket, subjects.SubscriptionBucket} {
		r.putGarbage(bucket, keys)
	}
	r.check(m.Heartbeat(t.Context(), subjects.Agent{ID: "a", Host: "h"}))
	r.check(m.PutPolls(t.Context(), []mesh.FeedPoll{{FeedID: keys[0], Poll: subjects.Poll{At: time.Now(), Status: 200}}}))
	agents, err := m.Agents(t.Context())
	r.check(err)
	named := 0
	for _, a := range agents {
		if a.ID == "a" {
			named++
		}
	}
	if named != 1 {
		t.Errorf("got the agents %+v, want a among them", agents)
	}
	polls, err := m.Polls(t.Context(), keys[0])
	if err != nil || len(polls) != 1 || polls[0].Status != 200 {
		t.Errorf("got the polls %+v, %v; want the readable one", polls, err)
	}
	for _, key := range keys {
		if states, err := m.StatesOf(t.Context(), key); len(states) > 0 || err != nil {
			t.Errorf("state of %s: got %+v, %v; want neither", key, states, err)
		}
		if proxy, err := m.Proxy(t.Context(), key); proxy != nil || err != nil {
			t.Errorf("proxy %s: got %+v, %v; want neither", key, proxy, err)
		}
		if _, err := m.Subscriptions().Get(t.Context(), key); !errors.Is(err, websub.ErrUnknown) {
			t.Errorf("subscription %s: got %v, want ErrUnknown", key, err)
		}
	}
	checkQuarantined(t, m, subjects.AgentBucket, nil)
}

func TestLeases_UnreadableLeaseIsTaken(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.putGarbage(subjects.LeaseBucket, []string{"work", "other"})
	active := make(chan struct{})
	defer stand(m, "work", func(ctx context.Context) error { close(active); <-ctx.Done(); return nil })()
	select {
	case <-active:
	case <-time.After(time.Minute):
		t.Fatal("nobody took the lease")
	}
	checkQuarantined(t, m, subjects.LeaseBucket, garbage[:1])
	leases, err := m.Leases(t.Context())
	if err != nil || len(leases) != 1 || leases["work"].Agent != "a" {
		t.Errorf("got the leases %+v, %v; want the readable one", leases, err)
	}
}

func TestRules_UnreadableRulesAreReplaced(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.putGarbage(subjects.RuleBucket, []string{"labels"})
	newest := func(context.Context) (storage.RuleSet, error) {
		return storage.RuleSet{Version: 3, Text: []byte("text")}, nil
	}
	r.check(m.PutRules(t.Context(), "labels", newest))
	checkQuarantined(t, m, subjects.RuleBucket, garbage[:1])
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	m.WatchRules(ctx, "labels", func(version int64, text []byte) {
		if version != 3 || string(text) != "text" {
			t.Errorf("got version %d, %q; want the newest", version, text)
		}
		stop()
	})
}

// Messages of other programs have no ID: each is kept, whole.
func TestQueue_EveryUnreadableMessageIsQuarantinedWhole(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	conn := r.connect()
	js, err := jetstream.New(conn)
	r.check(err)
	var want [][]byte
	for i := range 15 {
		for _, g := range append(garbage[:4:4], []byte(fmt.Sprintf("{%d", i)), []byte(`{"schema":2,"bundle":[{"id":"x","size":9`)) {
			want = append(want, g)
			_, err := js.Publish(t.Context(), jobs().Name, g)
			r.check(err)
		}
	}
	var done atomic.Int32
	r.serve(m, mesh.ActorFunc[job](func(context.Context, job) error { done.Add(1); return nil }))
	publish(t, m, job{Name: "x"})
	eventually(t, "queue empty", func() bool { return pendingCount(t, m, "index") == 0 })
	checkQuarantined(t, m, "index", want)
	if done.Load() != 1 {
		t.Errorf("got %d tasks done, want the one that is readable", done.Load())
	}
	list, err := m.Quarantined(t.Context(), 0, 1)
	r.check(err)
	if err := m.Replay(t.Context(), list[0].Seq); err != nil {
		t.Errorf("replay of a task: %v", err)
	}
}

// A record of the quarantine that can't be read is listed, and can be dropped.
func TestQuarantine_UnreadableRecordIsListed(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	js, err := jetstream.New(r.connect())
	r.check(err)
	for _, g := range garbage[:4] {
		_, err := js.Publish(t.Context(), subjects.QuarantineSubject("parse"), g)
		r.check(err)
	}
	checkQuarantined(t, m, subjects.QuarantineStream, garbage[:4])
	r.check(m.DeleteQuarantined(t.Context(), 1))
	checkQuarantined(t, m, subjects.QuarantineStream, garbage[1:4])
}

func TestReplay_ValueOfBucketIsRejected(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.putGarbage(subjects.HostBucket, []string{"x"})
	r.check(m.LoadHosts(t.Context(), 0, 1, func(subjects.Host) {}))
	if err := m.Replay(t.Context(), 1); !errors.Is(err, mesh.ErrNoReplay) {
		t.Errorf("got %v, want ErrNoReplay", err)
	}
}
