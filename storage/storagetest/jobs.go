package storagetest

import (
	"bytes"
	"fmt"
	"time"

	"feedmesh/storage"
)

// aJob returns a job with a value in every field but Cancel.
func aJob(id string, started time.Time) storage.Job {
	return storage.Job{
		ID: id, Kind: "relabel", Note: "rules <7> & more", Started: started, Finished: started.Add(time.Minute), State: "failed",
		Total: 6, Done: 5, Changed: 2, Err: "the store is \"away\"", Result: []byte(`{"flips": [1, 2], "x": "<\u0000>"}`),
	}
}

func putJob(c storeTest, job storage.Job) {
	c.Helper()
	if err := storage.Jobs(c.Store).Put(c.Context(), job); err != nil {
		c.Fatalf("put job: %v", err)
	}
}

// wantJob fails unless the stored job equals want.
func wantJob(c storeTest, want storage.Job) {
	c.Helper()
	got, err := storage.Jobs(c.Store).Read(c.Context(), want.ID)
	if err != nil {
		c.Fatalf("read job: %v", err)
	}
	c.wantEqual("the job", got, want)
}

func storedJob(c storeTest) {
	large := aJob("large", day)
	large.Result = append(append([]byte{'"'}, bytes.Repeat([]byte("x"), storage.MaxJobResult-2)...), '"')
	for _, want := range []storage.Job{aJob("full", day), {ID: "bare", Started: day}, large} {
		putJob(c, want)
		wantJob(c, want)
	}
	next := storage.Job{ID: "full", Kind: "undo", Started: day.Add(time.Second), State: "running", Total: 9, Done: 8, Result: []byte("{}")}
	putJob(c, next)
	wantJob(c, next)
}

func cancelJob(c storeTest) {
	one, other := aJob("one", day), aJob("other", day)
	putJob(c, one)
	putJob(c, other)
	if err := storage.Jobs(c.Store).Cancel(c.Context(), "one"); err != nil {
		c.Fatal(err)
	}
	one.Cancel = true
	wantJob(c, one)
	wantJob(c, other)
	progress := one
	progress.Cancel, progress.Done = false, 6
	putJob(c, progress)
	progress.Cancel = true
	wantJob(c, progress)
	other.Cancel = true
	putJob(c, other)
	wantJob(c, other)
}

// wantJobs fails unless ListJobs returns exactly these, in this order.
func wantJobs(c storeTest, limit int, want ...string) {
	c.Helper()
	page, err := storage.Jobs(c.Store).List(c.Context(), limit)
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	for _, job := range page {
		got = append(got, job.ID)
	}
	c.wantEqual("the list of jobs", got, want)
}

func jobsNewestFirst(c storeTest) {
	wantJobs(c, 10)
	for id, after := range map[string]time.Duration{"d": 0, "b": time.Hour, "c": time.Hour, "a": -time.Hour} {
		putJob(c, aJob(id, day.Add(after)))
	}
	wantJobs(c, 10, "b", "c", "d", "a")
	wantJobs(c, 3, "b", "c", "d")
	wantJobs(c, 0)
	page, err := storage.Jobs(c.Store).List(c.Context(), 1)
	if err != nil {
		c.Fatal(err)
	}
	want := aJob("b", day.Add(time.Hour))
	want.Result = nil
	c.wantEqual("a listed job", page, []storage.Job{want})
}

func oldJobs(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 3)
	c.put(items...)
	id := func(n int) string { return fmt.Sprintf("job-%03d", n) }
	for i, job := range []string{id(1), id(2), "of no job"} {
		relabelTo(c, job, []storage.Labels{otherLabels(items[i])}, items[i])
	}
	for n := range storage.MaxJobs + 2 {
		putJob(c, storage.Job{ID: id(n), Started: day.Add(time.Duration(n) * time.Second)})
	}
	page, err := storage.Jobs(c.Store).List(c.Context(), 1000)
	if err != nil || len(page) != storage.MaxJobs || page[len(page)-1].ID != id(2) {
		c.Errorf("there are %d jobs, %v; want the newest %d", len(page), err, storage.MaxJobs)
	}
	_, err = storage.Jobs(c.Store).Read(c.Context(), id(1))
	c.wantError("read an old job", err, storage.ErrNotFound)
	wantRestored(c, id(1), 10)
	wantRestored(c, id(2), 10, items[1])
	wantRestored(c, "of no job", 10, items[2])
}

func largeJob(c storeTest) {
	want := aJob("one", day)
	putJob(c, want)
	large := want
	large.Done, large.Result = 6, make([]byte, storage.MaxJobResult+1)
	c.wantError("put it", storage.Jobs(c.Store).Put(c.Context(), large), storage.ErrTooLarge)
	wantJob(c, want)
}
