package parse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// parserOf returns a parser of a store.
func parserOf(store storage.Store) (*parser, *worktest.Outbox) {
	out := &worktest.Outbox{}
	return newParser(&work.Env{Store: store, Mesh: new(mesh.Mesh), Metrics: prometheus.NewRegistry(), Config: config.Config{Crawl: config.Crawl{MaxBody: 20 << 20}}}, out), out
}

// storeEntries stores entries as items of the blog.
func storeEntries(t *testing.T, store storage.Store, entries []subjects.Entry) {
	t.Helper()
	id := storage.FeedID(worktest.Blog)
	batch := storage.Batch{FeedID: id}
	for _, e := range entries {
		batch.Items = append(batch.Items, storage.Item{ID: storage.ItemID(id, e.Key), Key: e.Key, Hash: e.Hash, FirstSeen: worktest.Noon})
	}
	if _, err := store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func TestParse_PassesNewAndChangedEntries(t *testing.T) {
	store := worktest.StoreWith(t, worktest.Blog)
	p, out := parserOf(store)
	receive := func(body string) {
		t.Helper()
		if err := p.Receive(t.Context(), worktest.ParseTask(t, body)); err != nil {
			t.Fatal(err)
		}
	}
	receive(worktest.RSS("a b c", worktest.Plainly))
	first := worktest.Only(t, out, subjects.PrepareQueue)
	if got := worktest.Titles(first.Entries); got != "a b c " {
		t.Errorf("got %q from a new feed, want all entries", got)
	}
	if want := worktest.ParseTask(t, "").Receipt; first.Receipt != want || first.Title != "Blog" || first.Site != "http://blog.example/" || first.Language != "en-us" || first.URL != worktest.Blog {
		t.Errorf("got document %+v, want the feed's metadata and receipt %+v", first.Document, want)
	}
	if first.Rate <= 0 {
		t.Errorf("got rate %v for three entries in three days, want more than 0", first.Rate)
	}
	storeEntries(t, store, first.Entries)

	receive(worktest.RSS("d a b c", func(title string) string {
		if title == "b" {
			return "no longer so sure about b"
		}
		return worktest.Plainly(title)
	}))
	if got := worktest.Titles(worktest.Only(t, out, subjects.PrepareQueue).Entries); got != "d b " {
		t.Errorf("got %q, want the new and the changed entry", got)
	}

	receive(worktest.RSS("c b", worktest.Plainly))
	o := worktest.Only(t, out, subjects.ObserveQueue)
	if got := o.Observations[0]; len(o.Observations) != 1 || got.Outcome != subjects.Nothing || got.Receipt != first.Receipt || got.Rate <= 0 {
		t.Errorf("got %+v for stored entries, want outcome nothing with receipt and rate", o)
	}
	receive(worktest.RSS("", worktest.Plainly))
	if o := worktest.Only(t, out, subjects.ObserveQueue).Observations[0]; o.Outcome != subjects.Nothing || o.ETag != `"1"` || o.Rate != 0 {
		t.Errorf("got %+v for a feed without entries, want outcome nothing", o)
	}
}

// Entries without a date may be old in the first document of a feed; later they are news.
func TestParse_DateOfUndatedEntries(t *testing.T) {
	const item = "<item><title>%s</title><link>http://blog.example/%[1]s</link>%s</item>"
	body := func(items ...string) string {
		return `<rss version="2.0"><channel><title>Blog</title>` + strings.Join(items, "") + "</channel></rss>"
	}
	about, old := fmt.Sprintf(item, "about", ""), fmt.Sprintf(item, "old", "<pubDate>Mon, 05 Mar 2012 10:00:00 GMT</pubDate>")
	beforeFeeds := fmt.Sprintf(item, "zero", "<pubDate>Mon, 01 Jan 0001 00:00:00 +0000</pubDate>")
	store := worktest.StoreWith(t, worktest.Blog)
	p, out := parserOf(store)
	for _, test := range []struct {
		body   string
		pushed bool
		known  bool // an empty document came before
		want   time.Time
	}{
		{body(about), true, false, time.Time{}},
		{body(about), false, true, time.Time{}},
		{body(about, beforeFeeds), false, false, worktest.Noon.AddDate(-1, 0, 0)},
		{body(about, old), false, false, time.Date(2012, 3, 5, 10, 0, 0, 0, time.UTC)},
	} {
		task := worktest.ParseTask(t, test.body)
		task.Known = test.known
		if test.pushed {
			task.Receipt = subjects.PushReceipt(task.FeedID, 0, task.BodyHash, task.Size, task.Fetched)
		}
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if got := worktest.Only(t, out, subjects.PrepareQueue); !got.Undated.Equal(test.want) {
			t.Errorf("%s, pushed %t: undated entries are of %v, want %v", test.body, test.pushed, got.Undated, test.want)
		}
	}
	storeEntries(t, store, []subjects.Entry{{Key: "x", Hash: "1"}})
	if err := p.Receive(t.Context(), worktest.ParseTask(t, body(about))); err != nil {
		t.Fatal(err)
	}
	if got := worktest.Only(t, out, subjects.PrepareQueue); !got.Undated.IsZero() {
		t.Errorf("undated entries of a feed with items are of %v, want the time of the fetch", got.Undated)
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
		if err := p.Receive(t.Context(), worktest.ParseTask(t, test.body)); err != nil {
			t.Fatal(err)
		}
		got := worktest.Only(t, out, subjects.ObserveQueue).Observations[0]
		if got.Outcome != subjects.Failed || got.Class != string(test.kind) || got.Error == "" || got.Receipt != worktest.ParseTask(t, "").Receipt {
			t.Errorf("%.20q: got %+v, want a failure of class %q with text and receipt", test.body, got, test.kind)
		}
	}
}

func TestParse_InvalidBodies(t *testing.T) {
	for _, test := range []struct{ name, words string }{{"plain", "decompress"}, {"large", "larger than"}} {
		p, out := parserOf(enginetest.Store(t))
		task := worktest.ParseTask(t, worktest.RSS("a b c", worktest.Plainly))
		if test.name == "plain" {
			task.Body = []byte("not in gzip")
		} else {
			p.maxBody = 100
		}
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		got := worktest.Only(t, out, subjects.ObserveQueue).Observations[0]
		if got.Outcome != subjects.Failed || got.Class != string(feed.Broken) || !strings.Contains(got.Error, test.words) {
			t.Errorf("%s: got %+v, want a failure with text %q", test.name, got, test.words)
		}
	}
}

// unavailableStore is a store whose reads fail.
type unavailableStore struct{ storage.Store }

func (unavailableStore) ItemHashes(context.Context, string, []string) (map[string]string, error) {
	return nil, worktest.ErrAway
}

func TestParse_IsRetriedWithoutStore(t *testing.T) {
	p, out := parserOf(unavailableStore{enginetest.Store(t)})
	if err := p.Receive(t.Context(), worktest.ParseTask(t, worktest.RSS("a", worktest.Plainly))); !errors.Is(err, worktest.ErrAway) || len(out.Messages) != 0 {
		t.Errorf("got %v and %d messages, want the store's error and none", err, len(out.Messages))
	}
}

func TestFullText_RoutesDocuments(t *testing.T) {
	for _, c := range []struct {
		name    string
		tags    string // of the setting
		receipt bool   // requests full text
		feed    string // the feed's tags
		depth   subjects.Depth
		want    bool
	}{
		{name: "nobody wants it", feed: "it,news"},
		{name: "the feed's setting", receipt: true, want: true},
		{name: "all", tags: "all", want: true},
		{name: "by a tag", tags: "blogs,IT", feed: "news,it", want: true},
		{name: "by another tag", tags: "blogs", feed: "news,it"},
		{name: "a feed without tags", tags: "blogs"},
		{name: "a long queue", receipt: true, depth: subjects.Depth{Fill: 0.6}},
		{name: "a queue that stands still", receipt: true, depth: subjects.Depth{Oldest: 700}},
		{name: "a queue in use", receipt: true, depth: subjects.Depth{Fill: 0.4, Oldest: 300}, want: true},
	} {
		store := enginetest.Store(t)
		split := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		if _, err := store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(worktest.Blog), URL: worktest.Blog, Added: worktest.Noon, Tags: split(c.feed)}); err != nil {
			t.Fatal(err)
		}
		p, out := parserOf(store)
		c.depth.Queue = subjects.PageQueue.Name
		p.fullText = &fullText{tags: split(c.tags), depths: func(context.Context) ([]subjects.Depth, error) {
			return []subjects.Depth{{Queue: "parse", Fill: 1}, c.depth}, nil
		}}
		task := worktest.ParseTask(t, worktest.RSS("a b", worktest.Plainly))
		task.FullText = c.receipt
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if !c.want {
			worktest.Only(t, out, subjects.PrepareQueue)
			continue
		}
		got := worktest.Only(t, out, subjects.PageQueue)
		if worktest.Titles(got.Entries) != "a b " || got.Receipt != task.Receipt || got.Title != "Blog" {
			t.Errorf("%s: got page task %+v, want the document with its two entries", c.name, got)
		}
	}
}

