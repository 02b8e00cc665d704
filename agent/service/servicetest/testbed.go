// Package servicetest makes services for the tests of their clients: [New] returns a service over SQLite and Bleve
// in temporary folders, and a [Mesh] that records what is published. Only tests import it.
package servicetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/role/parse/feed/compare"
	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// A Testbed is a service and its parts. Parts may be replaced in the fields of Service.
type Testbed struct {
	*service.Service
	Mesh   *Mesh
	Store  storage.Store
	Index  storage.Index
	Checks []wire.Check // health of the dependencies
}

// New returns a testbed without feeds, whose rule sets are [Lines] and [Labels]. change may replace the service's
// dependencies, but not the fields of the testbed.
func New(t testing.TB, now func() time.Time, change ...func(*service.Deps)) *Testbed {
	t.Helper()
	b := &Testbed{
		Mesh: newMesh(now()), Store: enginetest.Store(t), Index: enginetest.Index(t),
		Checks: []wire.Check{{Name: "store", OK: true}, {Name: "mesh", OK: true}},
	}
	d := service.Deps{
		Store: b.Store, Index: b.Index, Mesh: b.Mesh, Version: "test", Now: now, Fetcher: localFetcher{fetch.New(fetch.Options{
			UserAgent: "test", Timeout: 5 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 4,
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		})},
		PublicFetcher: localFetcher{fetch.New(fetch.Options{UserAgent: "test", Timeout: 5 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 4})},
		Checks:        func(context.Context) []wire.Check { return b.Checks },
		RuleSetSpecs:  []service.RuleSetSpec{Lines(), Labels()},
		Decider:       func() workbench.Decider { return decider{} },
		Log:           slog.New(slog.DiscardHandler),
	}
	var err error
	if d.Channels, err = deliver.Channels(config.Mail{}, "", http.DefaultTransport, b.Mesh, now); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&d)
	}
	b.Service = service.New(d)
	t.Cleanup(b.Close)
	return b
}

// A localFetcher fetches from this machine. Names of hosts are not looked up: they do not exist.
type localFetcher struct{ *fetch.Client }

// Fetch implements [service.Fetcher].
func (l localFetcher) Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error) {
	if u, err := url.Parse(r.URL); err == nil {
		if _, named := netip.ParseAddr(u.Hostname()); named != nil {
			return fetch.Document{}, &fetch.Error{Class: fetch.ClassDNS, Err: errors.New("no such host")}
		}
	}
	return l.Client.Fetch(ctx, r, now)
}

// AddFeeds stores feeds.
func (b *Testbed) AddFeeds(t testing.TB, feeds ...storage.Feed) {
	t.Helper()
	if _, err := b.Store.AddFeeds(t.Context(), feeds...); err != nil {
		t.Fatal(err)
	}
}

// PutItems stores items of a feed and returns them as stored. It sets an empty ID, Hash and FirstSeen.
func (b *Testbed) PutItems(t testing.TB, feedID string, items ...storage.Item) []storage.Item {
	t.Helper()
	ids := make([]string, len(items))
	for n := range items {
		i := &items[n]
		i.FeedID = feedID
		if i.ID == "" {
			i.ID = storage.ItemID(feedID, i.Key)
		}
		if i.Hash == "" {
			i.Hash = i.Key
		}
		if i.FirstSeen.IsZero() {
			i.FirstSeen = b.Now()
		}
		ids[n] = i.ID
	}
	_, err := b.Store.PutItems(t.Context(), storage.Batch{FeedID: feedID, Items: items})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := b.Store.Items(t.Context(), ids...)
	if err != nil || len(stored) != len(ids) {
		t.Fatalf("got %d of %d items, %v", len(stored), len(ids), err)
	}
	return stored
}

// IndexItems makes items searchable. Their HTML is their text.
func (b *Testbed) IndexItems(t testing.TB, items ...storage.Item) {
	t.Helper()
	indexed := make([]storage.IndexItem, len(items))
	for n, i := range items {
		indexed[n] = storage.IndexItem{Item: i, Text: i.HTML}
	}
	if err := b.Index.Put(t.Context(), indexed...); err != nil {
		t.Fatal(err)
	}
}

// Main runs the tests of a package that fetches feeds for comparison: the service starts the test program as the child
// that parses with gofeed.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == compare.WorkerCommand {
		if err := compare.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Start runs a function, such as that of jobs, until the test ends or stop is called. An error fails the test.
func Start(t testing.TB, what string, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil {
			t.Errorf("%s ended: %v", what, err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}
