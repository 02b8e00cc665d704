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

	"feedmesh/agent/feed"
	"feedmesh/storage"
	"feedmesh/storage/memory"
	"feedmesh/subjects"
)

// packed returns a body as it travels.
func packed(t *testing.T, body []byte) []byte {
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
		URL: blog, Body: packed(t, []byte(body)),
	}
}

// rss returns a document with entries of these titles, with content as told.
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
	return &parser{feeds: store, known: store, out: out, maxBody: 20 << 20, metrics: metrics(), fullText: &fullText{}}, out
}

// keepEntries stores entries as items of the blog, as if they had gone all the way.
func keepEntries(t *testing.T, store *memory.Store, entries []subjects.Entry) {
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

func TestOnlyNewAndChangedEntriesGoOn(t *testing.T) {
	store := storeWith(t, blog)
	p, out := parserOf(store)
	receive := func(body string) {
		t.Helper()
		if err := p.Receive(t.Context(), parseOf(t, body)); err != nil {
			t.Fatal(err)
		}
	}
	receive(rss("a b c", plainly))
	first := only(t, out, subjects.Prepares)
	if got := titles(first.Entries); got != "a b c " {
		t.Errorf("got %q from a new feed, want all", got)
	}
	if want := parseOf(t, "").Receipt; first.Receipt != want || first.Title != "Blog" || first.Site != "http://blog.example/" || first.Language != "en-us" || first.URL != blog {
		t.Errorf("got document %+v, want what the feed says of itself and receipt %+v", first.Document, want)
	}
	if first.Rate <= 0 {
		t.Errorf("got rate %v of three entries in three days, want more than 0", first.Rate)
	}
	keepEntries(t, store, first.Entries)

	receive(rss("d a b c", func(title string) string {
		if title == "b" {
			return "no longer so sure about b"
		}
		return plainly(title)
	}))
	if got := titles(only(t, out, subjects.Prepares).Entries); got != "d b " {
		t.Errorf("got %q, want the new and the changed one", got)
	}

	receive(rss("c b", plainly))
	o := only(t, out, subjects.Observes)
	if got := o.Observations[0]; len(o.Observations) != 1 || got.Outcome != subjects.Nothing || got.Receipt != first.Receipt || got.Rate <= 0 {
		t.Errorf("got %+v of known entries, want that there is nothing new, with the receipt and a rate", o)
	}
	receive(rss("", plainly))
	if o := only(t, out, subjects.Observes).Observations[0]; o.Outcome != subjects.Nothing || o.ETag != `"1"` || o.Rate != 0 {
		t.Errorf("got %+v of a feed without entries, want that there is nothing new", o)
	}
}

func TestUnreadableDocumentsFailInWords(t *testing.T) {
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
		p, out := parserOf(&memory.Store{})
		if err := p.Receive(t.Context(), parseOf(t, test.body)); err != nil {
			t.Fatal(err)
		}
		got := only(t, out, subjects.Observes).Observations[0]
		if got.Outcome != subjects.Failed || got.Class != string(test.kind) || got.Error == "" || got.Receipt != parseOf(t, "").Receipt {
			t.Errorf("%.20q: got %+v, want a failure of kind %q with words and receipt", test.body, got, test.kind)
		}
	}
}

func TestABodyThatIsNotPackedOrTooLargeFailsInWords(t *testing.T) {
	for _, test := range []struct{ name, words string }{{"plain", "unpack"}, {"large", "larger than"}} {
		p, out := parserOf(&memory.Store{})
		task := parseOf(t, rss("a b c", plainly))
		if test.name == "plain" {
			task.Body = []byte("not in gzip")
		} else {
			p.maxBody = 100
		}
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		got := only(t, out, subjects.Observes).Observations[0]
		if got.Outcome != subjects.Failed || got.Class != string(feed.Broken) || !strings.Contains(got.Error, test.words) {
			t.Errorf("%s: got %+v, want a failure with %q in its words", test.name, got, test.words)
		}
	}
}

// away is a store that can't be read.
type away struct{ *memory.Store }

var errAway = errors.New("the store is away")

func (away) Known(context.Context, string, []string) (map[string]string, error) { return nil, errAway }

func TestAParseWithoutStoreIsTriedAgain(t *testing.T) {
	p, out := parserOf(away{&memory.Store{}})
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

// What does not fit into one message comes with the next polls, which must find
// the document changed until then; and no document is too large to travel as
// an item, whatever cleaning, stems and JSON make of it.
func TestADocumentTooLargeForAMessageComesInParts(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds")
	}
	t.Parallel()
	for _, test := range []struct {
		name    string
		n       int
		content string
	}{
		{"long entries", 3, strings.Repeat("<p>"+strings.Repeat("-", 1000)+"</p>\n", 750)},
		{"quotes, which markup writes as five bytes", 900, strings.Repeat(`"`, 2000)},
		{"control characters, which JSON writes as six bytes", 2, strings.Repeat("\x01", 750_000)},
	} {
		store := storeWith(t, blog)
		p, out := parserOf(store)
		body := jsonFeed(test.n, test.content)
		whole := false
		for polls := 1; !whole; polls++ {
			task := parseOf(t, body)
			if err := p.Receive(t.Context(), task); err != nil {
				t.Fatalf("%s: poll %d: %v", test.name, polls, err)
			}
			prepare := only(t, out, subjects.Prepares)
			stored := travel(t, test.name, prepare)
			if len(stored.Items) == 0 || polls > 20 {
				t.Fatalf("%s: got %d items with poll %d, want some, and all after a few", test.name, len(stored.Items), polls)
			}
			if polls == 1 && stored.Items[0].Key != prepare.Entries[0].Key {
				t.Errorf("%s: got %s first, want the document's first", test.name, stored.Items[0].Key)
			}
			if _, err := store.PutItems(t.Context(), storage.Batch{FeedID: stored.FeedID, Items: stored.Items}); err != nil {
				t.Fatal(err)
			}
			counts, _ := store.Counts(t.Context())
			whole = counts.Items == int64(test.n)
			if (stored.ETag+stored.LastModified+stored.BodyHash != "") != whole {
				t.Fatalf("%s: poll %d: got validators %+v with %d of %d items, want them with the last only",
					test.name, polls, stored.Receipt, counts.Items, test.n)
			}
		}
	}
}

// travel takes entries the way to the store.
func travel(t *testing.T, name string, task subjects.Prepare) subjects.Store {
	t.Helper()
	out := &outbox{}
	if err := (&preparer{out: out}).Receive(t.Context(), task); err != nil {
		t.Fatalf("%s: prepare: %v", name, err)
	}
	if err := labellerTo(t, out, "").Receive(t.Context(), only(t, out, subjects.Classifys)); err != nil {
		t.Fatalf("%s: classify: %v", name, err)
	}
	c := clustererOf(t, &memory.Store{}, out)
	if err := c.Receive(t.Context(), only(t, out, subjects.Clusters)); err != nil {
		t.Fatalf("%s: cluster: %v", name, err)
	}
	return only(t, out, subjects.Stores)
}
