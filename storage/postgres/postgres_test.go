package postgres

import (
	"errors"
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

// server is for all tests that let it live. It is nil where PostgreSQL is not
// installed, for the reason that absent gives.
var (
	server *engines.Postgres
	absent error
)

func TestMain(m *testing.M) { os.Exit(testAll(m)) }

func testAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "feedmesh-postgres-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// A test program that ends takes nothing with it that it would miss.
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

// databases counts those made so far.
var databases atomic.Int64

// emptyDatabase returns the address of a new database on the server.
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

// shared is a database for many stores, each in a schema of its own: a new
// database takes longer than most tests.
var shared = sync.OnceValues(func() (string, error) { return server.Create("shared") })

// emptySchema returns an address at which there is no store yet.
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

// open opens the store at url, which closes with the test.
func open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storagetest.TestStore(t, func(t *testing.T) storage.Store { return open(t, emptySchema(t)) })
}
