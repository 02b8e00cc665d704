package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"feedmesh/storage"
	"feedmesh/tests/engines"
)

// A writer stores one batch after the other in its own feed, and retries each until it succeeds.
type writer struct {
	store    *Store
	feedID   string
	answers  atomic.Int64 // batches that the store has answered for
	rejected atomic.Int64
}

const batchSize = 20

func (w *writer) write(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		n := int(w.answers.Load())
		_, err := w.store.PutItems(ctx, benchBatch(w.feedID, n*batchSize, batchSize))
		switch {
		case err == nil:
			w.answers.Add(1)
		case ctx.Err() != nil:
		case errors.Is(err, storage.ErrUnavailable):
			w.rejected.Add(1)
			time.Sleep(10 * time.Millisecond)
		default:
			t.Errorf("put: %v, want %v", err, storage.ErrUnavailable)
			return
		}
	}
}

// writing runs four writers during disturb, and then checks that all confirmed batches are stored completely
// and once.
func writing(t *testing.T, s *Store, disturb func(progress func())) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	writers := make([]*writer, 4)
	for i := range writers {
		w := &writer{store: s, feedID: storage.FeedID(benchURL(i))}
		writers[i] = w
		if _, err := s.AddFeeds(ctx, storage.Feed{ID: w.feedID, URL: benchURL(i)}); err != nil {
			t.Fatal(err)
		}
		all.Go(func() { w.write(ctx, t) })
	}
	disturb(func() {
		t.Helper()
		for _, w := range writers {
			before := w.answers.Load()
			waitFor(t, "the writers to get on", func() bool { return w.answers.Load() > before+3 })
		}
	})
	stop()
	all.Wait()
	var total, rejected int64
	for _, w := range writers {
		rejected += w.rejected.Load()
		n := w.answers.Load()
		total += wantBatches(t, s, w.feedID, n)
	}
	t.Logf("%d batches, %d calls refused", total/batchSize, rejected)
	if rejected == 0 {
		t.Error("no call failed")
	}
	wantCounted(t, s)
}

// wantCounted fails unless the feeds' item counts reach the number of stored items. A write whose connection
// was killed may still be committed after its error.
func wantCounted(t *testing.T, s *Store) {
	t.Helper()
	var more int64
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		counted, err := s.CountFeeds(t.Context(), storage.FeedQuery{})
		if err != nil {
			t.Fatal(err)
		}
		days, err := s.Days(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		more = counted.Items
		for _, n := range days {
			more -= n
		}
		if more == 0 {
			return
		}
	}
	t.Errorf("the feeds count %d items more than there are", more)
}

// wantBatches fails unless the feed contains its first n batches, and at most one more, which was in progress
// at the end. It returns the number of items.
func wantBatches(t *testing.T, s *Store, feedID string, n int64) int64 {
	t.Helper()
	feed, err := s.Feed(t.Context(), feedID)
	if err != nil {
		t.Fatal(err)
	}
	if feed.Items != n*batchSize && feed.Items != (n+1)*batchSize {
		t.Errorf("the feed has %d items, want those of %d batches of %d, or one more", feed.Items, n, batchSize)
	}
	var keys []string
	for i := range int(n) * batchSize {
		keys = append(keys, benchKey(i))
	}
	if hashes, err := s.ItemHashes(t.Context(), feedID, keys); err != nil || len(hashes) != len(keys) {
		t.Errorf("%d items are stored, %v; want %d", len(hashes), err, len(keys))
	}
	return feed.Items
}

