package role

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/reconcile"
	"feedmesh/storage"
	"feedmesh/storage/memory"
	"feedmesh/subjects"
)

func TestReasonsToCompare(t *testing.T) {
	start := noon
	for _, test := range []struct {
		name            string
		next, refilled  time.Time
		stored, indexed int64
		want            string
	}{
		{"at the start, all is there", time.Time{}, time.Time{}, 100, 100, ""},
		{"at the start, one is missing", time.Time{}, time.Time{}, 100, 99, atStart},
		{"at the start, one is left over", time.Time{}, time.Time{}, 100, 101, atStart},
		{"at the start, the index is empty", time.Time{}, time.Time{}, 1, 0, lost},
		{"later, one is missing", start.Add(1), time.Time{}, 100, 99, ""},
		{"later, half are missing", start.Add(1), time.Time{}, 100, 50, ""},
		{"later, more than half are missing", start.Add(1), time.Time{}, 100, 49, lost},
		{"they are being put back", start.Add(1), start.Add(-refillEvery + 1), 100, 0, ""},
		{"they should be back by now", start.Add(1), start.Add(-refillEvery), 100, 0, lost},
		{"it is time", start, time.Time{}, 100, 100, isTime},
		{"both are empty", start.Add(1), time.Time{}, 0, 0, ""},
	} {
		r := &reconciler{next: test.next, refilled: test.refilled}
		if got := r.reason(start, test.stored, test.indexed, 1); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// What got lost on its way to the index is seen at the second glance, not hourly;
// what can't be mended is not looked for again and again.
func TestCountsThatGoOnDifferingAreAReasonToCompare(t *testing.T) {
	r := &reconciler{next: noon.Add(time.Hour)}
	for i, glance := range []struct {
		stored, indexed int64
		waiting         uint64
		explained       int64
		want            string
	}{
		{100, 99, 0, 0, ""}, // it may have been on its way just then
		{110, 109, 0, 0, differ},
		{110, 109, 0, 1, ""}, // it was looked for, and nothing could be done
		{110, 108, 0, 1, differ},
		{110, 108, 5, 0, ""}, // something waits
		{110, 108, 0, 0, ""},
		{110, 111, 0, 0, differ},
		{110, 110, 0, 0, ""},
		{110, 109, 0, 0, ""},
	} {
		r.explained = glance.explained
		if got := r.reason(noon, glance.stored, glance.indexed, glance.waiting); got != glance.want {
			t.Errorf("glance %d: got %q, want %q", i, got, glance.want)
		}
	}
}

func TestEachDayIsWalkedOverWithinADay(t *testing.T) {
	var days []reconcile.Day
	today := storage.Day(noon)
	for n := range 100 {
		days = append(days, reconcile.Day{Start: today.Add(-time.Duration(n) * 24 * time.Hour), Stored: 5, Indexed: 5})
	}
	days[50].Indexed = 4
	walked := map[time.Time]int{}
	for hour := range 24 {
		some := suspects(days, today.Add(time.Duration(hour)*time.Hour))
		for _, day := range some {
			walked[day.Start]++
		}
		if len(some) > 8 {
			t.Errorf("got %d of 100 days at hour %d, want some four and three more", len(some), hour)
		}
	}
	for n, day := range days {
		want := 1
		if n < 2 || n == 50 {
			want = 24 // today, yesterday, and where the counts differ
		}
		if got := walked[day.Start]; got != want {
			t.Errorf("the day %d days ago was walked over %d times, want %d", n, got, want)
		}
	}
}

// A world is a store and an index with n items of three days, and a reconciler
// that does what it is told.
type world struct {
	*rig
	*reconciler
	store *memory.Store
	index *memory.Index
	ids   []string
	log   bytes.Buffer
}

func newWorld(t *testing.T, n int) *world {
	r := newRig(t)
	r.now.Store(time.Now().Add(time.Hour).UnixMicro()) // nothing changed just now
	w := &world{rig: r, store: storeWith(t, blog), index: &memory.Index{}}
	batch := storage.Batch{FeedID: storage.FeedID(blog)}
	for i := range n {
		item := anItem(batch.FeedID, fmt.Sprint(i), "", "")
		item.FirstSeen = r.clock().Add(-time.Duration(i%3) * 24 * time.Hour)
		batch.Items = append(batch.Items, item)
		w.ids = append(w.ids, item.ID)
	}
	if _, err := w.store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	w.indexStored(w.ids...)
	w.reconciler = &reconciler{
		store: w.store, index: w.index, mesh: r.mesh, clock: r.clock, metrics: metrics(),
		log: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
	return w
}

// indexStored puts items into the index as the store has them.
func (w *world) indexStored(ids ...string) {
	w.t.Helper()
	items, err := w.store.Items(w.t.Context(), ids...)
	for _, item := range items {
		err = errors.Join(err, w.index.Put(w.t.Context(), storage.Indexed{Item: item}))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// change stores the n-th item as another revision.
func (w *world) change(n int) {
	w.t.Helper()
	item, err := w.store.Item(w.t.Context(), w.ids[n])
	if err == nil {
		item.Hash += "+"
		_, err = w.store.PutItems(w.t.Context(), storage.Batch{FeedID: item.FeedID, Items: []storage.Item{item}})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// found has the reconciler look, and returns the IDs it queued, in order of ID.
func (w *world) found() []string {
	w.t.Helper()
	stream, err := w.js.Stream(w.t.Context(), subjects.Indexes.Name)
	if err == nil {
		err = stream.Purge(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.glance(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, task := range w.tasks() {
		ids = append(ids, task.IDs...)
	}
	slices.Sort(ids)
	return ids
}

// tasks returns those that wait for the index.
func (w *world) tasks() []subjects.Index {
	w.t.Helper()
	stream, err := w.js.Stream(w.t.Context(), subjects.Indexes.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	var tasks []subjects.Index
	state := stream.CachedInfo().State
	for seq := max(1, state.FirstSeq); seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(w.t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		task, err := subjects.Indexes.Decode(msg.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

func (w *world) wantFound(when string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	if got := w.found(); !slices.Equal(got, want) {
		w.t.Errorf("%s: got %v queued, want %v", when, got, want)
	}
}

func TestWhatDiffersIsQueued(t *testing.T) {
	w := newWorld(t, 30)
	w.wantFound("at the start, when all is well")
	left := storage.Item{ID: "left-over", FirstSeen: noon}
	w.change(3)
	if err := errors.Join(w.index.Delete(t.Context(), w.ids[7]), w.index.Put(t.Context(), storage.Indexed{Item: left})); err != nil {
		t.Fatal(err)
	}
	w.wantFound("before it is time")
	w.pass(compareFirst)
	w.wantFound("when it is time", w.ids[3], w.ids[7], "left-over")
	for difference, want := range map[string]float64{"missing": 1, "stale": 1, "surplus": 1} {
		if got := counted(t, w.metrics.reconciled.WithLabelValues(difference)); got != want {
			t.Errorf("got %v items counted as %s, want %v", got, difference, want)
		}
	}
	if got := w.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "missing=1 stale=1 surplus=1") {
		t.Errorf("got log %q, want a line of what was repaired", got)
	}
	w.wantFound("before it is time again")

	w.log.Reset()
	w.indexStored(w.ids...)
	if err := w.index.Delete(t.Context(), "left-over"); err != nil {
		t.Fatal(err)
	}
	w.pass(compareEvery)
	w.wantFound("when all is repaired")
	if w.log.Len() > 0 {
		t.Errorf("got log %q, want none", &w.log)
	}
}

func TestItemsOnTheirWayAreLeftForTheNextRun(t *testing.T) {
	w := newWorld(t, 3)
	w.now.Store(time.Now().UnixMicro()) // now they did change just now
	w.change(1)
	if err := w.index.Delete(t.Context(), w.ids[0]); err != nil {
		t.Fatal(err)
	}
	w.next = w.rig.clock()
	w.wantFound("when it is time")
	w.pass(compareEvery)
	w.wantFound("an hour later", w.ids[0], w.ids[1])
}

func TestTheStartIsPatientOnlyIfSomethingWaits(t *testing.T) {
	w := newWorld(t, 3)
	w.now.Store(time.Now().UnixMicro())
	if err := w.index.Delete(t.Context(), w.ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := subjects.Publish(t.Context(), w.rig.mesh, subjects.Indexes, subjects.Index{Why: "stored", IDs: w.ids[:1]}); err != nil {
		t.Fatal(err)
	}
	if err := w.glance(t.Context()); err != nil || len(w.tasks()) != 1 {
		t.Errorf("got %v and tasks %+v, want none but the one that waits", err, w.tasks())
	}
	w.next = time.Time{}
	w.wantFound("at the start, when nothing waits", w.ids[0])
}

func TestWhatTheStartFindsMissingIsQueuedAtOnce(t *testing.T) {
	w := newWorld(t, 30)
	if err := w.index.Delete(t.Context(), w.ids[4]); err != nil {
		t.Fatal(err)
	}
	w.wantFound("at the start", w.ids[4])
}

func TestALongQueueIsWaitedFor(t *testing.T) {
	w := newWorld(t, 5)
	if err := w.index.Delete(t.Context(), w.ids...); err != nil {
		t.Fatal(err)
	}
	for n := range shortQueue + 1 {
		if err := subjects.Publish(t.Context(), w.rig.mesh, subjects.Indexes, subjects.Index{Why: fmt.Sprint(n), IDs: w.ids[:1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.glance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(w.tasks()); got != shortQueue+1 {
		t.Errorf("got %d tasks on a long queue of %d, want no more", got, shortQueue+1)
	}
	w.wantFound("when it is short again", w.ids...)
	if got := w.log.String(); !strings.Contains(got, "the index lacks most items: it is made anew from the store") {
		t.Errorf("got log %q, want that the index is made anew", got)
	}

	for n := range shortQueue {
		if err := w.publish(t.Context(), subjects.Index{Why: fmt.Sprint("more ", n), IDs: w.ids[:1]}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := w.publish(ctx, subjects.Index{Why: "too much", IDs: w.ids[:1]}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v on a queue that is no longer short, want to wait", err)
	}
}

func TestItemsInQuarantineAreNotQueuedAgain(t *testing.T) {
	w := newWorld(t, 5)
	if err := w.index.Delete(t.Context(), w.ids[:3]...); err != nil {
		t.Fatal(err)
	}
	for n, id := range []string{refusedTask(w.ids[0]).ID(), refusedTask(w.ids[1]).ID() + ".replay7"} {
		data, err := json.Marshal(subjects.Quarantined{Queue: "index", Task: id, Reason: "the index refuses it", Message: []byte("{}")})
		if err == nil {
			_, err = w.js.Publish(t.Context(), subjects.QuarantineSubject("index"), data, jetstream.WithMsgID(fmt.Sprint(n)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.wantFound("at the start", w.ids[2])
}

// playIndex plays the role until the test ends.
func (r *rig) playIndex(agent string, store storage.Store, index storage.Index) {
	r.t.Helper()
	m, _ := r.join(agent)
	env := r.env(m)
	env.Store, env.Index = store, index
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := Index.Run(ctx, env); err != nil {
			r.t.Error(err)
		}
	})
	r.t.Cleanup(func() { cancel(); wait.Wait() })
}

func TestALostIndexIsMadeAnewAtTheStart(t *testing.T) {
	w := newWorld(t, 1200)
	index := &memory.Index{}
	began := time.Now()
	w.playIndex("a", w.store, index)
	eventually(t, "all items are in the index", func() bool {
		n, err := index.Count(t.Context())
		return err == nil && n == 1200
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v, want no waiting for a lease that is free", took)
	}
}

// A crowd is an index that knows how many put into it at once.
type crowd struct {
	memory.Index
	now, most, puts atomic.Int64
}

func (c *crowd) Put(ctx context.Context, items ...storage.Indexed) error {
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	defer c.now.Add(-1)
	c.puts.Add(1)
	time.Sleep(20 * time.Millisecond)
	return c.Index.Put(ctx, items...)
}

func TestOneIndexRoleIsActive(t *testing.T) {
	w := newWorld(t, 40)
	index := &crowd{}
	for _, agent := range []string{"a", "b", "c"} {
		w.playIndex(agent, w.store, index)
	}
	for n := range 40 {
		task := subjects.Index{Why: fmt.Sprint("test ", n), IDs: w.ids[n : n+1]}
		if err := subjects.Publish(t.Context(), w.rig.mesh, subjects.Indexes, task); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all tasks are done", func() bool { return len(w.tasks()) == 0 })
	if got := index.most.Load(); got != 1 {
		t.Errorf("got %d batches at once, want 1", got)
	}
}
