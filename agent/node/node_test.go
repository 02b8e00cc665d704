package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/agent/simulate"
	"feedmesh/config"
	"feedmesh/storage/bleve"
	"feedmesh/subjects"
)

// settings returns those of a node with its own folder and port.
func settings(dir string) config.Config {
	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Schedule.HostSpacing = 0 // all feeds of the tests are on one host
	return c
}

// A log keeps what a node logs.
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

// A running node.
type running struct {
	*api.Client // of the node's api, if it has that role
	t           *testing.T
	log         *log
	stop        func() // and wait until it has
}

// start runs a node until the test ends or stop is called.
func start(t *testing.T, c config.Config) *running {
	t.Helper()
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
			t.Errorf("the node ended with: %v", err)
		}
	})
	select {
	case addr := <-ready:
		if addr != "" {
			var err error
			if r.Client, err = api.NewClient("http://"+addr, ""); err != nil {
				t.Fatal(err)
			}
		}
	case err := <-done:
		cancel()
		t.Fatalf("the node did not start: %v", err)
	}
	t.Cleanup(r.stop)
	return r
}

// refused runs a node that must not start, and returns why.
func refused(t *testing.T, c config.Config) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := Run(ctx, c, Options{Version: "test", Log: slog.New(slog.DiscardHandler), Ready: func(string) {
		t.Error("the node runs, want it refused")
		cancel()
	}})
	if err == nil {
		return ""
	}
	return err.Error()
}

// eventually waits for a state, at most 30 seconds.
func eventually(t *testing.T, what string, state func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if state() {
			return
		}
	}
	t.Fatalf("not within 30 s: %s", what)
}

// settled waits until all feeds are polled, what they have can be found, and
// nothing waits anywhere.
func (r *running) settled(items int64) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d items stored and searchable, nothing waits", items), func() bool {
		s, err := r.Status(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, q := range s.Queues {
			if q.Tasks > 0 && q.Queue != subjects.QuarantineStream {
				return false
			}
		}
		return s.Items == items && s.Indexed == items && s.Feeds.Out == 0 && s.Feeds.Polled == s.Feeds.Known
	})
}

// finds fails unless a search for the mark of each entry finds it.
func (r *running) finds(feeds, entries int) {
	r.t.Helper()
	for i := range feeds {
		for seq := range entries {
			found, err := r.Search(r.t.Context(), api.Search{Query: simulate.Mark(i, seq)})
			if err != nil || found.Total != 1 {
				r.t.Errorf("got %d items, %v for the mark of entry %d of feed %d, want 1", found.Total, err, seq, i)
			}
		}
	}
}

const (
	farmFeeds   = 12
	farmEntries = 5
	farmItems   = farmFeeds * farmEntries
)

// farm serves feeds and returns a data folder of a node that has read them.
func farm(t *testing.T) (*simulate.Farm, config.Config) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds with a whole node")
	}
	f := simulate.NewFarm(farmFeeds, farmEntries, time.Now().Add(-time.Hour))
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	c := settings(filepath.Join(t.TempDir(), "data"))
	r := start(t, c)
	r.add(web.URL)
	r.settled(farmItems)
	r.stop()
	return f, c
}

func (r *running) add(web string) {
	r.t.Helper()
	var urls []string
	for i := range farmFeeds {
		urls = append(urls, fmt.Sprintf("%s/feed/%d", web, i))
	}
	if in, err := r.AddFeeds(r.t.Context(), urls, nil); err != nil || in.Added != farmFeeds {
		r.t.Fatalf("got %+v, %v; want all feeds added", in, err)
	}
}

