package node

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
	servers "feedmesh/tests/engines"
)

// A growingFeed is a feed of the site under test whose number of entries can be raised.
type growingFeed struct {
	*httptest.Server
	entries atomic.Int64
}

func newGrowingFeed(t *testing.T) *growingFeed {
	f := &growingFeed{}
	f.entries.Store(2)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<rss version="2.0"><channel><title>Source</title>`)
		for i := range f.entries.Load() {
			at := time.Now().Add(time.Duration(i) * time.Second).Format(time.RFC1123Z)
			fmt.Fprintf(w, `<item><guid>%d</guid><title>Entry number %[1]d</title><description>The text of entry %[1]d.</description><pubDate>%s</pubDate></item>`, i, at)
		}
		fmt.Fprint(w, `</channel></rss>`)
	}))
	t.Cleanup(f.Close)
	return f
}

// The feed of a view is pushed to another node, and to other software, within seconds, though neither polls it.
func TestHub_PushesToSubscribers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	source := newGrowingFeed(t)
	publisher := start(t, settings(filepath.Join(t.TempDir(), "data")))
	if _, err := client.Call(ctx, publisher.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{source.URL}}}); err != nil {
		t.Fatal(err)
	}
	publisher.waitIdle(2)
	if _, err := client.Call(ctx, publisher.Client, wire.SaveView, wire.SaveViewRequest{Name: "all", Body: wire.ViewSetting{Definition: `view all "Everything" = from all`}}); err != nil {
		t.Fatal(err)
	}
	feeds, err := client.Call(ctx, publisher.Client, wire.ListFeeds, wire.FeedSearch{Limit: 1})
	if err != nil || len(feeds.Feeds) != 1 {
		t.Fatalf("got %+v, %v", feeds, err)
	}
	topic := publisher.Address() + "/outputs/views/all."
	eventually(t, "the view is filled", func() bool {
		v, err := client.Call(ctx, publisher.Client, wire.GetView, wire.ViewName{Name: "all"})
		return err == nil && v.Filled && v.Members == 2
	})

	port, err := servers.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Listen = fmt.Sprintf("127.0.0.1:%d", port)
	c.PublicURL = config.Address("http://" + c.Listen)
	other := start(t, c)
	if _, err := client.Call(ctx, other.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{topic + "atom"}}}); err != nil {
		t.Fatal(err)
	}
	other.waitIdle(2)
	lines, end := startSubscriber(t, topic+"json", publisher.Address()+"/outputs/hub")
	want := 1
	if lines != nil {
		want++
		if line := <-lines; line != "subscribed "+topic+"json 3600" {
			t.Fatalf("the subscriber printed %s", line)
		}
	}
	subscriptions := func() []wire.SubscriptionState {
		list, err := client.Call(ctx, publisher.Client, wire.ListSubscriptions, wire.None{})
		if err != nil {
			t.Fatal(err)
		}
		return list.Subscriptions
	}
	eventually(t, "all are subscribed", func() bool { return len(subscriptions()) == want })
	for _, s := range subscriptions() {
		if s.Channel != "websub" || s.Title != "Everything" || s.Expires.IsZero() {
			t.Errorf("got %+v", s)
		}
	}

	source.entries.Add(1)
	if _, err := client.Call(ctx, publisher.Client, wire.RefreshFeed, wire.ByID{ID: feeds.Feeds[0].ID}); err != nil {
		t.Fatal(err)
	}
	other.waitIdle(3)
	for _, s := range subscriptions() {
		log, err := client.Call(ctx, publisher.Client, wire.ListAttempts, wire.ListAttemptsRequest{ByID: wire.ByID{ID: s.ID}})
		if err != nil || len(log.Attempts) != 1 || log.Attempts[0].Status/100 != 2 || log.Attempts[0].Items != 1 {
			t.Errorf("got %+v, %v; want one attempt with success", log.Attempts, err)
		}
	}
	if lines == nil {
		return
	}
	var got struct{ Topic, Feed, Type string }
	if line := <-lines; json.Unmarshal([]byte(line), &got) != nil || got.Topic != topic+"json" || got.Type != "application/feed+json; charset=utf-8" || !strings.Contains(got.Feed, "Entry number 2") || strings.Contains(got.Feed, "Entry number 1") {
		t.Errorf("the subscriber printed %s; want the new entry alone", line)
	}
	end()
	if line := <-lines; line != "unsubscribed" {
		t.Errorf("the subscriber printed %s", line)
	}
	eventually(t, "the subscription is removed", func() bool { return len(subscriptions()) == 1 })
}

// startSubscriber starts testdata/subscriber.mjs, and returns the lines that it prints, and a function that makes it unsubscribe; nil if
// the library is not installed.
func startSubscriber(t *testing.T, topic, hub string) (lines <-chan string, end func()) {
	t.Helper()
	modules, err := filepath.Abs("../../tests/engines/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "pubsubhubbub")); err != nil {
		t.Log("SKIPPED, NOT TESTED: pubsubhubbub is not installed; run just engines")
		return nil, nil
	}
	port, err := servers.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("testdata/subscriber.mjs")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "subscriber.mjs"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "subscriber.mjs", topic, hub, fmt.Sprint(port))
	node.Dir, node.Stderr = folder, os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	printed := make(chan string, 10)
	go func() {
		defer close(printed)
		for s := bufio.NewScanner(out); s.Scan(); {
			printed <- s.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		_ = node.Wait() // it ends with its input
	})
	return printed, func() { fmt.Fprintln(in, "unsubscribe") }
}
