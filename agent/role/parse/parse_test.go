package role

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"feedmesh/agent/role/bodycache"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// compressed returns a body compressed as in a task.
func compressed(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(body)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const blog = "http://blog.example/feed"

// parseOf returns the task to parse a document of the blog.
func parseOf(t *testing.T, body string) subjects.Parse {
	t.Helper()
	return subjects.Parse{
		Receipt: subjects.Receipt{
			FeedID: storage.FeedID(blog), Crawl: "c1", Fetched: noon, Status: 200,
			ETag: `"1"`, LastModified: "then", BodyHash: "hash",
		},
		URL: blog, Body: compressed(t, []byte(body)),
	}
}

// rss returns a document with entries of these titles and contents.
func rss(titles string, content func(title string) string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>Blog</title><link>http://blog.example/</link><language>en-us</language>`)
	for _, title := range strings.Fields(titles) {
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>%s</title><description>%s</description><pubDate>%s</pubDate></item>",
			title, title, content(title), noon.AddDate(0, 0, -int(title[0]-'a')).Format(time.RFC1123Z))
	}
	return b.String() + "</channel></rss>"
}

func plainly(title string) string { return "about " + title }

// parserOf returns a parser of a store.
func parserOf(store storage.Store) (*parser, *outbox) {
	out := &outbox{}
	return &parser{feeds: store, items: store, out: out, maxBody: 20 << 20, metrics: metrics(), fullText: &fullText{}, bodies: new(bodycache.Cache)}, out
}

