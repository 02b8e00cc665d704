package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/storage"
)

func TestRelabel_AllItems(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1600)
	b.texts[7] = rulesOf(t, newRules)
	no := false
	mine := storage.ItemID(b.feed, "1")
	if _, err := b.store.Correct(t.Context(), storage.Correction{ItemID: mine, Spam: &no, At: now}); err != nil {
		t.Fatal(err)
	}
	job := b.run(t, b.begin(t, 7, now).ID)
	want := storage.Job{
		ID: job.ID, Kind: Relabel, Note: "rules classify, version 7, all items", Started: now, Finished: now, State: Done,
		Total: 1600, Done: 1600, Changed: 1199, Result: job.Result,
	}
	if fmt.Sprint(job) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", job, want)
	}
	if got, want := b.labelled(t), map[string]int{"devops": 800, "kubernetes": 800, "databases": 400, "postgresql": 400, "spam": 399}; !maps.Equal(got, want) {
		t.Errorf("got labels %v, want %v: all but corrected items", got, want)
	}
	indexed := b.out.indexed()
	if len(indexed) < 1199 || slices.Contains(indexed, mine) {
		t.Errorf("%d items are reindexed, the corrected item included: %v; want all changed items only", len(indexed), slices.Contains(indexed, mine))
	}
	if again := b.run(t, b.begin(t, 7, now.Add(time.Second)).ID); again.Changed != 0 || again.State != Done {
		t.Errorf("second relabel: got %+v, want no changes", again)
	}
}

