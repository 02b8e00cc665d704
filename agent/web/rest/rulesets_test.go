package rest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// statusOf returns the HTTP status of an error of the service.
func statusOf(err error) int {
	var e *service.Error
	if errors.As(err, &e) {
		return problem.StatusOf(e.Kind)
	}
	return 0
}

// backtest waits for a back-test and returns its result.
func (w *testbed) backtest(t *testing.T, id string) (got wire.Backtest) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); !got.Ended; time.Sleep(time.Millisecond) {
		if got, err = w.server.Trials.Progress(id); err != nil || time.Now().After(deadline) {
			t.Fatalf("got %+v, %v; want it to end", got, err)
		}
	}
	return got
}

func TestBacktest_OutlivesRequest(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	const text = "category os/topic:linux when kernel"
	id, err := w.server.Trials.Start(wire.Backtest{Set: "classify", From: 3, Text: text, Note: "more", Items: 100})
	if err != nil {
		t.Fatal(err)
	}
	got := w.backtest(t, id)
	if got.Err != "" || got.Report.Items != 2 || got.Report.Effects.Gained != 1 || got.Done != 2 || got.Text != text || got.From != 3 || got.Note != "more" {
		t.Errorf("got %+v, want the changes of the two items", got)
	}
	for range service.MaxKeptBacktests {
		next, err := w.server.Trials.Start(wire.Backtest{Set: "classify", Text: text, Items: 1})
		if err != nil {
			t.Fatal(err)
		}
		w.backtest(t, next)
	}
	if _, err := w.server.Trials.Progress(id); !errors.Is(err, storage.ErrNotFound) {
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
		{"none", "", 404}, {"prepare", "keep all", 422}, {"classify", "nonsense", 422}, {"classify", strings.Repeat("# x\n", service.MaxTestedText/4+1), 413},
	} {
		if _, err := w.server.Trials.Start(wire.Backtest{Set: c.set, Text: c.text}); statusOf(err) != c.want {
			t.Errorf("%s: got %v, want status %d", c.set, err, c.want)
		}
	}
	for range service.MaxBacktests {
		w.server.Trials.Slots <- struct{}{}
	}
	if _, err := w.server.Trials.Start(wire.Backtest{Set: "classify", Text: "# none"}); statusOf(err) != 429 {
		t.Errorf("got %v while others run, want status 429", err)
	}
}

func TestPutRules_PageAndREST(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	ctx := t.Context()
	desk, err := w.server.Rules.Detail(ctx, wire.RuleVersionRequest{Name: "prepare"})
	if err != nil || desk.Version != 0 || desk.Text != "keep all\n" || !desk.Readable || desk.Decides {
		t.Fatalf("got %+v, %v; want the program's own", desk, err)
	}
	if _, err := w.server.Rules.Put(ctx, wire.PutRulesRequest{Name: "prepare", Version: "0", Note: "first", RawBody: []byte("keep tables")}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.Rules.Put(ctx, wire.PutRulesRequest{Name: "prepare", Version: "0", Note: "late", RawBody: []byte("keep lists")}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("got %v of a text made from an old version, want %v", err, storage.ErrConflict)
	}
	if _, err := w.server.Rules.Put(ctx, wire.PutRulesRequest{Name: "prepare", Version: "1", Note: "", RawBody: []byte("nonsense")}); statusOf(err) != 422 {
		t.Errorf("got %v of a wrong text, want status 422", err)
	}
	if _, err := w.server.Rules.Restore(ctx, wire.RestoreRulesRequest{Name: "prepare"}); err != nil {
		t.Error(err)
	}
	page, err := w.server.Rules.Versions(ctx, wire.RuleVersionSearch{Name: "prepare", Limit: 50})
	versions := page.Versions
	if err != nil || len(versions) != 2 || versions[0].Version != 2 || versions[1].Note != "first" {
		t.Errorf("got %+v, %v; want two, the newest first", versions, err)
	}
	diff, err := w.server.Rules.Diff(ctx, wire.DiffRequest{Name: "prepare", From: 1, To: 2})
	if err != nil || !strings.Contains(string(diff.Data), "-keep tables") || !strings.Contains(string(diff.Data), "+keep all") {
		t.Errorf("got %q, %v; want the changes", diff.Data, err)
	}
	if _, err := w.server.Jobs.Apply(ctx, wire.ApplyRulesRequest{Name: "prepare"}); statusOf(err) != 422 {
		t.Errorf("got %v, want status 422: these rules decide nothing", err)
	}
	job, err := w.server.Jobs.Apply(ctx, wire.ApplyRulesRequest{Name: "classify"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.Jobs.Cancel(ctx, wire.ByID{ID: job.ID}); err != nil {
		t.Errorf("got %v of %+v, want it cancelled", err, job)
	}
	if jobs, err := w.server.Jobs.List(ctx, wire.None{}); err != nil || len(jobs.Jobs) != 1 || !jobs.Jobs[0].Cancel {
		t.Errorf("got %+v, %v; want it cancelled", jobs, err)
	}
	if _, err := w.server.Jobs.Train(ctx, wire.TrainRequest{Name: "prepare"}); statusOf(err) != 422 {
		t.Errorf("got %v, want status 422: these rules are not learned", err)
	}
}
