package postgres

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// exec runs a statement at url, behind the store's back.
func exec(t testing.TB, url, statement string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// scan returns what a query for one value does.
func scan[T any](t testing.TB, url, query string, args ...any) (v T) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTenAgentsStartAtOnce(t *testing.T) {
	url := emptySchema(t)
	ids := make([]string, 10)
	var starting sync.WaitGroup
	for i := range ids {
		starting.Go(func() {
			s, err := Open(t.Context(), url)
			if err != nil {
				t.Errorf("open %d: %v", i, err)
				return
			}
			defer s.Close()
			if ids[i], err = s.ID(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("the IDs are %q, want one and the same", ids)
		}
	}
}

// twoSteps returns the real first step and one more.
func twoSteps(t *testing.T, second string) fs.FS {
	t.Helper()
	first, err := schema.ReadFile("schema/0001_start.sql")
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"schema/0001_start.sql": {Data: first}, "schema/0002_more.sql": {Data: []byte(second)}}
}

func TestKilledStepLeavesNothing(t *testing.T) {
	const step = `CREATE TABLE more (n integer); ALTER TABLE items ADD COLUMN extra text;`
	url := emptySchema(t)
	conn := connect(t, url)
	failed := make(chan error)
	go func() { failed <- setUp(t.Context(), conn, twoSteps(t, step+`SELECT pg_sleep(60)`)) }()
	waitFor(t, "the step to sleep", func() bool {
		return scan[bool](t, url, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database())`)
	})
	waiting := make(chan error)
	other := connect(t, url)
	go func() { waiting <- setUp(t.Context(), other, twoSteps(t, step)) }()
	exec(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`)
	if err := <-failed; err == nil {
		t.Error("the killed step has no error")
	}
	// The next in turn starts the step anew, and would fail if anything were left.
	if err := <-waiting; err != nil {
		t.Errorf("the one who waited: %v", err)
	}
	if n := scan[int](t, url, `SELECT max(number) FROM feedmesh_steps`); n != 2 {
		t.Errorf("%d steps are applied, want 2", n)
	}
}

func TestOlderProgramWorksBesideNewerSchema(t *testing.T) {
	url := emptySchema(t)
	old := open(t, url)
	if err := setUp(t.Context(), connect(t, url), twoSteps(t, `ALTER TABLE items ADD COLUMN extra text`)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{old, open(t, url)} {
		feedID := addFeed(t, s)
		if _, err := s.PutItems(t.Context(), benchBatch(feedID, 0, 5)); err != nil {
			t.Error(err)
		}
	}
	exec(t, url, `UPDATE store SET needs = 2`)
	_, err := Open(t.Context(), url)
	wantSaid(t, err, "the store has version 2 and this program knows only 1: run the newer program")
	if errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("%v: waiting would not help", err)
	}
}

func addFeed(t testing.TB, s *Store) string {
	t.Helper()
	feed := storage.Feed{ID: storage.FeedID(benchURL(0)), URL: benchURL(0)}
	if _, err := s.AddFeeds(t.Context(), feed); err != nil {
		t.Fatal(err)
	}
	return feed.ID
}

// waitFor waits until ok is true.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
