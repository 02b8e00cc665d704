package browser

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

var storedItems = flag.Int("browser.items", 2_000, "items of the node that BenchmarkReading measures")

const (
	readingFeeds  = 1_000
	readingUnread = 5_000 // the newest items, if there are so many
)

// BenchmarkReading opens the reading page of a node with many items, and presses three keys a second there. It prints
// the time from the start of the navigation to the first contentful paint and to the list, and from each key to the
// first frame that shows its effect: the item that a key opens, or its star. Between two paints the page is idle.
func BenchmarkReading(b *testing.B) {
	w := filledTestbed(b, *storedItems)
	p := openAt(b, w.address)
	var paints, lists, opens, stars []float64
	for range b.N {
		for range 20 {
			p.visit("/read")
			p.until("the page is painted", `performance.getEntriesByName("first-contentful-paint").length > 0`)
			paints = append(paints, evaluate[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
			lists = append(lists, evaluate[float64](p, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`))
			time.Sleep(time.Second / 2) // the service worker keeps new items
		}
		// A lag ends with the frame after the effect. For an effect during the event of the key, Event Timing measures it:
		// in steps of 8 ms, and only from 16 ms on.
		p.run(`
			window.lags = [];
			let key;
			addEventListener("keypress", (event) => { key = { at: event.timeStamp, lag: 16 }; }, true);
			new PerformanceObserver((list) => {
				for (const e of list.getEntriesByName("keypress")) if (e.startTime === key?.at) key.lag = e.duration;
			}).observe({ type: "event", durationThreshold: 16 });
			const changed = () => {
				if (!key || key.changed) return;
				const of = key;
				key.changed = performance.now();
				requestAnimationFrame(() => setTimeout(() => {
					const end = performance.now();
					setTimeout(() => lags.push(of.changed <= of.handled ? of.lag : end - of.at), 100);
				}));
			};
			addEventListener("keypress", () => queueMicrotask(() => queueMicrotask(() => { key.handled = performance.now(); })));
			new MutationObserver(changed).observe(document.getElementById("pane"), {childList: true});
			new MutationObserver((all) => { if (all.some((m) => m.target.matches("li.starred"))) changed(); })
				.observe(document.getElementById("rows"), {subtree: true, attributeFilter: ["class"]})`)
		press := func(key string, lags []float64) []float64 {
			p.run("lags.length = 0")
			p.do(chromedp.KeyEvent(key))
			p.until("the key has an effect", "lags.length > 0")
			time.Sleep(time.Second / 3) // the pace of a reader
			return append(lags, evaluate[float64](p, "lags[0]"))
		}
		for range 50 {
			opens = press("j", opens)
			stars = press("s", stars)
		}
	}
	for _, m := range []struct {
		name  string
		times []float64
	}{{"first-paint", paints}, {"list-ready", lists}, {"open", opens}, {"star", stars}} {
		slices.Sort(m.times)
		b.ReportMetric(m.times[len(m.times)/2], m.name+"-p50-ms")
		b.ReportMetric(m.times[len(m.times)*95/100], m.name+"-p95-ms")
	}
}

// filledTestbed starts a node with n stored items, all searchable. Those older than the newest readingUnread are read.
func filledTestbed(b *testing.B, n int) testbed {
	b.Helper()
	dir, err := makeFolder()
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().UTC()
	seen := func(i int) time.Time { return now.Add(-time.Duration(i) * 10 * time.Second) }
	if err := fillStore(b.Context(), filepath.Join(dir, "store.db"), n, seen); err != nil {
		b.Fatal(err)
	}
	// Its feeds do not exist: nothing polls them.
	w, err := startNode(dir, func(c *config.Config) { c.Roles = []string{"store", "index", "api"} })
	if err != nil {
		b.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Minute); ; time.Sleep(time.Second) {
		status, err := client.Call(b.Context(), w.Client, wire.GetStatus, wire.None{})
		if err == nil && status.Indexed == int64(n) {
			break
		}
		if time.Now().After(deadline) {
			b.Fatalf("%d of %d items are searchable, %v", status.Indexed, n, err)
		}
	}
	read := wire.MarkAllReadRequest{Body: wire.ReadStream{Until: seen(min(readingUnread, n-1))}}
	if _, err := client.Call(b.Context(), w.Client, wire.MarkAllRead, read); err != nil {
		b.Fatal(err)
	}
	return w
}

// fillStore writes items of many feeds to a new store; seen is the time of each.
func fillStore(ctx context.Context, path string, n int, seen func(int) time.Time) error {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	feeds := make([]storage.Feed, readingFeeds)
	for f := range feeds {
		url := fmt.Sprintf("https://f%d.example/feed", f)
		feeds[f] = storage.Feed{ID: storage.FeedID(url), URL: url, Title: fmt.Sprint("Publisher ", f), Tags: []string{fmt.Sprint("Folder ", f%20)}, Added: seen(n)}
	}
	_, err = store.AddFeeds(ctx, feeds...)
	if err != nil {
		return cmp.Or(err, store.Close())
	}
	var fill errgroup.Group
	fill.SetLimit(50) // concurrent writes share a transaction
	for f, feed := range feeds {
		batch := storage.Batch{FeedID: feed.ID}
		for i := f; i < n; i += readingFeeds {
			key := fmt.Sprint("item-", i)
			batch.Items = append(batch.Items, storage.Item{
				ID: storage.ItemID(feed.ID, key), FeedID: feed.ID, Key: key, Hash: key, URL: fmt.Sprintf("https://f%d.example/%d", f, i), Language: "en",
				Title: fmt.Sprintf("Release %d of a program for databases with %d changes", i, i%97), Published: seen(i), FirstSeen: seen(i),
				Excerpt: "The new version repairs several errors and reads large files in half of the time.",
				HTML:    "<p>The new version repairs several errors and reads large files in half of the time.</p><p>It can be installed from today on.</p>",
			})
		}
		fill.Go(func() error {
			_, err := store.PutItems(ctx, batch)
			return err
		})
	}
	return cmp.Or(fill.Wait(), store.Close())
}