// TestRelabel_ChangesWhatBacktestReports has stored labels that differ from the rules in force, as those of items whose
// feed had another history, and new rules that move all others by a line.
func TestRelabel_ChangesWhatBacktestReports(t *testing.T) {
	t.Parallel()
	b := newBench(t, 400)
	after := "score 1 when kubernetes & postgresql\n" + oldRules + "\ncategory leisure when casino"
	b.texts[1], b.texts[2] = rulesOf(t, oldRules), rulesOf(t, after)
	for i := range 400 {
		if i%8 == 0 { // half of the titles "Kubernetes in production"
			labels := storage.Labels{ItemID: b.item(i).ID, Spam: true, SpamScore: 0.9, Categories: []string{"by-history"}}
			if _, err := b.store.Relabel(t.Context(), "", labels); err != nil {
				t.Fatal(err)
			}
		}
	}
	report := b.backtest(t, oldRules, after, 1000)
	if want := (wire.Effects{Same: 200, Gained: 100, Changed: 200}); report.Effects != want {
		t.Fatalf("got %+v, want %+v: a new category and a new score", report.Effects, want)
	}
	var before int64 = 1
	job, err := StartRelabel(t.Context(), b.store, "classify", 2, &before, now)
	if err != nil {
		t.Fatal(err)
	}
	if job = b.run(t, job.ID); job.State != Done || job.Done != 400 || job.Changed != report.Effects.Changed {
		t.Errorf("got %+v, want %d changes as the back-test reports", job, report.Effects.Changed)
	}
	if got, want := b.labelled(t), map[string]int{"spam": 50, "by-history": 50, "leisure": 100, "devops": 100, "kubernetes": 100}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUndo_RestoresLabels(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1600)
	b.texts[1], b.texts[2] = rulesOf(t, oldRules), rulesOf(t, newRules)
	b.run(t, b.begin(t, 1, now).ID)
	before := b.labelled(t)
	relabel := b.run(t, b.begin(t, 2, now.Add(time.Second)).ID)
	b.out.indexed()
	yes := true
	mine := storage.ItemID(b.feed, "0")
	if _, err := b.store.Correct(t.Context(), storage.Correction{ItemID: mine, Spam: &yes, At: now}); err != nil {
		t.Fatal(err)
	}
	for round := range 2 { // an undo is idempotent
		undo, err := StartUndo(t.Context(), b.store, relabel.ID, now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		undo = b.run(t, undo.ID)
		if undo.State != Done || undo.Kind != Undo || round == 0 && undo.Changed != relabel.Changed {
			t.Errorf("round %d: got %+v, want %d items restored", round, undo, relabel.Changed)
		}
		after := b.labelled(t)
		after["spam"]--
		maps.DeleteFunc(after, func(_ string, n int) bool { return n == 0 })
		if !maps.Equal(after, before) {
			t.Errorf("round %d: got %v, want %v, the labels before except for later corrections", round, after, before)
		}
		if got := b.job(t, relabel.ID); got.State != Undone || got.Changed != relabel.Changed {
			t.Errorf("round %d: the relabel is %+v, want it undone", round, got)
		}
	}
	if got := len(b.out.indexed()); got < relabel.Changed-1 {
		t.Errorf("%d items are reindexed, want %d", got, relabel.Changed)
	}
}

func TestUndo_RejectsInvalid(t *testing.T) {
	t.Parallel()
	b := newBench(t, 40)
	b.texts[1], b.texts[2] = rulesOf(t, oldRules), rulesOf(t, newRules)
	first := b.begin(t, 1, now)
	refused := func(id, why string) {
		t.Helper()
		if _, err := StartUndo(t.Context(), b.store, id, now); !errors.Is(err, ErrNoUndo) || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want ErrNoUndo: %s", err, why)
		}
	}
	refused(first.ID, "cancel it first")
	b.run(t, first.ID)
	second := b.begin(t, 2, now.Add(time.Second))
	refused(first.ID, "came after")
	b.run(t, second.ID)
	refused(first.ID, "(rules classify, version 2, all items) came after")
	undo, err := StartUndo(t.Context(), b.store, second.ID, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, undo.ID)
	refused(undo.ID, "is a undo")
	if _, err := StartUndo(t.Context(), b.store, first.ID, now.Add(time.Hour)); err != nil {
		t.Errorf("got %v, want an undo", err)
	}
	if _, err := StartUndo(t.Context(), b.store, "none", now); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestRelabel_Resumes(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1600)
	rules := rulesOf(t, newRules)
	ctx, die := context.WithCancel(t.Context())
	var asked atomic.Int64
	b.texts[1] = deciderFunc(func(d classify.Document) classify.Decision {
		if asked.Add(1) == 1100 {
			die()
		}
		return rules.Decide(d)
	})
	job := b.begin(t, 1, now)
	if err := b.runner.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that it ended", err)
	}
	half := b.job(t, job.ID)
	if half.State != Running || half.Done == 0 || half.Done >= 1600 || half.Changed == 0 {
		t.Fatalf("got %+v, want it half done", half)
	}
	// The next runner repeats a batch whose progress the first runner did not store.
	labels := []storage.Labels{}
	for i := range 1600 {
		it := b.item(i)
		labels = append(labels, storage.Labels{ItemID: it.ID, Categories: []string{"devops"}})
	}
	if _, err := b.store.Relabel(t.Context(), job.ID, labels...); err != nil {
		t.Fatal(err)
	}
	b.out.indexed()
	asked.Store(2000)
	done := b.run(t, job.ID)
	if again := asked.Load() - 2000; again != int64(1600-half.Done) {
		t.Errorf("%d items were decided again, want the remaining %d", again, 1600-half.Done)
	}
	if done.State != Done || done.Done != 1600 || done.Total != 1600 {
		t.Errorf("got %+v, want it done", done)
	}
	if got := len(b.out.indexed()); got < jobBatch {
		t.Errorf("%d items are indexed, want at least the whole first batch, whose index task may be lost", got)
	}
	undo, err := StartUndo(t.Context(), b.store, job.ID, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, undo.ID)
	if got := b.labelled(t); len(got) != 0 {
		t.Errorf("after the undo: got %v, want no labels, as initially", got)
	}
}

