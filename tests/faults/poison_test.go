//go:build linux

package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A badDocument is a document made to break feed readers.
type badDocument struct {
	name  string
	kind  string // its content type
	serve func(w http.ResponseWriter)
	good  int // number of its valid items
}

// badDocuments are documents that have broken parsers and stores, of this project or others.
var badDocuments = []badDocument{
	{"null items", "application/feed+json", text(`{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[null],"authors":[null]}`), 0},
	{"namespaces", "application/rss+xml", text(rss(nested(20_000, func(i int) string { return fmt.Sprintf(`<a xmlns:n%d="u%d">`, i, i) }, "</a>"))), 0},
	{"depth", "application/rss+xml", text(rss(nested(200_000, func(int) string { return "<a>" }, "</a>"))), 0},
	{"invalid UTF-8", "application/rss+xml", text(rss(item("utf8", "\xff\xfe\xc3\x28\xa0\xa1 and more") + item("other", "fine"))), 2},
	{"NUL", "application/rss+xml", text(rss(item("nul", "a\x00b&#0;c") + item("other", "fine"))), 2},
	{"NUL in JSON", "application/feed+json", text(`{"version":"https://jsonfeed.org/version/1.1","title":"a\u0000b","items":[{"id":"a\u0000b","url":"https://nul.example/\u0000","title":"a\u0000b","content_html":"a\u0000b","tags":["a\u0000b"],"authors":[{"name":"a\u0000b"}]}]}`), 1},
	{"bomb", "application/rss+xml", func(w http.ResponseWriter) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb)
	}, 0},
	{"endless", "application/rss+xml", func(w http.ResponseWriter) {
		io.WriteString(w, "<rss><channel><title>endless</title>")
		for {
			if _, err := io.WriteString(w, strings.Repeat(item("endless", "more"), 100)); err != nil {
				return
			}
		}
	}, 0},
}

func text(s string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { io.WriteString(w, s) }
}

func rss(body string) string {
	return `<?xml version="1.0"?><rss version="2.0"><channel><title>bad</title><link>https://bad.example/</link>` + body + `</channel></rss>`
}

// item returns an item with the text in every field.
func item(name, text string) string {
	return fmt.Sprintf("<item><title>%s</title><link>https://%x.example/%s</link><guid>%s</guid><author>%s</author><category>%s</category><description>%s</description></item>",
		text, name, text, text, text, text, text)
}

func nested(n int, open func(int) string, end string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(open(i))
	}
	b.WriteString(strings.Repeat(end, n))
	return b.String()
}

// bomb decompresses to 200 MB.
var bomb = func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 200 {
		w.Write(zeros)
	}
	w.Close()
	return b.Bytes()
}()

func badPath(i int) string { return fmt.Sprintf("/bad/%d", i) }

// serveBad serves the bad documents.
func serveBad(hosts *http.ServeMux) {
	for i, d := range badDocuments {
		hosts.HandleFunc(badPath(i), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", d.kind)
			d.serve(w)
		})
	}
}

// poison adds feeds with bad documents, on hosts that also have good feeds, and removes them at the end. The
// bad feeds may fail, without any other effect.
func poison(m *mesh, r *run) {
	var urls []string
	for i := range badDocuments {
		urls = append(urls, "http://"+m.feedServer.host(i)+badPath(i))
	}
	before := m.quarantined(r)
	add := func(ctx context.Context, c *client.Client) error {
		_, err := client.Call(ctx, c, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}})
		return err
	}
	if err := eventually(observationTimeout, func() error { return m.request(add) }); err != nil {
		r.miss("add the bad feeds: %v", err)
	}
	r.rest()
	if n := m.quarantined(r) - before; n > 1 {
		m.logQuarantine()
		r.miss("%d tasks were quarantined", n)
	}
	m.removeFeeds(r, urls)
}

// quarantined returns the number of tasks in quarantine.
func (m *mesh) quarantined(r *run) int {
	var status wire.Status
	err := eventually(observationTimeout, func() (err error) {
		if err := m.takeGarbage(nil); err != nil {
			return err
		}
		status, err = m.status()
		return err
	})
	if err != nil {
		r.miss("list the quarantine: %v", err)
	}
	for _, q := range status.Queues {
		if q.Queue == subjects.QuarantineStream {
			return int(q.Tasks)
		}
	}
	return 0
}

// observationTimeout is the timeout of the first observation of a bad document. The task of a stopped agent waits
// for its redelivery and, if that fails too, until it counts as lost: 45 s and twice the waits in the queues, which
// are long on a loaded machine.
const observationTimeout = 6 * time.Minute

// removeFeeds removes feeds with bad documents, after the first observation of each.
func (m *mesh) removeFeeds(r *run, urls []string) {
	found, err := m.badFeeds()
	for began := time.Now(); !allPolled(found) && time.Since(began) < observationTimeout; found, err = m.badFeeds() {
		time.Sleep(time.Second)
	}
	if err != nil || len(found) != len(urls) {
		r.miss("got %d bad feeds, want %d (%v)", len(found), len(urls), err)
	}
	for _, f := range found {
		bad := badDocuments[slices.Index(urls, f.URL)]
		items, err := m.ledger.itemsOf(m.ctx, f.URL)
		switch {
		case err != nil:
			r.miss("%v", err)
		case !allPolled([]wire.Feed{f}):
			r.miss("no observation of the feed with %s", bad.name)
		case items != bad.good:
			r.miss("the feed with %s: %d items are stored, want %d", bad.name, items, bad.good)
		default:
			m.logf("%s: %s %s", bad.name, f.State.Outcome, f.State.Error)
		}
		err = m.request(func(ctx context.Context, c *client.Client) error {
			_, err := client.Call(ctx, c, wire.RemoveFeed, wire.ByID{ID: f.ID})
			return err
		})
		if err != nil {
			r.miss("%v", err)
		}
	}
}

// allPolled reports whether all feeds have an observation.
func allPolled(feeds []wire.Feed) bool {
	return !slices.ContainsFunc(feeds, func(f wire.Feed) bool { return f.State == nil || f.State.Polled.IsZero() })
}

// badFeeds returns the feeds with bad documents.
func (m *mesh) badFeeds() ([]wire.Feed, error) {
	var bad []wire.Feed
	for after := ""; ; {
		var page wire.FeedPage
		err := m.request(func(ctx context.Context, c *client.Client) (err error) {
			page, err = client.Call(ctx, c, wire.ListFeeds, wire.FeedSearch{After: after, Limit: 500})
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, f := range page.Feeds {
			if strings.Contains(f.URL, "/bad/") {
				bad = append(bad, f)
			}
		}
		if after = page.Next; after == "" {
			return bad, nil
		}
	}
}
