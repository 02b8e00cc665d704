package node

import (
	"bytes"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// filesWith returns the files of a folder that contain a text.
func filesWith(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A closedFeed requires a password and a key, and counts requests without them.
type closedFeed struct{ open, closed atomic.Int64 }

func (f *closedFeed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	if password != "the-feed-password" || r.Header.Get("X-Key") != "the-feed-header" {
		f.closed.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	f.open.Add(1)
	w.Write([]byte(`<rss version="2.0"><channel><title>Closed</title><item><title>One</title><guid>1</guid></item></channel></rss>`))
}

// passwordCheck returns the detail of the failing check of passwords; empty: it is fine.
func (r *running) passwordCheck() string {
	r.t.Helper()
	ready, err := r.Ready(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range ready.Checks {
		if c.Name == "passwords" && !c.OK {
			return c.Detail
		}
	}
	return ""
}

// The passwords of a feed and a proxy are in no file of the store, the queues and the schedule, and in no backup, also
// those that an older version stored. Without the key the feed is not requested, and readiness and the feed report it.
func TestSecrets_SealedInAllFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: runs a node several times")
	}
	ctx := t.Context()
	var feed closedFeed
	web := httptest.NewServer(&feed)
	t.Cleanup(web.Close)
	dir := t.TempDir()
	c := settings(filepath.Join(dir, "data"))
	c.Schedule.Interval = time.Second
	secrets := []string{"the-feed-password", "the-feed-header", "the-proxy-password", "the-old-password", "the-old-header", "the-older-proxy"}
	checkFiles := func() {
		t.Helper()
		for _, text := range secrets {
			if names := filesWith(t, dir, text); len(names) > 0 {
				t.Errorf("%s is in %v", text, names)
			}
		}
	}
	address, err := storage.CanonicalURL(web.URL + "/feed")
	if err != nil {
		t.Fatal(err)
	}
	id := storage.FeedID(address)

	// A store of an older version.
	if err := os.Mkdir(c.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(ctx, filepath.Join(c.Data, "store.db"))
	if err == nil {
		_, err = store.AddFeeds(ctx, storage.Feed{ID: id, URL: address, Added: time.Now(), Request: &storage.Request{
			User: "me", Password: "the-old-password", Header: map[string]string{"X-Key": "the-old-header"}, Proxy: "direct",
		}})
	}
	if err == nil {
		err = storage.Proxies(store).Put(ctx, storage.Proxy{ID: "old", URL: "http://me:the-older-proxy@127.0.0.1:1", Hosts: []string{"other.example"}, Added: time.Now()})
	}
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, c)
	eventually(t, "the feed is requested with the old password", func() bool { return feed.closed.Load() > 0 })
	r.stop()
	checkFiles()

	r = start(t, c)
	password := "the-feed-password"
	if _, err := client.Call(ctx, r.Client, wire.SetFeed, wire.SetFeedRequest{ID: id, Body: wire.FeedChange{Password: &password, Headers: map[string]string{"X-Key": "the-feed-header"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call(ctx, r.Client, wire.SetProxy, wire.SetProxyRequest{ID: "eu", Body: wire.ProxySetting{URL: "http://me:the-proxy-password@127.0.0.1:1", Hosts: []string{"other.example"}}}); err != nil {
		t.Fatal(err)
	}
	r.waitIdle(1)
	if test, err := client.Call(ctx, r.Client, wire.TestFetch, wire.TestFetchRequest{Body: wire.FetchTestRequest{Feed: id}}); err != nil || test.Entries != 1 {
		t.Errorf("test fetch: got %+v, %v", test, err)
	}
	r.backupTo(filepath.Join(dir, "backup.db"))
	if text := r.passwordCheck(); text != "" {
		t.Errorf("readiness: %s", text)
	}
	r.stop()
	checkFiles()
	if len(filesWith(t, dir, "sealed:1:")) < 2 {
		t.Error("no file contains sealed values: the search is wrong")
	}

	// The key is lost.
	key := filepath.Join(c.Data, "secret.key")
	checkMissing := func(name string, c config.Config) {
		t.Helper()
		open, closed := feed.open.Load(), feed.closed.Load()
		r := start(t, c)
		eventually(t, name+": the feed says that its password can't be opened", func() bool {
			f, err := client.Call(ctx, r.Client, wire.GetFeed, wire.ByID{ID: id})
			return err == nil && f.State != nil && f.State.Class == "secret" && strings.Contains(f.State.Error, "secret.key") && f.Problem != nil
		})
		if text := r.passwordCheck(); !strings.Contains(text, id) || !strings.Contains(text, "restore the file") {
			t.Errorf("%s: readiness: got %q", name, text)
		}
		if feed.open.Load() != open || feed.closed.Load() != closed {
			t.Errorf("%s: the feed was requested without its password", name)
		}
		_, err := client.Call(ctx, r.Client, wire.SetFeed, wire.SetFeedRequest{ID: id, Body: wire.FeedChange{Password: &password}})
		if err == nil || !strings.Contains(err.Error(), "restore the file") {
			t.Errorf("%s: set a password: got %v", name, err)
		}
		r.stop()
		if _, err := os.Stat(filepath.Join(c.Data, "secret.key")); err == nil {
			t.Errorf("%s: a key was made", name)
		}
	}
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	checkMissing("lost key", c)
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	open := feed.open.Load()
	r = start(t, c)
	eventually(t, "the feed is requested again", func() bool { return feed.open.Load() > open && r.passwordCheck() == "" })
	r.stop()

	restored := c
	restored.Data = filepath.Join(dir, "restored")
	var log bytes.Buffer
	if _, err := Restore(ctx, restored, RestoreOptions{
		Options: Options{Version: "test", Log: slog.New(slog.NewTextHandler(&log, nil))}, File: filepath.Join(dir, "backup.db"),
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "key of passwords missing") || !strings.Contains(log.String(), "restore the file") {
		t.Errorf("the restore does not say that the key is missing: %s", log.String())
	}
	checkMissing("restored without the key", restored)
	checkFiles()
}

// The password of a feed that moved permanently is sealed again for its new address.
func TestSecrets_FollowAMovedFeed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var feed closedFeed
	var moved atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" && moved.Load() {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
			return
		}
		feed.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Schedule.Interval = time.Second
	r := start(t, c)
	if _, err := client.Call(ctx, r.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{web.URL + "/old"}}}); err != nil {
		t.Fatal(err)
	}
	user, password := "me", "the-feed-password"
	if _, err := client.Call(ctx, r.Client, wire.SetFeed, wire.SetFeedRequest{ID: storage.FeedID(web.URL + "/old"), Body: wire.FeedChange{
		User: &user, Password: &password, Headers: map[string]string{"X-Key": "the-feed-header"},
	}}); err != nil {
		t.Fatal(err)
	}
	r.waitIdle(1)
	moved.Store(true)
	id := storage.FeedID(web.URL + "/new")
	eventually(t, "the feed is polled at its new address", func() bool {
		f, err := client.Call(ctx, r.Client, wire.GetFeed, wire.ByID{ID: id})
		return err == nil && f.State != nil && f.State.Status == 200 && f.Request != nil && f.Request.Password != ""
	})
	if text := r.passwordCheck(); text != "" {
		t.Errorf("readiness: %s", text)
	}
}