func TestParse_LinkHeaderPrecedesDocument(t *testing.T) {
	const document = `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://own.example/"/>
		<link rel="self" href="http://blog.example/own"/><entry><id>a</id><title>a</title></entry></feed>`
	for _, c := range []struct{ hub, self, wantHub, wantSelf string }{
		{wantHub: "https://own.example/", wantSelf: "http://blog.example/own"},
		{hub: worktest.Hub, wantHub: worktest.Hub, wantSelf: "http://blog.example/own"},
		{hub: worktest.Hub, self: worktest.Blog, wantHub: worktest.Hub, wantSelf: worktest.Blog},
	} {
		p, out := parserOf(worktest.StoreWith(t, worktest.Blog))
		task := worktest.ParseTask(t, document)
		task.Hub, task.Self = c.hub, c.self
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if h := worktest.Only(t, out, subjects.PrepareQueue).Hints; h.Hub != c.wantHub || h.Self != c.wantSelf {
			t.Errorf("header %q, %q: got %q, %q; want %q, %q", c.hub, c.self, h.Hub, h.Self, c.wantHub, c.wantSelf)
		}
	}
}

func TestParse_PushReportsEntriesOnly(t *testing.T) {
	store := worktest.StoreWith(t, worktest.Blog)
	p, out := parserOf(store)
	task := worktest.ParseTask(t, worktest.RSS("a b", worktest.Plainly))
	task.Hub = worktest.Hub
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if d := worktest.Only(t, out, subjects.PrepareQueue).Document; d.Rate == 0 || d.Hints == nil || len(d.Dates) != 2 {
		t.Errorf("fetched: got %+v, want rate, hints and dates", d)
	}
	task.Receipt = subjects.PushReceipt(task.FeedID, 0, "hash", 1, worktest.Noon)
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if d := worktest.Only(t, out, subjects.PrepareQueue).Document; d.Rate != 0 || d.Hints != nil || len(d.Dates) != 2 {
		t.Errorf("pushed: got %+v, want only dates, because the feed may contain more entries", d)
	}
}
