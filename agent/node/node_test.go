package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"feedmesh/agent/client"
	"feedmesh/agent/role"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage/bleve"
	"feedmesh/subjects"
)

// settings returns the configuration of a node with its own data folder and port.
func settings(dir string) config.Config {
	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = config.Networks("127.0.0.0/8")
	c.Schedule.HostSpacing = 0 // all feeds of the tests are on one host
	return c
}

// A log buffers the log of a node.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// running is a started node.
type running struct {
	*client.Client // client of its API; nil without role api
	t              *testing.T
	log            *log
	stop           func() // stops the node and waits for its end
}

// start runs a node until the test ends or stop is called. It skips short tests.
func start(t *testing.T, c config.Config) *running {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: runs a complete node for seconds")
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, log: &log{}}
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Run(ctx, c, Options{
			Version: "test", Log: slog.New(slog.NewTextHandler(r.log, nil)), Ready: func(addr string) { ready <- addr },
		})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("node stopped with error: %v", err)
		}
	})
	select {
	case addr := <-ready:
		if addr != "" {
			var err error
			if r.Client, err = client.NewClient("http://"+addr, ""); err != nil {
				t.Fatal(err)
			}
		}
	case err := <-done:
		cancel()
		t.Fatalf("start the node: %v", err)
	}
	t.Cleanup(r.stop)
	return r
}

// startError runs a node that must fail at startup, and returns the error text.
func startError(t *testing.T, c config.Config) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := Run(ctx, c, Options{Version: "test", Log: slog.New(slog.DiscardHandler), Ready: func(string) {
		t.Error("the node started, want an error")
		cancel()
	}})
	if err == nil {
		return ""
	}
	return err.Error()
}

// eventually polls until state returns true, for at most 2 minutes.
func eventually(t *testing.T, what string, state func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if state() {
			return
		}
	}
	t.Fatalf("timeout after 2 minutes: %s", what)
}

// waitIdle waits until all feeds are polled, all items are stored and indexed,
// and all queues are empty.
func (r *running) waitIdle(items int64) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d items stored and searchable, empty queues", items), func() bool {
		s, err := client.Call(r.t.Context(), r.Client, wire.GetStatus, wire.None{})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, q := range s.Queues {
			if q.Tasks > 0 && q.Queue != subjects.QuarantineStream {
				return false
			}
		}
		return s.Items == items && s.Indexed == items && s.Feeds.InFlight == 0 && s.Feeds.Polled == s.Feeds.Stored
	})
}

// checkSearch fails unless a search for the unique word of each entry finds it.
func (r *running) checkSearch(feeds, entries int) {
	r.t.Helper()
	for i := range feeds {
		for seq := range entries {
			found, err := client.Call(r.t.Context(), r.Client, wire.SearchItems, wire.Search{Query: simulate.UniqueWord(i, seq)})
			if err != nil || found.Total != 1 {
				r.t.Errorf("got %d items, %v for the unique word of entry %d of feed %d, want 1", found.Total, err, seq, i)
			}
		}
	}
}

const (
	testFeeds   = 12
	testEntries = 5
	testItems   = testFeeds * testEntries
)

// pipelineFixture serves feeds, and returns the configuration of a stopped node that has stored their entries.
func pipelineFixture(t *testing.T) (*simulate.FeedServer, config.Config) {
	t.Helper()
	f, c, r := runningFixture(t)
	r.stop()
	return f, c
}

// runningFixture serves feeds, and returns a node that has stored their entries.
func runningFixture(t *testing.T) (*simulate.FeedServer, config.Config, *running) {
	t.Helper()
	f := simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour))
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	c := settings(filepath.Join(t.TempDir(), "data"))
	r := start(t, c)
	r.add(web.URL)
	r.waitIdle(testItems)
	return f, c, r
}

func (r *running) add(web string) {
	r.t.Helper()
	var urls []string
	for i := range testFeeds {
		urls = append(urls, fmt.Sprintf("%s/feed/%d", web, i))
	}
	if in, err := client.Call(r.t.Context(), r.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}}); err != nil || in.Added != testFeeds {
		r.t.Fatalf("got %+v, %v; want all feeds added", in, err)
	}
}

