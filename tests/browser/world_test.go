// Package browser looks at the console as people do: in a real browser, at a
// real node that has read real feeds from this machine.
package browser

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/node"
	"feedmesh/config"
)

// A world is a node that has read the newsroom.
type world struct {
	*api.Client
	address string
	room    *newsroom
}

var (
	once  sync.Once
	made  world
	fault error
	clean []func()
)

func TestMain(m *testing.M) {
	code := m.Run()
	for i := range clean {
		clean[len(clean)-1-i]()
	}
	os.Exit(code)
}

// theWorld returns the one world of all tests here, made by the first.
func theWorld(t testing.TB) world {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	once.Do(func() { made, fault = makeWorld(openNewsroom(publishers), "Newsroom") })
	if fault != nil {
		t.Fatal(fault)
	}
	return made
}

// makeWorld starts a node and has it read all of a newsroom, under a tag.
func makeWorld(room *newsroom, tag string) (world, error) {
	clean = append(clean, room.Close)
	dir, err := os.MkdirTemp("", "feedmesh-browser")
	if err != nil {
		return world{}, err
	}
	clean = append(clean, func() { os.RemoveAll(dir) })

	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Schedule.HostSpacing = 0 // all are on one host
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
		client, err := api.NewClient("http://"+addr, "")
		if err != nil {
			return world{}, err
		}
		w := world{Client: client, address: "http://" + addr, room: room}
		return w, w.read(ctx, tag)
	case err := <-done:
		done <- err
		return world{}, fmt.Errorf("the node did not start: %w", err)
	}
}

// read waits until all that the newsroom publishes is searchable and told.
func (w world) read(ctx context.Context, tag string) error {
	if _, err := w.AddFeeds(ctx, w.room.addresses(), []string{tag}); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		status, err := w.Status(ctx)
		if err != nil {
			return err
		}
		stories, err := w.Stories(ctx, api.StorySearch{})
		if err != nil {
			return err
		}
		if status.Indexed == int64(w.room.items()) && len(stories.Stories) >= w.room.told {
			return nil
		}
	}
	return fmt.Errorf("the newsroom's %d items were not searchable within a minute", w.room.items())
}
