package service

import (
	"errors"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// status returns the HTTP status of an API error.
func statusOf(err error) int {
	var problem interface{ GetStatus() int }
	if errors.As(err, &problem) {
		return problem.GetStatus()
	}
	return 0
}

func TestBacktest_OutlivesRequest(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	const text = "category os/topic:linux when kernel"
	id, err := w.server.StartBacktest(wire.Backtest{Set: "classify", From: 3, Text: text, Note: "more", Items: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got wire.Backtest
	for deadline := time.Now().Add(10 * time.Second); !got.Ended; time.Sleep(5 * time.Millisecond) {
		if got, err = w.server.Backtest(id); err != nil || time.Now().After(deadline) {
			t.Fatalf("got %+v, %v; want it to end", got, err)
		}
	}
	if got.Err != "" || got.Report.Items != 2 || got.Report.Effects.Gained != 1 || got.Done != 2 || got.Text != text || got.From != 3 || got.Note != "more" {
		t.Errorf("got %+v, want the changes of the two items", got)
	}
	for range maxKeptBacktests {
		if _, err := w.server.StartBacktest(wire.Backtest{Set: "classify", Text: text, Items: 1}); err != nil {
			t.Fatal(err)
		}
		w.server.backtests.running.Wait()
	}
	if _, err := w.server.Backtest(id); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v of one that was long ago, want %v", err, storage.ErrNotFound)
	}
	w.server.Close()
}

func TestBacktest_RejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, c := range []struct {
		set, text string
		want      int
	}{
		{"none", "", 404}, {"prepare", "keep all", 422}, {"classify", "nonsense", 422}, {"classify", strings.Repeat("# x\n", maxTestedText/4+1), 413},
	} {
		if _, err := w.server.StartBacktest(wire.Backtest{Set: c.set, Text: c.text}); statusOf(err) != c.want {
			t.Errorf("%s: got %v, want status %d", c.set, err, c.want)
		}
	}
	for range maxBacktests {
		w.server.backtestSlots <- struct{}{}
	}
	if _, err := w.server.StartBacktest(wire.Backtest{Set: "classify", Text: "# none"}); statusOf(err) != 429 {
		t.Errorf("got %v while others run, want status 429", err)
	}
}

func TestPutRules_PageAndREST(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	ctx := t.Context()
	desk, err := w.server.RuleSetDetail(ctx, "prepare", 0)
	if err != nil || desk.Version != 0 || desk.Text != "keep all\n" || !desk.Readable || desk.Decides {
		t.Fatalf("got %+v, %v; want the program's own", desk, err)
	}
	if _, err := w.server.PutRules(ctx, "prepare", 0, "first", "keep tables"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.PutRules(ctx, "prepare", 0, "late", "keep lists"); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("got %v of a text made from an old version, want %v", err, storage.ErrConflict)
	}
	if _, err := w.server.PutRules(ctx, "prepare", 1, "", "nonsense"); statusOf(err) != 422 {
		t.Errorf("got %v of a wrong text, want status 422", err)
	}
	if err := w.server.RestoreRules(ctx, "prepare", 0); err != nil {
		t.Error(err)
	}
	versions, err := w.server.RuleVersions(ctx, "prepare")
	if err != nil || len(versions) != 2 || versions[0].Version != 2 || versions[1].Note != "first" {
		t.Errorf("got %+v, %v; want two, the newest first", versions, err)
	}
	diff, err := w.server.DiffRules(ctx, "prepare", 1, 2)
	if err != nil || !strings.Contains(diff, "-keep tables") || !strings.Contains(diff, "+keep all") {
		t.Errorf("got %q, %v; want the changes", diff, err)
	}
	if _, err := w.server.ApplyRules(ctx, "prepare", 0); statusOf(err) != 422 {
		t.Errorf("got %v, want status 422: these rules decide nothing", err)
	}
	job, err := w.server.ApplyRules(ctx, "classify", 0)
	if err != nil || w.server.CancelJob(ctx, job.ID) != nil {
		t.Errorf("got %+v, %v; want a job that can be cancelled", job, err)
	}
	if jobs, err := w.server.Jobs(ctx); err != nil || len(jobs) != 1 || !jobs[0].Cancel {
		t.Errorf("got %+v, %v; want it cancelled", jobs, err)
	}
	if _, err := w.server.TrainRules(ctx, "prepare"); statusOf(err) != 422 {
		t.Errorf("got %v, want status 422: these rules are not learned", err)
	}
}
