package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
	"feedmesh/tests/corpus"
)

// A sample is a real feed document.
type sample struct {
	File     string `json:"file"`
	BodyGzip bool   `json:"body_gzip"` // the document itself is gzip data
	body     []byte // as its host sends it
	entries  int    // found by the reference parser
}

// documents reads the real documents.
func documents(t *testing.T) []sample {
	dir := corpus.Folder(t, "feeds")
	type reference struct {
		File    string
		Entries []json.RawMessage
	}
	entries := map[string]int{}
	for _, r := range corpus.Lines[reference](t, filepath.Join(dir, "reference.jsonl.gz")) {
		entries[r.File] = len(r.Entries)
	}
	samples := corpus.Lines[sample](t, filepath.Join(dir, "manifest.jsonl"))
	for i := range samples {
		s := &samples[i]
		s.body, s.entries = corpus.Bytes(t, filepath.Join(dir, s.File)), entries[s.File]
	}
	return samples
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// parsed returns the number of entries that the project's parser finds in a sample.
func (s sample) parsed(url string) int {
	body := s.body
	if s.BodyGzip {
		plain, err := fetch.Decompress(body, 10<<20)
		if err != nil {
			return 0
		}
		body = plain
	}
	d, err := feed.Parse(body, "application/xml", url)
	if err != nil {
		return 0
	}
	return len(d.Entries)
}

// host serves the samples, every other one with an ETag.
type host struct{ samples []sample }

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var i int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d/", &i); err != nil {
		http.NotFound(w, r)
		return
	}
	if i%2 == 0 { // the others send the same bytes again
		etag := fmt.Sprintf(`"v%d"`, i)
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	w.Write(h.samples[i].body)
}

func TestCorpus_RealFeedsBecomeSearchableItems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	samples := documents(t)
	clock := new(skewed)
	c := settings(t.TempDir())
	c.Schedule.Policy = "tiers" // the price policy polls long silent feeds only every few days
	n := start(t, c, clock.now)
	base := serve(t, &host{samples: samples})
	urls := make([]string, len(samples))
	byFeed := map[string]int{}
	for i := range samples {
		url, err := storage.CanonicalURL(fmt.Sprintf("%s/%d/feed.xml", base, i))
		if err != nil {
			t.Fatal(err)
		}
		urls[i] = url
		byFeed[storage.FeedID(url)] = i
	}
	n.add(urls...)
	first := n.waitSettled()

	yield := 0
	n.eachFeed(func(f wire.Feed) {
		s := samples[byFeed[f.ID]]
		readable := s.parsed(f.URL)
		if f.Items > 0 {
			yield++
		}
		switch {
		case readable > 0 && f.Items != int64(readable):
			t.Errorf("%s: got %d items, want the %d that its parser reads", s.File, f.Items, readable)
		case readable == 0 && s.entries > 0:
			t.Logf("%s: the reference reads %d entries, we none: %s", s.File, s.entries, f.State.Error)
		}
		if f.State == nil || f.State.Outcome == "" {
			t.Errorf("%s ended without an outcome", s.File)
		} else if f.Items == 0 && f.State.Error == "" && f.State.Outcome != subjects.Nothing {
			t.Errorf("%s has no items and no reason: %+v", s.File, f.State)
		} else if f.State.Failures > 1 || !f.State.Next.After(f.State.Polled.Add(time.Minute)) {
			t.Errorf("%s was tried %d times and is due at %v, polled at %v", s.File, f.State.Failures, f.State.Next, f.State.Polled)
		}
	})
	t.Logf("%d of %d documents yield %d items", yield, len(samples), first.Items)
	if yield < 340 {
		t.Errorf("got %d documents with items, want at least 340", yield)
	}
	findable(t, n)
	storiesOfImport(t, n, c.Cluster.Window)

	// A second sweep, a day later: everything is unchanged.
	clock.add(25 * time.Hour)
	polledAgain(t, n, clock.now().Add(-time.Hour))
	n.eachFeed(func(f wire.Feed) {
		if f.Items > 0 && f.State.Outcome != subjects.Unchanged {
			t.Errorf("%s: got %q at the second poll, want unchanged", samples[byFeed[f.ID]].File, f.State.Outcome)
		}
	})
	if second := n.waitSettled(); second.Items != first.Items {
		t.Errorf("got %d items after the second sweep, want the %d of the first", second.Items, first.Items)
	}
}

