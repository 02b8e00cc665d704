package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/role/index/reconcile"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A process alone may have lost index tasks in memory, also those of changed items, with which the counts agree.
func TestReconciler_ComparesAtStartOfProcessAlone(t *testing.T) {
	r := &reconciler{isAlone: true}
	for i, want := range []string{atStart, ""} {
		if got := r.reason(worktest.Noon, 100, 100, 0); got != want {
			t.Errorf("check %d: got %q, want %q", i+1, got, want)
		}
	}
}

func TestReconciler_Reasons(t *testing.T) {
	start := worktest.Noon
	for _, test := range []struct {
		name            string
		next, refilled  time.Time
		stored, indexed int64
		want            string
	}{
		{"startup, complete", time.Time{}, time.Time{}, 1000, 1000, ""},
		{"startup, one missing", time.Time{}, time.Time{}, 1000, 999, atStart},
		{"startup, one surplus", time.Time{}, time.Time{}, 1000, 1001, atStart},
		{"startup, empty index", time.Time{}, time.Time{}, reconcile.MaxIDs + 1, 0, mostMissing},
		{"startup, first items wait", time.Time{}, time.Time{}, reconcile.MaxIDs, 0, atStart},
		{"later, one missing", start.Add(1), time.Time{}, 1000, 999, ""},
		{"later, half missing", start.Add(1), time.Time{}, 1000, 500, ""},
		{"later, more than half missing", start.Add(1), time.Time{}, 1000, 499, mostMissing},
		{"later, more than half wait", start.Add(1), time.Time{}, reconcile.MaxIDs, 0, ""},
		{"rebuild in progress", start.Add(1), start.Add(-refillEvery + 1), 1000, 0, ""},
		{"rebuild overdue", start.Add(1), start.Add(-refillEvery), 1000, 0, mostMissing},
		{"interval elapsed", start, time.Time{}, 1000, 1000, periodic},
		{"both empty", start.Add(1), time.Time{}, 0, 0, ""},
	} {
		r := &reconciler{next: test.next, refilled: test.refilled}
		if got := r.reason(start, test.stored, test.indexed, 1); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// Items lost in a queue are found at the second check, not after an hour; differences that can't be repaired
// are not compared again and again.
func TestReconciler_LastingDifference(t *testing.T) {
	r := &reconciler{next: worktest.Noon.Add(time.Hour)}
	for i, glance := range []struct {
		stored, indexed int64
		waiting         uint64
		explained       int64
		want            string
	}{
		{100, 99, 0, 0, ""}, // the item may be in a queue
		{110, 109, 0, 0, countsDiffer},
		{110, 109, 0, 1, ""}, // compared, without anything to repair
		{110, 108, 0, 1, countsDiffer},
		{110, 108, 5, 0, ""}, // the queue is not empty
		{110, 108, 0, 0, ""},
		{110, 111, 0, 0, countsDiffer},
		{110, 110, 0, 0, ""},
		{110, 109, 0, 0, ""},
		{5000, 4000, 9, 0, countsDiffer}, // more than what waits
		{5000, 4000, 10, 0, ""},
	} {
		r.explained = glance.explained
		if got := r.reason(worktest.Noon, glance.stored, glance.indexed, glance.waiting); got != glance.want {
			t.Errorf("check %d: got %q, want %q", i, got, glance.want)
		}
	}
}

// An index that is deleted during a rebuild, or soon after it, is rebuilt at the next check.
func TestReconciler_LostTwice(t *testing.T) {
	r := &reconciler{next: worktest.Noon.Add(time.Hour), refilled: worktest.Noon, reached: 1000}
	for i, check := range []struct {
		indexed int64
		waiting uint64
		want    string
	}{
		{2000, 90, ""}, // the rebuild goes on
		{4500, 90, ""},
		{300, 50, mostMissing},
		{300, 50, mostMissing}, // not compared yet: the queue was too long
		{9800, 50, ""},
		{0, 50, mostMissing},
	} {
		if got := r.reason(worktest.Noon.Add(time.Minute), 10_000, check.indexed, check.waiting); got != check.want {
			t.Errorf("check %d: got %q, want %q", i, got, check.want)
		}
	}
}

// A comparison that ends with an error, as in a restart of the store, is repeated by the next check, also while the index
// has most items again.
func TestReconciler_RepeatsFailedComparisons(t *testing.T) {
	w := newIndexFixture(t, 30)
	w.wantDifferences("at the start, when all is well")
	if err := w.index.Delete(t.Context(), w.ids[:20]...); err != nil {
		t.Fatal(err)
	}
	store := w.reconciler.store
	w.reconciler.store = failingDays{store}
	if err := w.check(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
		t.Fatalf("got %v, want the error of the store", err)
	}
	w.indexStored(w.ids[:10]...) // the part that was repaired
	w.reconciler.store = store
	w.wantDifferences("at the next check", w.ids[10:20]...)
	w.indexStored(w.ids...)
	w.wantDifferences("afterwards")
}

// The start of a process alone compares all items, since a crash may have lost the task of a changed item of any age.
func TestReconciler_FindsChangedItemsAtStartOfProcessAlone(t *testing.T) {
	w := newIndexFixture(t, 30)
	w.reconciler.isAlone = true
	for n := range 3 { // of three days
		w.change(n)
	}
	w.wantDifferences("at the start", w.ids[:3]...)
	w.indexStored(w.ids[:3]...)
	w.wantDifferences("afterwards")
}

// A failingDays is a store that can't list the numbers of items by day.
type failingDays struct{ storage.Store }

func (failingDays) Days(context.Context) (map[time.Time]int64, error) {
	return nil, storage.ErrUnavailable
}

func TestSuspects_CoverAllDaysDaily(t *testing.T) {
	var days []reconcile.Day
	today := storage.Day(worktest.Noon)
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
			t.Errorf("got %d of 100 days at hour %d, want about seven", len(some), hour)
		}
	}
	for n, day := range days {
		want := 1
		if n < 2 || n == 50 {
			want = 24 // today, yesterday, and days with different counts
		}
		if got := walked[day.Start]; got != want {
			t.Errorf("day %d days ago: compared %d times, want %d", n, got, want)
		}
	}
}

