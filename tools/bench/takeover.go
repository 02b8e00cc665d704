package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"feedmesh/agent/simulate"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
	"feedmesh/tools/bench/report"
)

// benchTakeover measures the time in which a clusterer loads the window's items from the store.
func benchTakeover(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("takeover", flag.ContinueOnError)
	items := flags.Int("items", 500_000, "stored items of the last three days")
	bodies := flags.Bool("bodies", false, "2 KB of text per item instead of an excerpt of 300 characters")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	r := &run{Report: out, clock: &clock{}}
	return r.inFolder(func() error { return r.takeOver(ctx, *items, *bodies) })
}

func (r *run) takeOver(ctx context.Context, items int, bodies bool) error {
	if err := fillItems(ctx, storePath(r.dir), items, bodies); err != nil {
		return err
	}
	c := settings(r.dir)
	c.Roles = []string{"cluster", "api"}
	before := usedBy(os.Getpid())
	return r.withNode(ctx, c, func(ctx context.Context) error {
		if err := r.untilRemembered(ctx, items); err != nil {
			return err
		}
		s := usedBy(os.Getpid()).since(before)
		r.Add(fmt.Sprintf("%d items are remembered after the start within", items), s.elapsed.Seconds(), "s")
		r.Add("CPU", s.micros(float64(items)), "us an item")
		r.Add("memory (RSS)", float64(memoryOf(os.Getpid(), "VmRSS"))/1e6, "MB")
		return nil
	})
}

// untilRemembered waits until the English window has a number of items.
func (r *run) untilRemembered(ctx context.Context, items int) error {
	english := func(labels map[string]string) bool { return labels["language"] == "en" && labels["what"] == "marks" }
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		m, err := readMetrics(ctx, r.Address())
		if err != nil {
			return err
		}
		remembered := m.sum("feedmesh_live", english)
		if remembered >= float64(items) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("only %v of %d items are loaded after ten minutes", remembered, items)
		}
	}
}

// fillItems creates a store with items of the last three days, one in three of which reports an event that
// others report too.
func fillItems(ctx context.Context, path string, items int, bodies bool) error {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer store.Close()
	const chunk = 500
	for first := 0; first < items; first += chunk {
		feed := 3 * (first / chunk) // an English feed
		url := fmt.Sprintf("http://host%d.example/feed", feed)
		if _, err := store.AddFeeds(ctx, storage.Feed{ID: storage.FeedID(url), URL: url, Added: time.Now()}); err != nil {
			return err
		}
		batch := storage.Batch{FeedID: storage.FeedID(url)}
		for seq := range min(chunk, items-first) {
			batch.Items = append(batch.Items, itemOf(storage.FeedID(url), feed, seq, bodies))
		}
		if _, err := store.PutItems(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func itemOf(feedID string, feed, seq int, bodies bool) storage.Item {
	title, html := simulate.Text(feed, seq)
	plain := text.PlainText(html)
	if !bodies {
		plain = text.Excerpt(plain, 300)
		html = "<p>" + plain + "</p>"
	}
	key := fmt.Sprint(seq)
	i := storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: key, Partition: "en", Language: "en",
		URL: simulate.Link(feed, seq), Title: title, HTML: html, Excerpt: text.Excerpt(plain, 300), TextHash: near.TextHash(title, plain),
		FirstSeen: time.Now().Add(-time.Duration((feed*7+seq)%(70*3600)) * time.Second),
	}
	i.Published = i.FirstSeen
	i.EventID = storage.EventID(i.ID)
	i.StoryID = storage.StoryID(i.EventID)
	return i
}