func TestCancelJob_Running(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1600)
	rules, slow := rulesOf(t, newRules), make(chan struct{}, 1)
	b.texts[1] = deciderFunc(func(d classify.Document) classify.Decision {
		select {
		case slow <- struct{}{}:
		default:
		}
		time.Sleep(time.Millisecond)
		return rules.Decide(d)
	})
	b.texts[2] = rules
	job, next := b.begin(t, 1, now), b.begin(t, 2, now.Add(time.Second))
	ended := make(chan error, 1)
	go func() { ended <- b.runner.Run(t.Context()) }()
	<-slow
	began := time.Now()
	for _, id := range []string{next.ID, job.ID, job.ID} {
		if got, err := CancelJob(t.Context(), b.store, id); err != nil || !got.Cancel {
			t.Fatalf("got %+v, %v; want it canceled", got, err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second { // for a busy machine
		t.Errorf("it took %v, want about a second", took)
	}
	got := b.job(t, job.ID)
	if got.State != Cancelled || got.Done >= 1600 || !got.Finished.Equal(now) {
		t.Errorf("got %+v, want it cancelled", got)
	}
	if waiting := b.job(t, next.ID); waiting.State != Cancelled || waiting.Done != 0 {
		t.Errorf("the waiting job is %+v, want it cancelled", waiting)
	}
	if _, err := CancelJob(t.Context(), b.store, job.ID); err != nil {
		t.Errorf("cancelled again: got %v, want no error", err)
	}
	undo, err := StartUndo(t.Context(), b.store, job.ID, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, undo.ID)
	if got := b.labelled(t); len(got) != 0 {
		t.Errorf("after the undo: got %v, want no labels", got)
	}
	if _, err := CancelJob(t.Context(), b.store, undo.ID); !errors.Is(err, ErrFinished) {
		t.Errorf("got %v, want that the job has finished", err)
	}
}

func TestCancelJob_Waiting(t *testing.T) {
	t.Parallel()
	b := newBench(t, 40)
	rules, free := rulesOf(t, newRules), make(chan struct{})
	b.texts[1] = deciderFunc(func(d classify.Document) classify.Decision { <-free; return rules.Decide(d) })
	b.texts[2] = rules
	job, next := b.begin(t, 1, now), b.begin(t, 2, now.Add(time.Second))
	ended := make(chan error, 1)
	go func() { ended <- b.runner.Run(t.Context()) }()
	if _, err := CancelJob(t.Context(), b.store, next.ID); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); b.job(t, next.ID).State != Cancelled; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("not cancelled within a minute")
		}
	}
	close(free)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := b.job(t, job.ID); got.State != Done {
		t.Errorf("the running job is %+v, want it done", got)
	}
}

func TestRunner_PermanentErrorFailsJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, 40)
	job := b.run(t, b.begin(t, 9, now).ID)
	if job.State != Failed || !strings.Contains(job.Err, "there is no version 9 of classify") || job.Finished.IsZero() {
		t.Errorf("got %+v, want it failed with a reason", job)
	}
	for _, broken := range []storage.Job{
		{ID: "a", Kind: "walk", Result: []byte("{}")}, {ID: "b", Kind: Relabel}, {ID: "c", Kind: Relabel, Result: []byte(`{"set":"classify","place":"x"}`)}, {ID: "d", Kind: Train, Result: []byte("{}")},
	} {
		broken.State, broken.Started = Running, now
		if err := storage.Jobs(b.store).Put(t.Context(), broken); err != nil {
			t.Fatal(err)
		}
		if got := b.run(t, broken.ID); got.State != Failed || got.Err == "" {
			t.Errorf("got %+v, want it failed with a reason", got)
		}
	}
}

func TestRunner_TemporaryErrorIsRetried(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1600)
	b.texts[1] = rulesOf(t, newRules)
	b.out.full = errAway
	job := b.begin(t, 1, now)
	other := storage.Job{ID: "other", Kind: Undo, State: Running, Started: now.Add(time.Second), Result: []byte(`{"of":"none"}`)}
	if err := storage.Jobs(b.store).Put(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := b.runner.Run(t.Context()); !errors.Is(err, errAway) {
		t.Fatalf("got %v, want the temporary error", err)
	}
	if got := b.job(t, job.ID); got.State != Running || got.Done != 0 {
		t.Errorf("got %+v, want it waiting", got)
	}
	if got := b.job(t, "other"); got.State != Done {
		t.Errorf("the other is %+v, want it done", got)
	}
	b.out.full = nil
	if got := b.run(t, job.ID); got.State != Done || got.Done != 1600 {
		t.Errorf("got %+v, want it done", got)
	}
	if got := len(b.out.indexed()); got < 1200 {
		t.Errorf("%d items are indexed, want all changed items", got)
	}
}