// Not parallel, so that it can count goroutines.
func TestNothingIsLeftAfterANodeHasRun(t *testing.T) {
	before := runtime.NumGoroutine()
	c := settings(filepath.Join(t.TempDir(), "data"))
	for range 2 { // the second time finds all files and ports free
		r := start(t, c)
		ready, err := r.Ready(t.Context())
		if err != nil || len(ready.Checks) != 5 {
			t.Errorf("got %+v, %v; want five checks", ready, err)
		}
		for _, check := range ready.Checks {
			if !check.OK {
				t.Errorf("got %+v, want it well", check)
			}
		}
		r.stop()
		if l, err := net.Listen("tcp", strings.TrimPrefix(r.Address(), "http://")); err != nil {
			t.Errorf("got %v, want the port free", err)
		} else {
			l.Close()
		}
	}
	defer func() {
		if t.Failed() {
			stacks := make([]byte, 1<<20)
			t.Logf("what runs:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}()
	eventually(t, fmt.Sprintf("no more than the %d goroutines from before", before), func() bool {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return runtime.NumGoroutine() <= before
	})
}

func TestAPortInUseIsSaidBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Listen = l.Addr().String()
	if got := refused(t, c); !strings.HasPrefix(got, c.Listen+" is in use") || !strings.Contains(got, "--listen") {
		t.Errorf("got %q, want that the port is in use and what to do", got)
	}
	if _, err := os.Stat(c.Data); !os.IsNotExist(err) {
		t.Errorf("got %v, want no data folder made", err)
	}
	c.Listen = "127.0.0.1:http-or-so"
	if got := refused(t, c); !strings.Contains(got, "can't listen") || !strings.Contains(got, "--listen") {
		t.Errorf("got %q, want that it can't listen there and what to do", got)
	}
}

func TestAnUnknownRoleIsRefused(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Roles = []string{"crawl", "craw"}
	if got := refused(t, c); !strings.Contains(got, `there is no role "craw"; there are schedule, crawl`) {
		t.Errorf("got %q, want which roles there are", got)
	}
	if _, err := os.Stat(c.Data); !os.IsNotExist(err) {
		t.Errorf("got %v, want no data folder made", err)
	}
}

func TestAMeshThatIsNotThereIsSaidInWords(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Roles, c.NATS = []string{"crawl"}, []config.Address{config.Address("nats://" + l.Addr().String())}
	if got := refused(t, c); !strings.Contains(got, "can't reach the NATS server of --nats") {
		t.Errorf("got %q, want that the server can't be reached", got)
	}
}

// natsServer starts a server that others can connect to, with JetStream or
// without.
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

func TestAServerWithoutJetStreamIsSaidInWords(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Roles, c.NATS = []string{"crawl"}, []config.Address{natsServer(t, false)}
	if got := refused(t, c); !strings.Contains(got, "has no JetStream: enable it there") {
		t.Errorf("got %q, want that JetStream must be enabled", got)
	}
}

func TestAMemberThatOnlyCrawlsNeedsNoFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds with two nodes")
	}
	t.Parallel()
	url := natsServer(t, true)
	web := httptest.NewServer(simulate.NewFarm(farmFeeds, farmEntries, time.Now().Add(-time.Hour)))
	defer web.Close()
	crawls := settings(filepath.Join(t.TempDir(), "never"))
	crawls.Roles, crawls.NATS = []string{"crawl"}, []config.Address{url}
	edge := start(t, crawls)

	rest := settings(filepath.Join(t.TempDir(), "data"))
	rest.NATS = []config.Address{url}
	rest.Roles = slices.DeleteFunc(role.Names(role.All), func(name string) bool { return name == "crawl" })
	center := start(t, rest)
	center.add(web.URL)
	center.settled(farmItems)
	s, err := center.Status(t.Context())
	if err != nil || len(s.Agents) != 2 {
		t.Errorf("got agents %+v, %v; want two", s.Agents, err)
	}
	edge.stop()
	if _, err := os.Stat(crawls.Data); !os.IsNotExist(err) {
		t.Errorf("got %v, want no data folder made", err)
	}
	if _, err := os.Stat(filepath.Join(rest.Data, "nats")); !os.IsNotExist(err) {
		t.Errorf("got %v, want no NATS server of its own", err)
	}
}

// When all of NATS's files are lost, everything is polled again, nothing is
// doubled, and what was published meanwhile comes in.
func TestTheNATSFolderCanBeLost(t *testing.T) {
	t.Parallel()
	f, c := farm(t)
	if err := os.RemoveAll(filepath.Join(c.Data, "nats")); err != nil {
		t.Fatal(err)
	}
	polls, full := f.Count()
	f.Publish()
	r := start(t, c)
	r.settled(farmItems + farmFeeds)
	r.finds(2, farmEntries+1)
	if p, d := f.Count(); p-polls != farmFeeds || d-full != farmFeeds {
		t.Errorf("got %d polls and %d documents, want each of %d feeds polled once, without validators", p-polls, d-full, farmFeeds)
	}
}

// forget takes n items out of the index at path.
func forget(t *testing.T, path string, n int) error {
	t.Helper()
	x, err := bleve.Open(path)
	if err != nil {
		return err
	}
	days, err := x.Days(t.Context())
	for day := range days {
		stamps, fault := x.Stamps(t.Context(), day, "", n)
		err = errors.Join(err, fault)
		n -= len(stamps)
		for _, s := range stamps {
			err = errors.Join(err, x.Delete(t.Context(), s.ID))
		}
	}
	return errors.Join(err, x.Close())
}

func TestAnIndexThatIsLostOrBrokenIsMadeAnewFromTheStore(t *testing.T) {
	t.Parallel()
	f, c := farm(t)
	polls, _ := f.Count()
	index := filepath.Join(c.Data, "index")
	for _, test := range []struct {
		name  string
		spoil func() error
		aside int    // broken indexes kept, in all
		told  string // by its log
	}{
		{"lost", func() error { return os.RemoveAll(index) }, 0, "made anew from the store"},
		{"broken", func() error { return os.WriteFile(filepath.Join(index, "index_meta.json"), []byte("rubbish"), 0o600) }, 1, "made anew from the store"},
		{"short of some items", func() error { return forget(t, index, 10) }, 1, "missing=10"},
	} {
		if err := test.spoil(); err != nil {
			t.Fatal(err)
		}
		r := start(t, c)
		r.settled(farmItems)
		r.finds(2, farmEntries)
		r.stop()
		if !strings.Contains(r.log.String(), test.told) {
			t.Errorf("%s: got log %s, want it told", test.name, r.log)
		}
		aside, err := filepath.Glob(index + ".broken-*")
		if err != nil || len(aside) != test.aside {
			t.Errorf("%s: got %v, %v put aside, want %d", test.name, aside, err, test.aside)
		}
	}
	// A node that is stopped while it fills the index goes on when it is started.
	if err := os.RemoveAll(index); err != nil {
		t.Fatal(err)
	}
	start(t, c).stop()
	r := start(t, c)
	r.settled(farmItems)
	r.stop()
	if p, _ := f.Count(); p != polls {
		t.Errorf("got %d polls more, want none: the feeds are not due", p-polls)
	}
}
