package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/storagetest"
	"feedmesh/tests/engines"
)

// server is shared by all tests that do not stop it. It is nil if PostgreSQL is not installed, and in short
// tests; absent contains the reason.
var (
	server *engines.Postgres
	absent error
)

func TestMain(m *testing.M) { os.Exit(testAll(m)) }

func testAll(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		absent = errors.New("skipped by -short")
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "feedmesh-postgres-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// The exit of the test program leaves no resources behind.
	server, err = engines.StartPostgres(dir, "fsync=off")
	switch {
	case errors.Is(err, os.ErrNotExist):
		absent = err
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	default:
		defer server.Stop(syscall.SIGQUIT, time.Minute)
	}
	return m.Run()
}

// databases counts the created databases.
var databases atomic.Int64

// emptyDatabase returns the URL of a new database on the server.
func emptyDatabase(t testing.TB, on *engines.Postgres) string {
	t.Helper()
	if on == nil {
		t.Skipf("NOT TESTED on PostgreSQL: %v", absent)
	}
	url, err := on.Create(fmt.Sprintf("test%d", databases.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// shared is a database with one schema per store, because creating a database takes longer than most tests.
var shared = sync.OnceValues(func() (string, error) { return server.Create("shared") })

// emptySchema returns a URL with an empty schema.
func emptySchema(t testing.TB) string {
	t.Helper()
	if server == nil {
		t.Skipf("NOT TESTED on PostgreSQL: %v", absent)
	}
	url, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test%d", databases.Add(1))
	exec(t, url, `CREATE SCHEMA `+name)
	return url + "&search_path=" + name
}

// open opens the store at url, and closes it with the test.
func open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// emptiedStore is a store that Close empties, for the next test: a new schema and new connections take several
// times as long as most tests.
type emptiedStore struct{ *Store }

func (s emptiedStore) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := s.pool.Exec(ctx, `
		DO $$ BEGIN
			EXECUTE (SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY' FROM pg_tables
				WHERE schemaname = current_schema() AND tablename NOT IN ('store', 'feedmesh_steps'));
		END $$`)
	return err
}

func TestStore(t *testing.T) {
	s := emptiedStore{open(t, emptySchema(t))}
	storagetest.TestStore(t, func(t *testing.T) storage.Store { return s })
}
