package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"feedmesh/agent/simulate"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// benchTakeover prints how long it takes whoever places items to remember those of
// the last days, from the store.
func benchTakeover(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("takeover", flag.ContinueOnError)
	items := flags.Int("items", 500_000, "items of three days in the store")
	bodies := flags.Bool("bodies", false, "they have 2 KB of text each, and not only an excerpt of 300 characters")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &run{clock: &clock{}}
	err := r.inFolder(ctx, func(ctx context.Context) error { return r.takeOver(ctx, *items, *bodies) })
	r.table.print(os.Stdout)
	return err
}

func (r *run) takeOver(ctx context.Context, items int, bodies bool) error {
	if err := fillItems(ctx, filepath.Join(r.dir, "store.db"), items, bodies); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := settings(r.dir)
	c.Roles = []string{"cluster", "api"}
	used, began := cpuTime(), time.Now()
	ended, err := r.start(ctx, c)
	if err != nil {
		return err
	}
	for remembered := 0; remembered < items && err == nil; time.Sleep(100 * time.Millisecond) {
		remembered, err = r.remembered(ctx)
		if time.Since(began) > 10*time.Minute {
			err = fmt.Errorf("%d of %d items are remembered after ten minutes", remembered, items)
		}
	}
	took, cpu := time.Since(began), cpuTime()-used
	if err == nil {
		r.table.add(fmt.Sprintf("%d items are remembered after the start within", items), "%.1f s", took.Seconds())
		r.table.add("CPU", "%.0f us an item", cpu.Seconds()*1e6/float64(items))
		r.table.add("memory (RSS)", "%.0f MB", float64(memory("VmRSS"))/1e6)
	}
	cancel()
	return errors.Join(err, <-ended)
}

// fillItems makes a store of items of the last three days, one in three of which
// tells of something that others tell of too.
func fillItems(ctx context.Context, path string, items int, bodies bool) error {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer store.Close()
	const chunk = 500
	for first := 0; first < items; first += chunk {
		feed := 3 * (first / chunk) // of those in English
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
	plain := text.Plain(html)
	if !bodies {
		plain = text.Excerpt(plain, 300)
		html = "<p>" + plain + "</p>"
	}
	key := fmt.Sprint(seq)
	i := storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: key, Lane: "en", Language: "en",
		URL: simulate.Link(feed, seq), Title: title, HTML: html, Excerpt: text.Excerpt(plain, 300), TextHash: near.TextHash(title, plain),
		FirstSeen: time.Now().Add(-time.Duration((feed*7+seq)%(70*3600)) * time.Second),
	}
	i.Published = i.FirstSeen
	i.EventID = storage.EventID(i.ID)
	i.StoryID = storage.StoryID(i.EventID)
	return i
}

// remembered returns how many items in English new ones are compared with.
func (r *run) remembered(ctx context.Context) (int, error) {
	page, err := r.metrics(ctx)
	if err != nil {
		return 0, err
	}
	defer page.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(page)
	if err != nil {
		return 0, err
	}
	for _, m := range families["feedmesh_live"].GetMetric() {
		labels := ""
		for _, l := range m.GetLabel() {
			labels += l.GetValue() + " "
		}
		if strings.Contains(labels, "en ") && strings.Contains(labels, "marks") {
			return int(m.GetGauge().GetValue()), nil
		}
	}
	return 0, nil
}