func TestStartJob_IsIdempotent(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	first := b.begin(t, 1, now)
	if again := b.begin(t, 1, now.Add(time.Second)); again.ID != first.ID {
		t.Errorf("got job %s, want the waiting job %s", again.ID, first.ID)
	}
	for i := range MaxWaiting - 1 {
		b.begin(t, int64(i+2), now)
	}
	if _, err := StartRelabel(t.Context(), b.store, "classify", 100, nil, now); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrTooMany", err)
	}
	if again := b.begin(t, 1, now); again.ID != first.ID {
		t.Errorf("got job %s, want %s despite the limit", again.ID, first.ID)
	}
}

func TestTrain_Examples(t *testing.T) {
	t.Parallel()
	b := newBench(t, 400)
	yes := true
	for i, said := range []storage.Correction{{Categories: []string{"databases"}}, {Spam: &yes}, {Categories: []string{}}, {}} {
		said.ItemID, said.At = storage.ItemID(b.feed, fmt.Sprint(i)), now.Add(time.Duration(i)*time.Second)
		if _, err := b.store.Correct(t.Context(), said); err != nil {
			t.Fatal(err)
		}
	}
	rules := rulesOf(t, newRules)
	b.texts[0] = deciderFunc(func(d classify.Document) classify.Decision {
		decision := rules.Decide(d)
		if strings.HasPrefix(d.Title, "A walk") {
			decision.Categories, decision.Guessed = []string{"leisure"}, true
		}
		return decision
	})
	b.runner.Learn = func(_ context.Context, set string, examples Examples) ([]byte, error) {
		said, ruled, spam := 0, map[string]int{}, 0
		for range 2 { // a trainer may make two passes
			said, spam = 0, 0
			clear(ruled)
			for e, err := range examples {
				switch {
				case err != nil:
					return nil, err
				case e.Corrected && e.Spam != nil:
					spam++
				case e.Corrected:
					said++
				default:
					ruled[e.Categories[0]]++
				}
			}
		}
		return json.Marshal(fmt.Sprint(set, said, spam, ruled))
	}
	job, err := StartTrain(t.Context(), b.store, "model", 100_000, now)
	if err != nil {
		t.Fatal(err)
	}
	job = b.run(t, job.ID)
	if got, want := string(Found(job)), `"model1 1 map[databases:99 devops:99]"`; got != want || job.State != Done {
		t.Errorf("got %s of %+v, want %s", got, job, want)
	}
	b.runner.Learn = func(_ context.Context, _ string, examples Examples) ([]byte, error) {
		n := 0
		for range examples {
			if n++; n == 10 {
				break
			}
		}
		return fmt.Appendf(nil, "%d", n), nil
	}
	if job, err = StartTrain(t.Context(), b.store, "model", 50, now); err != nil {
		t.Fatal(err)
	}
	if job = b.run(t, job.ID); string(Found(job)) != "10" || job.State != Done {
		t.Errorf("got %s of %+v, want that training may stop early", Found(job), job)
	}
}

func TestCursor_RoundTrip(t *testing.T) {
	for _, p := range []place{{}, {day: storage.Day(now)}, {day: storage.Day(now), after: "a/b"}} {
		if got, err := placeOf(p.String()); err != nil || got != p {
			t.Errorf("got %+v, %v; want %+v", got, err, p)
		}
	}
	for _, s := range []string{"x", "/a", "2026-13-01/"} {
		if got, err := placeOf(s); err == nil {
			t.Errorf("%q: got %+v, want an error", s, got)
		}
	}
}
