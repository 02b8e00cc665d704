package busy

import (
	"testing"
	"time"

	"github.com/meilisearch/meilisearch-go"

	"feedmesh/tests/engines"
)

func TestMeilisearch_CountsBatches(t *testing.T) {
	server := engines.NewMeilisearch(t)
	client := meilisearch.New(server.URL(), meilisearch.WithAPIKey(server.Key()))
	defer client.Close()
	put := func() {
		t.Helper()
		task, err := client.Index("things").AddDocuments([]map[string]any{{"id": 1}, {"id": 2}}, nil)
		if err == nil {
			_, err = client.WaitForTask(task.TaskUID, 10*time.Millisecond)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put()
	from := time.Now()
	put()
	put()
	to := time.Now()
	got, err := Meilisearch(t.Context(), server.URL(), server.Key(), from, to)
	if err != nil || got.Count != 2 || got.Documents != 4 || got.Busy <= 0 || got.Busy > to.Sub(from) {
		t.Errorf("got %+v, %v; want 2 batches of 2 documents within %v", got, err, to.Sub(from))
	}
	steps, err := Steps(t.Context(), server.URL(), server.Key(), from)
	if took := steps["extracting words"]; err != nil || took <= 0 || took > got.Busy {
		t.Errorf("got %v for words, %v, want a part of %v", took, err, got.Busy)
	}
}

func TestBatches_OnlyTheTimeBetween(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	documents := map[string]any{"receivedDocuments": 10.0}
	var got Batches
	for _, b := range []*meilisearch.Batch{
		{StartedAt: at(90), FinishedAt: at(102), Details: documents},
		{StartedAt: at(103), FinishedAt: at(105), Details: documents},
		{StartedAt: at(109), FinishedAt: at(115), Details: documents}, // its documents count after the time
		{StartedAt: at(109), Details: documents},                      // in progress
	} {
		got.add(b, at(100), at(110))
	}
	if want := (Batches{Busy: 6 * time.Second, Count: 4, Documents: 20}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCores_BusyWhileThisProcessWorks(t *testing.T) {
	before, err := ReadCores()
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
	}
	after, err := ReadCores()
	if err != nil {
		t.Fatal(err)
	}
	if part := after.Since(before); part <= 0 || part > 1 {
		t.Errorf("part of the cores' time: %v", part)
	}
}
