package rest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/client"
	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/cluster"
	"feedmesh/agent/role/store"
	"feedmesh/agent/role/work"
	"feedmesh/agent/service"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/classify/near"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A living is a mesh with the roles of the story pipeline, and its client.
type living struct {
	*client.Client
	t     *testing.T
	mesh  *mesh.Mesh
	store storage.Store
	feeds []string
	crawl int
}

func newLiving(t *testing.T) *living {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds on a real server")
	}
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	l := &living{t: t, store: enginetest.Store(t), mesh: meshtest.New(t)}
	for i := range 4 {
		f := storage.Feed{ID: storage.FeedID(fmt.Sprintf("https://f%d.example/", i)), URL: fmt.Sprintf("https://f%d.example/", i)}
		l.feeds = append(l.feeds, f.ID)
		if _, err := l.store.AddFeeds(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	env := &work.Env{
		Config: config.Default(), Mesh: l.mesh, Store: l.store, Log: quiet, Metrics: prometheus.NewRegistry(),
		Workers: 2, CheckDiskSpace: func() error { return nil },
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context, *work.Env) error{cluster.Run, store.Run} {
		running.Go(func() {
			if err := run(ctx, env); err != nil {
				t.Errorf("a role ended: %v", err)
			}
		})
	}
	t.Cleanup(func() { stop(); running.Wait() })
	web := httptest.NewServer(rest.New(service.New(service.Deps{
		Store: l.store, Index: enginetest.Index(t), Mesh: l.mesh, Now: env.Clock.Now, Log: quiet,
	}), rest.Options{Metrics: http.NotFoundHandler()}).Handler(nil))
	t.Cleanup(web.Close)
	client, err := client.NewClient(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	l.Client = client
	return l
}

// brings adds an item of a feed, and waits until it is stored.
func (l *living) brings(feed int, title, text string) storage.Item {
	l.t.Helper()
	l.crawl++
	i := storage.Item{
		FeedID: l.feeds[feed], Key: fmt.Sprint("k", l.crawl), Title: title, HTML: "<p>" + text + "</p>", Excerpt: text, Language: "en", Partition: "en",
		URL: fmt.Sprintf("https://f%d.example/%d", feed, l.crawl), FirstSeen: time.Now().UTC().Truncate(time.Microsecond), TextHash: near.TextHash(title, text),
	}
	i.ID, i.Hash, i.Published = storage.ItemID(i.FeedID, i.Key), i.Key, i.FirstSeen
	err := subjects.Publish(l.t.Context(), l.mesh, subjects.ClusterQueue, subjects.Cluster{
		Document: subjects.Document{Receipt: subjects.Receipt{FeedID: i.FeedID, Crawl: i.Key}}, Partition: "en", Items: []storage.Item{i},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	var stored storage.Item
	l.eventually(title+" is stored", func() bool { stored, err = storage.ItemByID(l.t.Context(), l.store, i.ID); return err == nil })
	return stored
}

func (l *living) eventually(what string, is func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("it is not so within 30 s: %s", what)
		}
	}
}

const (
	kernelText = "Linus Torvalds has released version 7.1 of the Linux kernel, with a new scheduler for machines of many cores and drivers for the Raspberry Pi."
	holeText   = "Researchers of a university found a hole in the scheduler of the Linux kernel by which any user becomes root; a fix is on its way to distributions."
	cakeText   = "A bakery in Vienna sells a cake that is made by a robot, from a recipe that its owner found in the attic of his grandmother."
)

func TestStoryEdits_AppliedByCluster(t *testing.T) {
	l := newLiving(t)
	ctx := t.Context()
	first := l.brings(0, "Linux kernel 7.1 released with a new scheduler", kernelText)
	repeat := l.brings(1, "Linux kernel 7.1 released with a new scheduler - F1", kernelText)
	cake := l.brings(2, "Robot bakes grandmother's cake in Vienna", cakeText)
	if repeat.DuplicateOf != first.ID || repeat.StoryID != first.StoryID || cake.StoryID == first.StoryID {
		t.Fatalf("got %+v and %+v, want a duplicate of the first, and an item of another story", repeat, cake)
	}
	l.eventually("the story is summarized", func() bool {
		page, err := client.Call(ctx, l.Client, wire.ListStories, wire.StorySearch{})
		return err == nil && len(page.Stories) == 1 && page.Stories[0].ID == first.StoryID && page.Stories[0].Sources == 2
	})

	joined, err := client.Call(ctx, l.Client, wire.JoinStories, wire.JoinStoriesRequest{ID: first.StoryID, Body: wire.JoinRequest{StoryID: cake.StoryID}})
	if err != nil || joined.Pending || joined.Story.Items != 3 || joined.Story.Events != 2 {
		t.Fatalf("got %+v, %v; want one story of three items", joined, err)
	}
	if again, err := client.Call(ctx, l.Client, wire.JoinStories, wire.JoinStoriesRequest{ID: first.StoryID, Body: wire.JoinRequest{StoryID: cake.StoryID}}); err != nil || again.ID != joined.ID {
		t.Errorf("joined again: got %+v, %v; want the same", again, err)
	}
	left, err := client.Call(ctx, l.Client, wire.SplitStory, wire.SplitStoryRequest{ID: joined.ID, Body: wire.SplitRequest{EventID: cake.EventID}})
	if err != nil || left.Pending || left.Story.Items != 2 {
		t.Errorf("got %+v, %v; want the story without the cake", left, err)
	}
	if again, err := client.Call(ctx, l.Client, wire.SplitStory, wire.SplitStoryRequest{ID: joined.ID, Body: wire.SplitRequest{EventID: cake.EventID}}); err != nil || again.Pending || again.Story.Items != 2 {
		t.Errorf("split again: got %+v, %v; want the same", again, err)
	}

	differs, err := client.Call(ctx, l.Client, wire.DifferItem, wire.ByID{ID: repeat.ID})
	if err != nil || differs.Pending || differs.First.ID != repeat.ID || differs.First.StoryID != left.ID {
		t.Errorf("got %+v, %v; want the item to repeat nothing, and to stay", differs, err)
	}
	repeats, err := client.Call(ctx, l.Client, wire.RepeatItem, wire.RepeatItemRequest{ID: cake.ID, Body: wire.Repetition{Of: first.ID}})
	if err != nil || repeats.Pending || repeats.First.ID != first.ID || len(repeats.Items) != 1 || repeats.Items[0].ID != cake.ID || repeats.Items[0].DuplicateBy != "hand" {
		t.Errorf("got %+v, %v; want the cake to repeat the kernel", repeats, err)
	}
	left, err = client.Call(ctx, l.Client, wire.SplitStory, wire.SplitStoryRequest{ID: repeats.First.StoryID, Body: wire.SplitRequest{ItemID: cake.ID}})
	if err != nil || left.Pending {
		t.Errorf("got %+v, %v; want the cake to be taken out", left, err)
	}
	if now, err := storage.ItemByID(ctx, l.store, cake.ID); err != nil || now.DuplicateOf != "" || now.StoryID == left.ID {
		t.Errorf("got %+v, %v; want the cake in a story of its own", now, err)
	}
	hole := l.brings(3, "Hole in the Linux kernel's scheduler makes any user root", holeText)
	if e, err := client.Call(ctx, l.Client, wire.ExplainItems, wire.ExplainItemsRequest{ID: hole.ID, With: first.ID}); err != nil || e.Repeat || len(e.Sentences) < 3 {
		t.Errorf("got %+v, %v; want no duplicates", e, err)
	}
}
