package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// jobs stores a finished and a waiting relabel.
func (w *testbed) jobs(t *testing.T, done, waits string) {
	t.Helper()
	for _, job := range []storage.Job{
		{ID: done, Kind: workbench.Relabel, Note: "d", State: workbench.Done, Started: now, Finished: now, Total: 2, Done: 2, Changed: 1, Result: []byte(`{"set":"classify","found":{"x":1}}`)},
		{ID: waits, Kind: workbench.Train, Note: "w", State: workbench.Running, Started: now, Result: []byte(`{"set":"classify"}`)},
	} {
		if err := storage.Jobs(w.Store).Put(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
}

// jobDone sends a request that starts a job, and returns the finished job.
func (w *testbed) jobDone(t *testing.T, path string) wire.Job {
	t.Helper()
	a := w.request(t, "POST", path, "")
	var begun wire.Job
	if err := json.Unmarshal([]byte(a.body), &begun); err != nil || a.StatusCode != 202 {
		t.Fatalf("POST %s: got %d %s, %v; want 202 and the job", path, a.StatusCode, a.body, err)
	}
	c, err := client.NewClient(w.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	job, err := client.WaitForJob(ctx, c, begun.ID, func(wire.Job) {})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func (w *testbed) storedItem(t *testing.T, id string) storage.Item {
	t.Helper()
	item, err := storage.ItemByID(t.Context(), w.Store, id)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func TestWorkbench_TestRules(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for body, want := range map[string]string{
		`{"item":"` + w.item + `"}`: "os by rules:1",
		`{"text":"category hardware when scheduler score 3","item":"` + w.item + `"}`: "hardware by rules:1",
		`{"document":{"title":"A kernel"}}`:                                           "os by rules:1",
	} {
		a := w.request(t, "POST", "/api/rules/classify/test", body)
		var tried wire.TrialResult
		if err := json.Unmarshal([]byte(a.body), &tried); err != nil || a.StatusCode != 200 || !slices.Equal(tried.Why, []string{want}) {
			t.Errorf("%s: got %d %s, %v; want the error %s", body, a.StatusCode, a.body, err, want)
		}
	}
	a := w.request(t, "POST", "/api/rules/classify/test", `{"text":"category when\ncategory x when","document":{}}`)
	a.isProblem(t, 422, "rules classify are invalid")
	if n := strings.Count(a.body, `"message":"rules:`); n != 2 {
		t.Errorf("got %d errors in %s, want both", n, a.body)
	}
	w.request(t, "POST", "/api/rules/prepare/test", `{"document":{}}`).isProblem(t, 422, "rules prepare do not decide what items are")
	w.request(t, "POST", "/api/rules/prepare/apply", "").isProblem(t, 422, "those that do: classify")
}

func TestWorkbench_Backtest(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	a := w.request(t, "POST", "/api/rules/classify/backtest", "category os when kernel\ncategory languages when compiler\ncategory x when never")
	var got wire.Report
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.StatusCode != 200 {
		t.Fatalf("got %d %s, %v", a.StatusCode, a.body, err)
	}
	if got.Items != 2 || got.Effects.Gained != 2 || !slices.Equal(got.Never, []string{"rules:3"}) || len(got.Samples.Gained) != 2 {
		t.Errorf("got %+v, want the gains of both items", got)
	}
	if n := len(getJSON[wire.RuleVersionPage](t, w, "/api/rules/classify/versions").Versions); n != 0 {
		t.Errorf("there are %d versions, want no change", n)
	}
	for range service.MaxBacktests {
		w.server.Trials.Slots <- struct{}{}
	}
	w.request(t, "POST", "/api/rules/classify/backtest", "# none").isProblem(t, 429, "2 back-tests are running")
}

func TestWorkbench_ApplyAndUndo(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	servicetest.Start(t, "jobs", w.Jobs.Run)
	w.request(t, "PUT", "/api/rules/classify?version=0", "category kernels when kernel")
	job := w.jobDone(t, "/api/rules/classify/apply")
	if job.State != workbench.Done || job.Kind != workbench.Relabel || job.Done != 2 || job.Changed != 1 || job.Note != "rules classify, version 1" {
		t.Errorf("got %+v, want it finished", job)
	}
	if got := w.storedItem(t, w.item).Categories; !slices.Equal(got, []string{"kernels"}) {
		t.Errorf("got categories %v, want those of the new rules", got)
	}
	index := servicetest.Published(t, w.Mesh, subjects.IndexQueue)
	if len(index) != 1 || !slices.Contains(index[0].IDs, w.item) {
		t.Errorf("the index got %+v, want the item", index)
	}
	if undone := w.jobDone(t, "/api/jobs/"+job.ID+"/undo"); undone.State != workbench.Done || undone.Changed != 1 {
		t.Errorf("got %+v, want one item restored", undone)
	}
	if got := w.storedItem(t, w.item).Categories; !slices.Equal(got, []string{"linux"}) {
		t.Errorf("got categories %v, want the original ones", got)
	}
	all := getJSON[wire.Jobs](t, w, "/api/jobs").Jobs
	if len(all) != 2 || !slices.ContainsFunc(all, func(j wire.Job) bool { return j.ID == job.ID && j.State == workbench.Undone }) {
		t.Errorf("got %+v, want both jobs, the first undone", all)
	}
}

func TestWorkbench_ApplyBuiltInRules(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	servicetest.Start(t, "jobs", w.Jobs.Run)
	if job := w.jobDone(t, "/api/rules/classify/apply"); job.State != workbench.Done || job.Note != "rules classify, version 0" {
		t.Errorf("got %+v, want it finished", job)
	}
	if got := w.storedItem(t, w.item).Categories; !slices.Equal(got, []string{"os"}) {
		t.Errorf("got categories %v, want those of the built-in rules", got)
	}
}

func TestTraining_SavesNextVersion(t *testing.T) {
	t.Parallel()
	by, _, err := servicetest.Labels().Decider([]byte("category os when kernel"))
	if err != nil {
		t.Fatal(err)
	}
	w := newTestbed(t, func(d *setup) { d.Decider = func() workbench.Decider { return by } })
	servicetest.Start(t, "jobs", w.Jobs.Run)
	w.request(t, "POST", "/api/items/"+storage.ItemID(w.feed, "2")+"/spam", "")
	job := w.jobDone(t, "/api/rules/classify/train?items=100")
	if job.State != workbench.Done || string(job.Found) != `{"examples":2}` {
		t.Errorf("got %+v, want the result", job)
	}
	if got := w.Mesh.Rules["classify"]; got.Version != 1 || string(got.Text) != "category os when kernel\n# learned from 2\n" || got.Note != "from 2" {
		t.Errorf("got %+v %s, want the trained rules in force", got, got.Text)
	}
	w.request(t, "POST", "/api/rules/prepare/train", "").isProblem(t, 422, "rules prepare can't be trained")
}

func TestTraining_FailureChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		err        error
	}{{"nonsense", "trained rules are invalid", nil}, {"", "too few examples", errors.New("too few examples")}} {
		w := newTestbed(t, func(d *setup) {
			spec := servicetest.Labels()
			spec.Learn = func(context.Context, []byte, workbench.Examples) ([]byte, string, json.RawMessage, error) {
				return []byte(c.text), "", nil, c.err
			}
			d.RuleSetSpecs = []service.RuleSetSpec{spec}
		})
		servicetest.Start(t, "jobs", w.Jobs.Run)
		if job := w.jobDone(t, "/api/rules/classify/train"); job.State != workbench.Failed || !strings.Contains(job.Error, c.want) {
			t.Errorf("got %+v, want it failed: %s", job, c.want)
		}
		if got := w.Mesh.Rules["classify"]; got.Version != 0 {
			t.Errorf("version %d is in force, want none", got.Version)
		}
	}
}

func TestCheckRules_Warnings(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for text, want := range map[string]string{
		"category os when kernel score 0.5": `"sound":true,"faults":[],"warnings":["it scores nothing"]`,
		"category os when kernel":           `"sound":true,"faults":[],"warnings":[]`,
		"category os score 0":               `"sound":false,"faults":["rules:1`,
	} {
		if a := w.request(t, "POST", "/api/rules/classify/check", text); !strings.Contains(a.body, want) {
			t.Errorf("%s: got %s, want %s", text, a.body, want)
		}
	}
}

func TestDiffRules_Versions(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.putRules(t, 0, "keep all\nkeep tables\n")
	w.putRules(t, 1, "keep tables\n")
	for query, want := range map[string]string{
		"from=0":      "--- prepare, version 0\n+++ prepare, version 2\n@@ -1,1 +1,1 @@\n-keep all\n+keep tables\n",
		"from=1":      "--- prepare, version 1\n+++ prepare, version 2\n@@ -1,2 +1,1 @@\n-keep all\n keep tables\n",
		"from=2&to=1": "--- prepare, version 2\n+++ prepare, version 1\n@@ -1,1 +1,2 @@\n+keep all\n keep tables\n",
		"from=2":      "",
	} {
		a := w.request(t, "GET", "/api/rules/prepare/diff?"+query, "")
		if a.StatusCode != 200 || a.body != want || a.Header.Get("Content-Type") != wire.RulesType {
			t.Errorf("%s: got %d %q as %s, want %q", query, a.StatusCode, a.body, a.Header.Get("Content-Type"), want)
		}
	}
	if _, err := storage.RuleSets(w.Store).Put(t.Context(), storage.RuleSet{Name: "prepare", Version: 2, Text: []byte{0xff, 0xfe}}); err != nil {
		t.Fatal(err)
	}
	w.request(t, "GET", "/api/rules/prepare/diff?from=1", "").isProblem(t, 422, "binary and can't be compared")
}

func TestJobs_Limit(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for i := range workbench.MaxWaiting {
		if err := storage.Jobs(w.Store).Put(t.Context(), storage.Job{ID: fmt.Sprint(i), Kind: workbench.Train, State: workbench.Running, Started: now}); err != nil {
			t.Fatal(err)
		}
	}
	w.request(t, "POST", "/api/rules/classify/apply", "").isProblem(t, 429, "too many jobs wait already")
}

func TestClient_Workbench(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	servicetest.Start(t, "jobs", w.Jobs.Run)
	c, err := client.NewClient(w.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	tried, errTest := client.Call(ctx, c, wire.TestRules, wire.TestRulesRequest{Name: "classify", Body: wire.RuleTest{Item: w.item}})
	report, errBacktest := client.Call(ctx, c, wire.BacktestRules, wire.BacktestRequest{Name: "classify", RawBody: []byte("category os when kernel"), Items: 1})
	begun, errApply := client.Call(ctx, c, wire.ApplyRules, wire.ApplyRulesRequest{Name: "classify", Version: 0})
	if err := errors.Join(errTest, errBacktest, errApply); err != nil || len(tried.Matched) != 1 || report.Items != 1 {
		t.Fatalf("got %+v, %+v, %v", tried, report, err)
	}
	job, err := client.WaitForJob(ctx, c, begun.ID, func(wire.Job) {})
	if err != nil || job.State != workbench.Done {
		t.Errorf("got %+v, %v; want it finished", job, err)
	}
	undo, errUndo := client.Call(ctx, c, wire.UndoJob, wire.ByID{ID: job.ID})
	_, errWait := client.WaitForJob(ctx, c, undo.ID, func(wire.Job) {})
	jobs, errJobs := client.Call(ctx, c, wire.ListJobs, wire.None{})
	_, errCancel := client.Call(ctx, c, wire.CancelJob, wire.ByID{ID: undo.ID})
	var p *client.Problem
	if err := errors.Join(errUndo, errWait, errJobs); err != nil || len(jobs.Jobs) != 2 || !errors.As(errCancel, &p) || p.Status != 409 {
		t.Errorf("got %+v, %v, %v; want both jobs, ended", jobs, err, errCancel)
	}
	if diff, err := client.DiffRules(ctx, c, "prepare", 0, 0); diff != "" || err != nil {
		t.Errorf("got %q, %v; want no difference", diff, err)
	}
	if _, err := client.DiffRules(ctx, c, "prepare", 0, 7); !errors.As(err, &p) || p.Status != 404 {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if train, err := client.Call(ctx, c, wire.TrainRules, wire.TrainRequest{Name: "classify", Items: 10}); err != nil || train.Kind != workbench.Train {
		t.Errorf("got %+v, %v; want a training", train, err)
	}
	_, errLabel := client.Call(ctx, c, wire.LabelItem, wire.LabelItemRequest{ID: w.item, Body: wire.Correction{Categories: &[]string{"hardware"}}})
	_, errReport := client.Call(ctx, c, wire.ReportSpam, wire.ByID{ID: w.item})
	page, errSpam := client.Call(ctx, c, wire.ListSpam, wire.ListSpamRequest{Feed: w.feed, Limit: 10})
	_, errRelease := client.Call(ctx, c, wire.ReleaseSpam, wire.ByID{ID: w.item})
	item, errUnlabel := client.Call(ctx, c, wire.UnlabelItem, wire.ByID{ID: w.item})
	if err := errors.Join(errLabel, errReport, errSpam, errRelease, errUnlabel); err != nil || page.Total != 1 || item.Corrected || !slices.Equal(item.Categories, []string{"hardware"}) {
		t.Errorf("got %+v and %+v, %v; want the item among the spam once, and what was said of it", page, item, err)
	}
}
