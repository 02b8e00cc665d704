package postgres

import (
	"context"
	"errors"
	"fmt"
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

// exec runs a statement at url, bypassing the store.
func exec(t testing.TB, url, statement string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// scan returns the result of a query for one value.
func scan[T any](t testing.TB, url, query string, args ...any) (v T) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMigrate_TenConcurrentAgents(t *testing.T) {
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
			t.Errorf("got IDs %q, want equal IDs", ids)
		}
	}
}

// realSteps returns the first n released migrations, or all if there are fewer.
func realSteps(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	steps := fstest.MapFS{}
	for _, name := range names[:min(n, len(names))] {
		step, err := schema.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		steps[name] = &fstest.MapFile{Data: step}
	}
	return steps
}

// oneMore returns all released migrations and one more.
func oneMore(t *testing.T, step string) fs.FS {
	t.Helper()
	steps := realSteps(t, 1000)
	steps["schema/9999_more.sql"] = &fstest.MapFile{Data: []byte(step)}
	return steps
}

func TestMigrate_KilledMigrationLeavesNothing(t *testing.T) {
	const step = `CREATE TABLE more (n integer); ALTER TABLE items ADD COLUMN extra text;`
	url := emptySchema(t)
	conn := connect(t, url)
	failed := make(chan error)
	go func() { failed <- migrate(t.Context(), conn, oneMore(t, step+`SELECT pg_sleep(60)`)) }()
	waitFor(t, "the step to sleep", func() bool {
		return scan[bool](t, url, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database())`)
	})
	waiting := make(chan error)
	other := connect(t, url)
	go func() { waiting <- migrate(t.Context(), other, oneMore(t, step)) }()
	exec(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`)
	if err := <-failed; err == nil {
		t.Error("the killed step returned no error")
	}
	// The next agent repeats the migration, and would fail if anything were left.
	if err := <-waiting; err != nil {
		t.Errorf("the waiting migration: %v", err)
	}
	if n, want := scan[int](t, url, `SELECT max(number) FROM feedmesh_steps`), len(realSteps(t, 1000))+1; n != want {
		t.Errorf("%d steps are applied, want %d", n, want)
	}
}

func TestMigrate_OlderProgramUsesNewerSchema(t *testing.T) {
	url := emptySchema(t)
	old := open(t, url)
	if err := migrate(t.Context(), connect(t, url), oneMore(t, `ALTER TABLE items ADD COLUMN extra text`)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{old, open(t, url)} {
		feedID := addFeed(t, s)
		if _, err := s.PutItems(t.Context(), benchBatch(feedID, 0, 5)); err != nil {
			t.Error(err)
		}
	}
	steps := len(realSteps(t, 1000))
	exec(t, url, fmt.Sprintf(`UPDATE store SET needs = %d`, steps+1))
	_, err := Open(t.Context(), url)
	wantErrorText(t, err, fmt.Sprintf("the store has schema version %d and this program supports only %d: run the newer program", steps+1, steps))
	if errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("%v: waiting would not help", err)
	}
}

func TestMigrate_FirstVersionGetsSettings(t *testing.T) {
	ctx := t.Context()
	url := emptySchema(t)
	if err := migrate(ctx, connect(t, url), realSteps(t, 1)); err != nil {
		t.Fatal(err)
	}
	feedID, item := storage.FeedID(benchURL(0)), benchItem(storage.FeedID(benchURL(0)), 0)
	exec(t, url, fmt.Sprintf(`INSERT INTO feeds (id, url, title, site, language, added, items) VALUES ('%s', '%s', 'Old', '', '', now(), 1)`,
		feedID, benchURL(0)))
	exec(t, url, fmt.Sprintf(`INSERT INTO items (feed, changed, id, key, hash, revision, first_seen, published, assumed, url, title, author,
			language, spam, lane, text_hash, event_id, story_id, duplicate_of, duplicate_by, excerpt, html)
		VALUES (1, now(), '%s', '%s', 'hash', 1, now(), now(), '', '', '', '', '', false, '', '', '', '', '', '', '', '')`, item.ID, item.Key))
	s := open(t, url)
	if got, err := s.SetFeed(ctx, feedID, storage.Settings{Tags: []string{"tag"}, Pinned: true}); err != nil || got.Title != "Old" || !got.Pinned || got.Items != 1 {
		t.Errorf("the feed is %+v, %v; want it as it was, and pinned", got, err)
	}
	if _, err := s.MoveFeed(ctx, feedID, benchURL(1)); err != nil {
		t.Fatal(err)
	}
	to := storage.FeedID(benchURL(1))
	if got, err := storage.ItemByID(ctx, s, storage.ItemID(to, item.Key)); err != nil || got.Hash != "hash" || got.FeedID != to {
		t.Errorf("the moved item is %+v, %v", got, err)
	}
}

func TestMigrate_ListsSpamOfOlderPrograms(t *testing.T) {
	ctx := t.Context()
	url := emptySchema(t)
	if err := migrate(ctx, connect(t, url), realSteps(t, 3)); err != nil {
		t.Fatal(err)
	}
	feedID := storage.FeedID(benchURL(0))
	exec(t, url, fmt.Sprintf(`INSERT INTO feeds (id, url, title, site, language, added) VALUES ('%s', '%s', '', '', '', now())`, feedID, benchURL(0)))
	insert := func(n int, spam bool) { // as a program of version 3 does
		t.Helper()
		item := benchItem(feedID, n)
		exec(t, url, fmt.Sprintf(`INSERT INTO items (feed, changed, id, key, hash, revision, first_seen, published, assumed, url, title, author,
				language, spam, lane, text_hash, event_id, story_id, duplicate_of, duplicate_by, excerpt, html, why)
			VALUES (1, now(), '%s', '%s', 'hash', 1, now(), now(), '', '', '', '', '', %t, '', '', '', '', '', '', '', '', '["because"]')
			ON CONFLICT (id) DO UPDATE SET spam = excluded.spam, why = excluded.why, changed = now()`, item.ID, item.Key, spam))
	}
	insert(0, true)
	insert(1, false)
	s := open(t, url)
	want := func(want ...int) {
		t.Helper()
		page, _, err := s.ListSpam(ctx, storage.SpamQuery{}, storage.SpamItem{}, 10)
		if err != nil || len(page) != len(want) {
			t.Fatalf("%d items are spam, %v; want %d", len(page), err, len(want))
		}
		for i, n := range want {
			if got := page[i]; got.ID != benchItem(feedID, n).ID || !got.Judged.Equal(got.Changed) || len(got.Reasons) != 1 {
				t.Errorf("position %d: got %+v, judged at %v; want item %d", i, got.Item, got.Judged, n)
			}
		}
		if kept := scan[int](t, url, `SELECT count(*) FROM spam WHERE reasons = '["because"]' AND score = 0`); kept != len(want) {
			t.Errorf("got %d rows with reasons, want %d", kept, len(want))
		}
	}
	want(0)
	insert(1, true)
	insert(2, true)
	want(2, 1, 0)
	insert(1, false)
	exec(t, url, fmt.Sprintf(`DELETE FROM items WHERE id = '%s'`, benchItem(feedID, 0).ID))
	want(2)
}

func addFeed(t testing.TB, s *Store) string {
	t.Helper()
	feed := storage.Feed{ID: storage.FeedID(benchURL(0)), URL: benchURL(0)}
	if _, err := s.AddFeeds(t.Context(), feed); err != nil {
		t.Fatal(err)
	}
	return feed.ID
}

// pollUntilDone waits until ok is true.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatalf("timeout waiting for %s", what)
		}
	}
}