// Not parallel, because it counts goroutines.
func TestRun_LeaksNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	c := settings(filepath.Join(t.TempDir(), "data"))
	for range 2 { // the second start needs the same files and port
		r := start(t, c)
		ready, err := r.Ready(t.Context())
		if err != nil || len(ready.Checks) != 8 {
			t.Errorf("got %+v, %v; want eight checks", ready, err)
		}
		for _, check := range ready.Checks {
			if !check.OK {
				t.Errorf("got %+v, want OK", check)
			}
		}
		r.stop()
		if l, err := net.Listen("tcp", strings.TrimPrefix(r.Address(), "http://")); err != nil {
			t.Errorf("listen on the port again: %v", err)
		} else {
			l.Close()
		}
	}
	defer func() {
		if t.Failed() {
			stacks := make([]byte, 1<<20)
			t.Logf("goroutines:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}()
	eventually(t, fmt.Sprintf("at most the initial %d goroutines", before), func() bool {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return runtime.NumGoroutine() <= before
	})
}

func TestRun_PortInUseFailsFirst(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Listen = l.Addr().String()
	if got := startError(t, c); !strings.HasPrefix(got, c.Listen+" is in use") || !strings.Contains(got, "--listen") {
		t.Errorf("got %q, want the port in use and the remedy", got)
	}
	if _, err := os.Stat(c.Data); !os.IsNotExist(err) {
		t.Errorf("stat of the data folder: got %v, want that it does not exist", err)
	}
	c.Listen = "127.0.0.1:http-or-so"
	if got := startError(t, c); !strings.Contains(got, "listen on ") || !strings.Contains(got, "--listen") {
		t.Errorf("got %q, want the failed listen and the remedy", got)
	}
}

func TestRun_UnknownRole(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Roles = []string{"crawl", "craw"}
	if got := startError(t, c); !strings.Contains(got, `unknown role "craw"; available: schedule, crawl`) {
		t.Errorf("got %q, want the available roles", got)
	}
	if _, err := os.Stat(c.Data); !os.IsNotExist(err) {
		t.Errorf("stat of the data folder: got %v, want that it does not exist", err)
	}
}

// natsServer starts a NATS server with or without JetStream, and returns its
// address.
func natsServer(t *testing.T, jetStream bool) config.Address {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, JetStream: jetStream, StoreDir: t.TempDir(), MaxPayload: subjects.MaxMessage,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return config.Address(s.ClientURL())
}

func TestRun_NATSWithoutJetStream(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Roles, c.NATS = []string{"crawl"}, []config.Address{natsServer(t, false)}
	if got := startError(t, c); !strings.Contains(got, "has no JetStream: enable it there") {
		t.Errorf("got %q, want the missing JetStream and the remedy", got)
	}
}

func TestRun_CrawlOnlyNeedsNoDataFolder(t *testing.T) {
	t.Parallel()
	url := natsServer(t, true)
	web := httptest.NewServer(simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour)))
	defer web.Close()
	crawls := settings(filepath.Join(t.TempDir(), "never"))
	crawls.Roles, crawls.NATS = []string{"crawl"}, []config.Address{url}
	edge := start(t, crawls)

	others := settings(filepath.Join(t.TempDir(), "data"))
	others.NATS = []config.Address{url}
	others.Roles = slices.DeleteFunc(role.Names(role.All), func(name string) bool { return name == "crawl" })
	center := start(t, others)
	center.add(web.URL)
	center.waitIdle(testItems)
	s, err := client.Call(t.Context(), center.Client, wire.GetStatus, wire.None{})
	if err != nil || len(s.Agents) != 2 {
		t.Errorf("got agents %+v, %v; want two", s.Agents, err)
	}
	edge.stop()
	if _, err := os.Stat(crawls.Data); !os.IsNotExist(err) {
		t.Errorf("stat of the data folder: got %v, want that it does not exist", err)
	}
	if _, err := os.Stat(filepath.Join(others.Data, "nats")); !os.IsNotExist(err) {
		t.Errorf("stat of the NATS folder: got %v, want that it does not exist", err)
	}
}

