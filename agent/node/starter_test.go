package node

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/opml"
	"feedmesh/agent/role"
	"feedmesh/agent/role/work"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

func TestStarter_ListIsValid(t *testing.T) {
	feeds, err := opml.Read(bytes.NewReader(starter))
	if err != nil {
		t.Fatal(err)
	}
	if len(feeds) < 35 || len(feeds) > 45 {
		t.Errorf("got %d feeds, want about 40", len(feeds))
	}
	seen := map[string]bool{}
	for _, f := range feeds {
		canonical, err := storage.CanonicalURL(f.URL)
		if err != nil || !strings.HasPrefix(canonical, "https://") || seen[canonical] {
			t.Errorf("got %s, %v; want each https address once", f.URL, err)
		}
		seen[canonical] = true
		if site, err := url.Parse(f.Site); err != nil || site.Scheme != "https" || site.Host == "" || f.Title == "" || len(f.Tags) == 0 {
			t.Errorf("got %+v, want a site, a title and a folder", f)
		}
	}
}

func TestImportStarter_EmptyStoreOnly(t *testing.T) {
	for _, test := range []struct {
		name    string
		starter bool
		feeds   []storage.Feed
		want    func(feeds int64) bool
	}{
		{"disabled", false, nil, func(n int64) bool { return n == 0 }},
		{"store with a feed", true, []storage.Feed{{ID: "f", URL: "http://f.example/", Added: time.Now()}}, func(n int64) bool { return n == 1 }},
	} {
		store := enginetest.Store(t)
		if _, err := store.AddFeeds(t.Context(), test.feeds...); err != nil {
			t.Fatal(err)
		}
		c := settings(t.TempDir())
		c.Starter = test.starter
		p := &process{config: c, options: Options{Log: slog.New(slog.DiscardHandler)}}
		if err := importStarter(t.Context(), p, &role.Env{Env: &work.Env{Store: store}}); err != nil {
			t.Fatal(err)
		}
		if counts, err := store.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || !test.want(counts.Feeds) {
			t.Errorf("%s: got %d feeds, %v", test.name, counts.Feeds, err)
		}
	}
}

func TestRun_FirstStartImportsStarter(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.Starter, c.Roles = true, []string{"store", "api"} // without crawl: tests use no external network
	for range 2 {
		r := start(t, c)
		s, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		if err != nil || s.Feeds.Stored < 35 {
			t.Errorf("got %d feeds, %v; want the starter list", s.Feeds.Stored, err)
		}
		r.stop()
	}
}