// storeEntries stores entries as items of the blog.
func storeEntries(t *testing.T, store storage.Store, entries []subjects.Entry) {
	t.Helper()
	id := storage.FeedID(blog)
	batch := storage.Batch{FeedID: id}
	for _, e := range entries {
		batch.Items = append(batch.Items, storage.Item{ID: storage.ItemID(id, e.Key), Key: e.Key, Hash: e.Hash, FirstSeen: noon})
	}
	if _, err := store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// titles returns the entries' titles, each followed by a space.
func titles(entries []subjects.Entry) string {
	s := ""
	for _, e := range entries {
		s += e.Title + " "
	}
	return s
}

func TestParse_PassesNewAndChangedEntries(t *testing.T) {
	store := storeWith(t, blog)
	p, out := parserOf(store)
	receive := func(body string) {
		t.Helper()
		if err := p.Receive(t.Context(), parseOf(t, body)); err != nil {
			t.Fatal(err)
		}
	}
	receive(rss("a b c", plainly))
	first := only(t, out, subjects.PrepareQueue)
	if got := titles(first.Entries); got != "a b c " {
		t.Errorf("got %q from a new feed, want all entries", got)
	}
	if want := parseOf(t, "").Receipt; first.Receipt != want || first.Title != "Blog" || first.Site != "http://blog.example/" || first.Language != "en-us" || first.URL != blog {
		t.Errorf("got document %+v, want the feed's metadata and receipt %+v", first.Document, want)
	}
	if first.Rate <= 0 {
		t.Errorf("got rate %v for three entries in three days, want more than 0", first.Rate)
	}
	storeEntries(t, store, first.Entries)

	receive(rss("d a b c", func(title string) string {
		if title == "b" {
			return "no longer so sure about b"
		}
		return plainly(title)
	}))
	if got := titles(only(t, out, subjects.PrepareQueue).Entries); got != "d b " {
		t.Errorf("got %q, want the new and the changed entry", got)
	}

	receive(rss("c b", plainly))
	o := only(t, out, subjects.ObserveQueue)
	if got := o.Observations[0]; len(o.Observations) != 1 || got.Outcome != subjects.Nothing || got.Receipt != first.Receipt || got.Rate <= 0 {
		t.Errorf("got %+v for stored entries, want outcome nothing with receipt and rate", o)
	}
	receive(rss("", plainly))
	if o := only(t, out, subjects.ObserveQueue).Observations[0]; o.Outcome != subjects.Nothing || o.ETag != `"1"` || o.Rate != 0 {
		t.Errorf("got %+v for a feed without entries, want outcome nothing", o)
	}
}

func TestParse_UnreadableDocuments(t *testing.T) {
	for _, test := range []struct {
		body string
		kind feed.Kind
	}{
		{"", feed.Empty},
		{"<!DOCTYPE html><html><head><title>Hi</title></head><body>Hello</body></html>", feed.WebPage},
		{`{"name": "no feed"}`, feed.OtherJSON},
		{"<opml><body/></opml>", feed.OtherXML},
		{"hello", feed.Other},
		{"<rss><channel><title>cut o", feed.Broken},
		{"<rss><channel>" + strings.Repeat("<a>", 1000), feed.TooDeep},
	} {
		p, out := parserOf(enginetest.Store(t))
		if err := p.Receive(t.Context(), parseOf(t, test.body)); err != nil {
			t.Fatal(err)
		}
		got := only(t, out, subjects.ObserveQueue).Observations[0]
		if got.Outcome != subjects.Failed || got.Class != string(test.kind) || got.Error == "" || got.Receipt != parseOf(t, "").Receipt {
			t.Errorf("%.20q: got %+v, want a failure of class %q with text and receipt", test.body, got, test.kind)
		}
	}
}

func TestParse_InvalidBodies(t *testing.T) {
	for _, test := range []struct{ name, words string }{{"plain", "decompress"}, {"large", "larger than"}} {
		p, out := parserOf(enginetest.Store(t))
		task := parseOf(t, rss("a b c", plainly))
		if test.name == "plain" {
			task.Body = []byte("not in gzip")
		} else {
			p.maxBody = 100
		}
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		got := only(t, out, subjects.ObserveQueue).Observations[0]
		if got.Outcome != subjects.Failed || got.Class != string(feed.Broken) || !strings.Contains(got.Error, test.words) {
			t.Errorf("%s: got %+v, want a failure with text %q", test.name, got, test.words)
		}
	}
}

// unavailableStore is a store whose reads fail.
type unavailableStore struct{ storage.Store }

var errAway = errors.New("the store is away")

func (unavailableStore) ItemHashes(context.Context, string, []string) (map[string]string, error) {
	return nil, errAway
}

func TestParse_IsRetriedWithoutStore(t *testing.T) {
	p, out := parserOf(unavailableStore{enginetest.Store(t)})
	if err := p.Receive(t.Context(), parseOf(t, rss("a", plainly))); !errors.Is(err, errAway) || len(out.messages) != 0 {
		t.Errorf("got %v and %d messages, want the store's error and none", err, len(out.messages))
	}
}

// jsonFeed returns a document of n entries with this content.
func jsonFeed(n int, content string) string {
	type item struct {
		ID      string `json:"id"`
		URL     string `json:"url"`
		Content string `json:"content_html"`
	}
	doc := struct {
		Version string `json:"version"`
		Title   string `json:"title"`
		Items   []item `json:"items"`
	}{Version: "https://jsonfeed.org/version/1.1", Title: "large"}
	for i := range n {
		doc.Items = append(doc.Items, item{fmt.Sprint(i), fmt.Sprint("http://blog.example/", i), content})
	}
	data, _ := json.Marshal(doc)
	return string(data)
}

// Entries that do not fit into one message follow with the next polls, for which the document must count as
// changed until then. No document may become too large as items through cleaning, stemming and JSON.
func TestParse_SplitsLargeDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: takes some seconds")
	}
	t.Parallel()
	for _, test := range []struct {
		name    string
		n       int
		content string
	}{
		{"long entries", 3, strings.Repeat("<p>"+strings.Repeat("-", 1000)+"</p>\n", 750)},
		{"quotes: five bytes each in markup", 900, strings.Repeat(`"`, 2000)},
		{"control characters: six bytes each in JSON", 2, strings.Repeat("\x01", 750_000)},
	} {
		store := storeWith(t, blog)
		p, out := parserOf(store)
		body := jsonFeed(test.n, test.content)
		complete := false
		for polls := 1; !complete; polls++ {
			task := parseOf(t, body)
			if err := p.Receive(t.Context(), task); err != nil {
				t.Fatalf("%s: poll %d: %v", test.name, polls, err)
			}
			prepare := only(t, out, subjects.PrepareQueue)
			stored := travel(t, test.name, prepare)
			if len(stored.Items) == 0 || polls > 20 {
				t.Fatalf("%s: got %d items with poll %d, want some, and all after a few polls", test.name, len(stored.Items), polls)
			}
			if polls == 1 && stored.Items[0].Key != prepare.Entries[0].Key {
				t.Errorf("%s: got %s first, want the first entry of the document", test.name, stored.Items[0].Key)
			}
			if _, err := store.PutItems(t.Context(), storage.Batch{FeedID: stored.FeedID, Items: stored.Items}); err != nil {
				t.Fatal(err)
			}
			counts, _ := store.Counts(t.Context())
			complete = counts.Items == int64(test.n)
			if (stored.ETag+stored.LastModified+stored.BodyHash != "") != complete {
				t.Fatalf("%s: poll %d: got validators %+v with %d of %d items, want validators with the last items only",
					test.name, polls, stored.Receipt, counts.Items, test.n)
			}
		}
	}
}

// travel passes entries through all roles up to the store.
func travel(t *testing.T, name string, task subjects.Prepare) subjects.Store {
	t.Helper()
	out := &outbox{}
	if err := (&preparer{out: out}).Receive(t.Context(), task); err != nil {
		t.Fatalf("%s: prepare: %v", name, err)
	}
	if err := newClassifierActor(t, out, "").Receive(t.Context(), only(t, out, subjects.ClassifyQueue)); err != nil {
		t.Fatalf("%s: classify: %v", name, err)
	}
	c := clustererOf(t, enginetest.Store(t), out)
	if err := c.Receive(t.Context(), only(t, out, subjects.ClusterQueue)); err != nil {
		t.Fatalf("%s: cluster: %v", name, err)
	}
	return only(t, out, subjects.StoreQueue)
}
