// Package browser tests the console in a real browser, with a real node that has read feeds from this
// machine.
package browser

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/tests/chromium"
)

// A testbed is a node that has read the newsroom.
type testbed struct {
	*client.Client
	address string
	room    *publishedFeeds
}

var (
	once  sync.Once
	made  testbed
	fault error
	clean []func()
)

func TestMain(m *testing.M) {
	code := m.Run()
	for i := range clean {
		clean[len(clean)-1-i]()
	}
	chromium.Close()
	os.Exit(code)
}

// sharedTestbed returns the node shared by all tests, started by the first.
func sharedTestbed(t testing.TB) testbed {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	once.Do(func() { made, fault = newTestbed(servePublishers(publishers), "Newsroom") })
	if fault != nil {
		t.Fatal(fault)
	}
	return made
}

// newTestbed starts a node with changed settings and lets it read all feeds of a newsroom, with a tag.
func newTestbed(room *publishedFeeds, tag string, change ...func(*config.Config)) (testbed, error) {
	clean = append(clean, room.Close)
	dir, err := makeFolder()
	if err != nil {
		return testbed{}, err
	}
	w, err := startNode(dir, change...)
	if err != nil {
		return testbed{}, err
	}
	w.room = room
	return w, w.read(context.Background(), tag)
}

// makeFolder makes a data folder, which is removed after all tests.
func makeFolder() (string, error) {
	dir, err := os.MkdirTemp("", "feedmesh-browser")
	clean = append(clean, func() { os.RemoveAll(dir) })
	return dir, err
}

// startNode starts a node with changed settings on a data folder. It is stopped after all tests.
func startNode(dir string, change ...func(*config.Config)) (testbed, error) {
	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = config.Networks("127.0.0.0/8")
	c.Schedule.HostSpacing = 0 // all feeds are on one host
	for _, set := range change {
		set(&c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- node.Run(ctx, c, node.Options{
			Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Ready: func(addr string) { ready <- addr },
		})
	}()
	clean = append(clean, func() { cancel(); <-done })
	select {
	case addr := <-ready:
		client, err := client.NewClient("http://"+addr, "")
		return testbed{Client: client, address: "http://" + addr}, err
	case err := <-done:
		done <- err
		return testbed{}, fmt.Errorf("the node did not start: %w", err)
	}
}

// read waits until all items of the newsroom are searchable and their stories summarized.
func (w testbed) read(ctx context.Context, tag string) error {
	if _, err := client.Call(ctx, w.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: w.room.addresses(), Tags: []string{tag}}}); err != nil {
		return err
	}
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		status, err := client.Call(ctx, w.Client, wire.GetStatus, wire.None{})
		if err != nil {
			return err
		}
		stories, err := client.Call(ctx, w.Client, wire.ListStories, wire.StorySearch{})
		if err != nil {
			return err
		}
		if status.Indexed == int64(w.room.items()) && len(stories.Stories) >= w.room.stories {
			return nil
		}
	}
	return fmt.Errorf("the testbed's %d items were not searchable within three minutes", w.room.items())
}