// indexFixture is a store and an index with n items of three days, and a reconciler.
type indexFixture struct {
	*worktest.Testbed
	*reconciler
	store storage.Store
	index storage.Index
	ids   []string
	log   bytes.Buffer
}

func newIndexFixture(t *testing.T, n int) *indexFixture {
	r := worktest.NewTestbed(t)
	r.Advance(time.Since(worktest.Noon) + time.Hour) // no recent changes
	w := &indexFixture{Testbed: r, store: worktest.StoreWith(t, worktest.Blog), index: enginetest.Index(t)}
	batch := storage.Batch{FeedID: storage.FeedID(worktest.Blog)}
	for i := range n {
		item := worktest.Item(batch.FeedID, fmt.Sprint(i), "", "")
		item.FirstSeen = r.Clock().Add(-time.Duration(i%3) * 24 * time.Hour)
		batch.Items = append(batch.Items, item)
		w.ids = append(w.ids, item.ID)
	}
	if _, err := w.store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	w.indexStored(w.ids...)
	w.reconciler = &reconciler{
		store: w.store, index: w.index, mesh: r.Mesh, clock: r.Clock, found: newReconciler(&work.Env{Mesh: r.Mesh, Metrics: prometheus.NewRegistry()}).found,
		log: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
	return w
}

// indexStored puts items into the index as stored.
func (w *indexFixture) indexStored(ids ...string) {
	w.T.Helper()
	items, err := w.store.Items(w.T.Context(), ids...)
	indexed := make([]storage.IndexItem, len(items))
	for i, item := range items {
		indexed[i].Item = item
	}
	if err := errors.Join(err, w.index.Put(w.T.Context(), indexed...)); err != nil {
		w.T.Fatal(err)
	}
}

// change stores another revision of the n-th item.
func (w *indexFixture) change(n int) {
	w.T.Helper()
	item, err := storage.ItemByID(w.T.Context(), w.store, w.ids[n])
	if err == nil {
		item.Hash += "+"
		_, err = w.store.PutItems(w.T.Context(), storage.Batch{FeedID: item.FeedID, Items: []storage.Item{item}})
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// differences runs a check and returns the IDs that it queued, sorted.
func (w *indexFixture) differences() []string {
	w.T.Helper()
	stream, err := w.JS.Stream(w.T.Context(), subjects.IndexQueue.Name)
	if err == nil {
		err = stream.Purge(w.T.Context())
	}
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.check(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	var ids []string
	for _, task := range w.tasks() {
		ids = append(ids, task.IDs...)
	}
	slices.Sort(ids)
	return ids
}

// tasks returns the tasks in the index queue.
func (w *indexFixture) tasks() []subjects.Index {
	w.T.Helper()
	stream, err := w.JS.Stream(w.T.Context(), subjects.IndexQueue.Name)
	if err != nil {
		w.T.Fatal(err)
	}
	var tasks []subjects.Index
	state := stream.CachedInfo().State
	for seq := max(1, state.FirstSeq); seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(w.T.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			w.T.Fatal(err)
		}
		task, err := subjects.IndexQueue.Decode(msg.Data)
		if err != nil {
			w.T.Fatal(err)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

func (w *indexFixture) wantDifferences(when string, want ...string) {
	w.T.Helper()
	slices.Sort(want)
	if got := w.differences(); !slices.Equal(got, want) {
		w.T.Errorf("%s: got %v queued, want %v", when, got, want)
	}
}

func TestReconciler_QueuesDifferences(t *testing.T) {
	w := newIndexFixture(t, 30)
	w.wantDifferences("at the start, when all is well")
	left := storage.Item{ID: "left-over", FirstSeen: worktest.Noon}
	w.change(3)
	if err := errors.Join(w.index.Delete(t.Context(), w.ids[7]), w.index.Put(t.Context(), storage.IndexItem{Item: left})); err != nil {
		t.Fatal(err)
	}
	w.wantDifferences("before it is time")
	w.Advance(firstCompare)
	w.wantDifferences("when it is time", w.ids[3], w.ids[7], "left-over")
	for difference, want := range map[string]float64{"missing": 1, "stale": 1, "surplus": 1} {
		if got := worktest.Counted(t, w.found.WithLabelValues(difference)); got != want {
			t.Errorf("got %v items counted as %s, want %v", got, difference, want)
		}
	}
	if got := w.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "missing=1 stale=1 surplus=1") {
		t.Errorf("got log %q, want the repair logged", got)
	}
	w.wantDifferences("before it is time again")

	w.log.Reset()
	w.indexStored(w.ids...)
	if err := w.index.Delete(t.Context(), "left-over"); err != nil {
		t.Fatal(err)
	}
	w.Advance(compareEvery)
	w.wantDifferences("when all is repaired")
	if w.log.Len() > 0 {
		t.Errorf("got log %q, want none", &w.log)
	}
}

func TestReconciler_IgnoresRecentChanges(t *testing.T) {
	w := newIndexFixture(t, 3)
	w.Advance(time.Since(w.Clock())) // now the changes are recent
	w.change(1)
	if err := w.index.Delete(t.Context(), w.ids[0]); err != nil {
		t.Fatal(err)
	}
	w.next = w.Testbed.Clock()
	w.wantDifferences("when it is time")
	w.Advance(compareEvery)
	w.wantDifferences("an hour later", w.ids[0], w.ids[1])
}

func TestReconciler_StartWithQueuedItems(t *testing.T) {
	w := newIndexFixture(t, 3)
	w.Advance(time.Since(w.Clock()))
	if err := w.index.Delete(t.Context(), w.ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := subjects.Publish(t.Context(), w.Testbed.Mesh, subjects.IndexQueue, subjects.Index{Reason: "stored", IDs: w.ids[:1]}); err != nil {
		t.Fatal(err)
	}
	if err := w.check(t.Context()); err != nil || len(w.tasks()) != 1 {
		t.Errorf("got %v and tasks %+v, want only the queued one", err, w.tasks())
	}
	w.next = time.Time{}
	w.wantDifferences("at the start, when nothing waits", w.ids[0])
}

func TestReconciler_StartQueuesMissingItems(t *testing.T) {
	w := newIndexFixture(t, 30)
	if err := w.index.Delete(t.Context(), w.ids[4]); err != nil {
		t.Fatal(err)
	}
	w.wantDifferences("at the start", w.ids[4])
}

func TestReconciler_WaitsForALongQueue(t *testing.T) {
	w := newIndexFixture(t, 5)
	if err := w.index.Delete(t.Context(), w.ids...); err != nil {
		t.Fatal(err)
	}
	for n := range maxQueued + 1 {
		if err := subjects.Publish(t.Context(), w.Testbed.Mesh, subjects.IndexQueue, subjects.Index{Reason: fmt.Sprint(n), IDs: w.ids[:1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(w.tasks()); got != maxQueued+1 {
		t.Errorf("got %d tasks on a queue of %d, want no more", got, maxQueued+1)
	}
	w.wantDifferences("when it is short again", w.ids...)
	if got := w.log.String(); !strings.Contains(got, "index lost, rebuild started") {
		t.Errorf("got log %q, want the rebuild logged", got)
	}

	for n := range maxQueued {
		if err := w.publish(t.Context(), subjects.Index{Reason: fmt.Sprint("more ", n), IDs: w.ids[:1]}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := w.publish(ctx, subjects.Index{Reason: "too much", IDs: w.ids[:1]}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v on a queue above the limit, want a wait", err)
	}
}

func TestReconciler_SkipsQuarantinedItems(t *testing.T) {
	w := newIndexFixture(t, 5)
	if err := w.index.Delete(t.Context(), w.ids[:3]...); err != nil {
		t.Fatal(err)
	}
	for n, id := range []string{rejectedTask(w.ids[0]).ID(), rejectedTask(w.ids[1]).ID() + ".replay7"} {
		data, err := json.Marshal(subjects.Quarantined{Queue: "index", Task: id, Reason: "the index refuses it", Message: []byte("{}")})
		if err == nil {
			_, err = w.JS.Publish(t.Context(), subjects.QuarantineSubject("index"), data, jetstream.WithMsgID(fmt.Sprint(n)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.wantDifferences("at the start", w.ids[2])
}

// playIndex runs the index role until the test ends.
func playIndex(r *worktest.Testbed, agent string, store storage.Store, index storage.Index) {
	r.T.Helper()
	m, _ := r.Join(agent)
	env := r.Env(m)
	env.Store, env.Index = store, index
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := Run(ctx, env); err != nil {
			r.T.Error(err)
		}
	})
	r.T.Cleanup(func() { cancel(); wait.Wait() })
}

func TestReconciler_RebuildsLostIndex(t *testing.T) {
	w := newIndexFixture(t, 1200)
	index := enginetest.Index(t)
	began := time.Now()
	playIndex(w.Testbed, "a", w.store, index)
	indexed := func() int64 {
		n, err := index.Count(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	worktest.Eventually(t, "items are in the index", func() bool { return indexed() > 0 })
	if took := time.Since(began); took > 5900*time.Millisecond { // a lease expires after 6 s
		t.Errorf("took %v, want no wait for a free lease", took)
	}
	worktest.Eventually(t, "all items are in the index", func() bool { return indexed() == 1200 })
}

// A dividedIndex records for which days it was divided, and when.
type dividedIndex struct {
	storage.Index
	stored map[time.Time]int64
	now    time.Time
}

func (x *dividedIndex) Divide(_ context.Context, stored map[time.Time]int64, now time.Time) error {
	x.stored, x.now = stored, now
	return nil
}

func TestReconciler_DividesTheIndex(t *testing.T) {
	w := newIndexFixture(t, 3) // on three days
	x := &dividedIndex{Index: w.index}
	w.index = x
	w.reconciler.index = x
	w.differences()
	w.Advance(firstCompare)
	w.differences()
	want, err := w.store.Days(t.Context())
	if err != nil || len(want) != 3 || !maps.Equal(x.stored, want) || !x.now.Equal(w.Clock()) {
		t.Errorf("the index was divided for %v at %v, want %v, %v at %v", x.stored, x.now, want, err, w.Clock())
	}
}

// A sharedIndex counts the puts of one of the agents that share an index.
type sharedIndex struct {
	storage.Index
	puts atomic.Int64
}

func (c *sharedIndex) Put(ctx context.Context, items ...storage.IndexItem) error {
	c.puts.Add(1)
	return c.Index.Put(ctx, items...)
}

func TestIndex_AgentsShareTheTasks(t *testing.T) {
	w := newIndexFixture(t, 40)
	index := enginetest.Index(t)
	agents := map[string]*sharedIndex{"a": {Index: index}, "b": {Index: index}, "c": {Index: index}}
	for agent, own := range agents {
		playIndex(w.Testbed, agent, w.store, own)
	}
	n := 0
	worktest.Eventually(t, "each agent has indexed items", func() bool {
		task := subjects.Index{Reason: fmt.Sprint("test ", n), IDs: w.ids[n%40 : n%40+1]}
		n++
		if err := subjects.Publish(t.Context(), w.Testbed.Mesh, subjects.IndexQueue, task); err != nil {
			t.Fatal(err)
		}
		return agents["a"].puts.Load() > 0 && agents["b"].puts.Load() > 0 && agents["c"].puts.Load() > 0
	})
	worktest.Eventually(t, "all tasks are done", func() bool { return len(w.tasks()) == 0 })
	worktest.Eventually(t, "all items are in the index", func() bool {
		got, err := index.Count(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got == 40
	})
}