// After the loss of all NATS files all feeds are polled again, no item is stored
// twice, and new entries are stored.
func TestRun_LostNATSFolder(t *testing.T) {
	t.Parallel()
	f, c := pipelineFixture(t)
	if err := os.RemoveAll(filepath.Join(c.Data, "nats")); err != nil {
		t.Fatal(err)
	}
	polls, full := f.Count()
	f.Publish()
	r := start(t, c)
	r.waitIdle(testItems + testFeeds)
	r.checkSearch(2, testEntries+1)
	if p, d := f.Count(); p-polls != testFeeds || d-full != testFeeds {
		t.Errorf("got %d polls and %d documents, want one unconditional poll of each of %d feeds", p-polls, d-full, testFeeds)
	}
}

// deleteFromIndex deletes n items from the index at path.
func deleteFromIndex(t *testing.T, path string, n int) error {
	t.Helper()
	x, err := bleve.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	days, err := x.Days(t.Context())
	for day := range days {
		stamps, stampsErr := x.Stamps(t.Context(), day, "", n)
		err = errors.Join(err, stampsErr)
		n -= len(stamps)
		for _, s := range stamps {
			err = errors.Join(err, x.Delete(t.Context(), s.ID))
		}
	}
	return errors.Join(err, x.Close())
}

func TestRun_RebuildsIndexFromStore(t *testing.T) {
	t.Parallel()
	f, c := pipelineFixture(t)
	polls, _ := f.Count()
	index := filepath.Join(c.Data, "index")
	for _, test := range []struct {
		name    string
		damage  func() error
		aside   int // total number of damaged indexes moved aside
		wantLog string
	}{
		{"lost", func() error { return os.RemoveAll(index) }, 0, "index lost, rebuild started"},
		{"broken", func() error { return os.WriteFile(filepath.Join(index, "index_meta.json"), []byte("rubbish"), 0o600) }, 1, "index lost, rebuild started"},
		{"damaged", func() error {
			segments, err := filepath.Glob(filepath.Join(index, "store", "*.zap"))
			for _, segment := range segments {
				flipBit(t, segment, -200)
			}
			return err
		}, 1, "index lost, rebuild started"},
		{"short of some items", func() error { return deleteFromIndex(t, index, 10) }, 1, "missing=10"},
	} {
		if err := test.damage(); err != nil {
			t.Fatal(err)
		}
		r := start(t, c)
		r.waitIdle(testItems)
		r.checkSearch(2, testEntries)
		r.stop()
		if !strings.Contains(r.log.String(), test.wantLog) {
			t.Errorf("%s: got log %s, want %q", test.name, r.log, test.wantLog)
		}
		aside, err := filepath.Glob(index + ".broken-*")
		if err != nil || len(aside) != test.aside {
			t.Errorf("%s: got %v, %v moved aside, want %d", test.name, aside, err, test.aside)
		}
	}
	// A node that is stopped during the rebuild continues it after the next start.
	if err := os.RemoveAll(index); err != nil {
		t.Fatal(err)
	}
	start(t, c).stop()
	r := start(t, c)
	r.waitIdle(testItems)
	r.stop()
	if p, _ := f.Count(); p != polls {
		t.Errorf("got %d additional polls, want none: no feed is due", p-polls)
	}
}

// Only the user of the process may read what it stores: the passwords of feeds are in it.
func TestRun_FilesAreHidden(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	old := filepath.Join(c.Data, "nats", "old") // of an older version
	if err := errors.Join(os.MkdirAll(filepath.Dir(old), 0o755), os.WriteFile(old, nil, 0o644), os.Chmod(old, 0o664), os.Chmod(c.Data, 0o755)); err != nil {
		t.Fatal(err)
	}
	r := start(t, c)
	web := httptest.NewServer(simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour)))
	defer web.Close()
	r.add(web.URL)
	r.waitIdle(testItems)
	files := 0
	err := filepath.WalkDir(c.Data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, want none for others", path, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 10 {
		t.Errorf("got %d files, %v; want those of all engines", files, err)
	}
}