func TestUnavailable_ServerRestartLosesNothing(t *testing.T) {
	if server == nil {
		t.Skipf("NOT TESTED on PostgreSQL: %v", absent)
	}
	p := engines.NewPostgres(t)
	s := open(t, emptyDatabase(t, p))
	writing(t, s, func(progress func()) {
		progress()
		for _, how := range []func(){
			func() { p.Stop(syscall.SIGQUIT, time.Minute) }, // immediate
			func() { p.Stop(syscall.SIGINT, time.Minute) },  // fast
			p.Kill,
		} {
			how()
			if _, err := s.ID(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("while the server is down, Ping returns %v, want %v", err, storage.ErrUnavailable)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			progress()
		}
	})
}

func TestUnavailable_KilledConnectionsAreReplaced(t *testing.T) {
	s := open(t, emptyDatabase(t, server))
	name := s.pool.Config().ConnConfig.Database
	writing(t, s, func(progress func()) {
		for range 5 {
			progress()
			err := server.Exec(fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'`, name))
			if err != nil {
				t.Error(err)
			}
		}
		progress()
	})
}

func TestUnavailable_ReadOnlyServer(t *testing.T) {
	url := emptyDatabase(t, server)
	s := open(t, url)
	feedID := addFeed(t, s)
	set := func(to string) {
		t.Helper()
		if err := server.Exec(fmt.Sprintf(`ALTER DATABASE %s SET default_transaction_read_only = %s`, s.pool.Config().ConnConfig.Database, to)); err != nil {
			t.Fatal(err)
		}
		s.pool.Reset() // it is so from the next connection on
	}
	set("on")
	for range 2 {
		if _, err := s.PutItems(t.Context(), benchBatch(feedID, 0, 1)); !errors.Is(err, storage.ErrUnavailable) || !readOnly(err) {
			t.Errorf("put: %v, want %v and its cause", err, storage.ErrUnavailable)
		}
		if _, err := s.Feed(t.Context(), feedID); err != nil {
			t.Errorf("read: %v", err)
		}
	}
	before := s.pool.Stat().NewConnsCount()
	if _, err := s.PutItems(t.Context(), benchBatch(feedID, 0, 1)); err == nil {
		t.Error("it was put")
	}
	if _, err := s.ID(t.Context()); err != nil || s.pool.Stat().NewConnsCount() == before {
		t.Errorf("got the same connections after a rejected write, %v; want new connections, which may reach another server", err)
	}
	set("off")
	if _, err := s.PutItems(t.Context(), benchBatch(feedID, 0, 1)); err != nil {
		t.Errorf("put to a server that can write again: %v", err)
	}
}

func TestUnavailable_TooManyConnections(t *testing.T) {
	url := emptyDatabase(t, server)
	open(t, url).Close()
	if err := server.Exec(`ALTER DATABASE ` + fmt.Sprintf("test%d", databases.Load()) + ` CONNECTION LIMIT 1`); err != nil {
		t.Fatal(err)
	}
	connect(t, url)
	if _, err := Open(t.Context(), url); !errors.Is(err, storage.ErrUnavailable) || code(err) != "53300" {
		t.Errorf("open: %v, want %v and its cause", err, storage.ErrUnavailable)
	}
}

func TestUnavailable_SilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Open(t.Context(), fmt.Sprintf("postgres://u:secret@%s/db?sslmode=disable&connect_timeout=1", l.Addr()))
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("open: %v, want %v", err, storage.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, fmt.Sprintf("postgres://u:secret@%s/db?sslmode=disable", l.Addr()))
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("open with little time: %v, want %v alone", err, context.DeadlineExceeded)
	}
}

func TestUnavailable_ErrorCodes(t *testing.T) {
	for state, want := range map[string]bool{
		"08006": true, "53100": true, "53300": true, "57P01": true, "57P02": true, "57P03": true, "57014": true,
		"25006": true, "25P03": true, "40001": true, "40P01": true, "55P03": true, "58030": true,
		"22021": false, "23505": false, "42P01": false, "42501": false, "XX000": false, "25P02": false,
	} {
		err := wrap(t.Context(), "put items", &pgconn.PgError{Code: state})
		if errors.Is(err, storage.ErrUnavailable) != want || code(err) != state {
			t.Errorf("%s: the error is %v; want it unavailable: %v, and its cause", state, err, want)
		}
	}
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, pgconn.ErrConnClosed} {
		if err := wrap(t.Context(), "put items", fmt.Errorf("write: %w", cause)); !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, cause) {
			t.Errorf("%v: the error is %v; want it unavailable, and its cause", cause, err)
		}
	}
}