// storiesOfImport checks the first 100 stories of a first import, whose items were published in many years: their
// items were published within the window and three days, and no burst is found. It prints ten with their summaries.
func storiesOfImport(t *testing.T, n *running, window time.Duration) {
	t.Helper()
	for _, sources := range []int{1, 2} { // the console shows stories of two publishers and more
		page, err := client.Call(t.Context(), n.Client, wire.ListStories, wire.StorySearch{Sources: sources, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Stories) < 20 {
			t.Errorf("got %d stories of %d publishers and more, want at least 20", len(page.Stories), sources)
		}
		for i, brief := range page.Stories {
			view, err := client.Call(t.Context(), n.Client, wire.GetStory, wire.ByID{ID: brief.ID})
			if err != nil {
				t.Fatal(err)
			}
			if span := spanOf(view); span > window+72*time.Hour {
				t.Errorf("the items of story %q were published within %v, want at most %v", view.Title, span, window+72*time.Hour)
			}
			if sources == 2 && i < 10 {
				t.Logf("%s\n    %d items of %d publishers, %s", view.Title, view.Items, view.Sources, view.FirstSeen.Format(time.DateOnly))
				for _, q := range view.Summary {
					t.Logf("    - %s", q.Text)
				}
			}
		}
	}
	bursts, err := client.Call(t.Context(), n.Client, wire.ListBursts, wire.ListBurstsRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if bursts.Total > 0 || len(bursts.Bursts) > 0 {
		t.Errorf("got the bursts %v of a first import, want none", bursts.Bursts)
	}
}

// spanOf returns the time between the first and the last publication of a story's items. Undated items do not count.
func spanOf(view wire.StoryView) time.Duration {
	var first, last time.Time
	for _, e := range view.Timeline {
		for _, i := range e.Items {
			if i.Published.IsZero() {
				continue
			}
			if first.IsZero() || i.Published.Before(first) {
				first = i.Published
			}
			if i.Published.After(last) {
				last = i.Published
			}
		}
	}
	return last.Sub(first)
}

// findable searches for 50 items by the rarest word of their titles.
func findable(t *testing.T, n *running) {
	t.Helper()
	items := n.items()
	count := map[string]int{}
	for _, item := range items {
		for _, w := range text.Words(item.Title) {
			count[w.Text]++
		}
	}
	looked := 0
	for i := 0; i < len(items) && looked < 50; i += max(1, len(items)/80) {
		item := items[i]
		rarest := ""
		for _, w := range text.Words(item.Title) {
			if len(w.Text) > 3 && (rarest == "" || count[w.Text] < count[rarest]) {
				rarest = w.Text
			}
		}
		if rarest == "" || count[rarest] > 50 {
			continue
		}
		looked++
		found, err := client.Call(t.Context(), n.Client, wire.SearchItems, wire.Search{Query: rarest, Duplicates: true, Limit: 100, Sort: "best"})
		if err != nil {
			t.Fatal(err)
		}
		hit := false
		for _, f := range found.Items {
			hit = hit || f.ID == item.ID
		}
		if !hit {
			t.Errorf("%q (%s) is not among the %d items found for %q", item.Title, item.ID, found.Total, rarest)
		}
	}
	if looked < 50 {
		t.Errorf("looked for %d items, want 50", looked)
	}
}

// polledAgain waits until every feed has been polled after that time.
func polledAgain(t *testing.T, n *running, after time.Time) {
	t.Helper()
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		behind := 0
		n.eachFeed(func(f wire.Feed) {
			if f.State == nil || !f.State.Polled.After(after) {
				behind++
			}
		})
		if behind == 0 {
			return
		}
	}
	t.Fatal("not all feeds were polled again within", settleTimeout)
}
