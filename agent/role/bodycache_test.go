package role

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/subjects"
)

func TestBodyCache_PassesBodiesFromCrawlToParse(t *testing.T) {
	document := rss("a b c", plainly)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(compressed(t, []byte(document)))
	}))
	t.Cleanup(site.Close)
	client := fetch.New(fetch.Options{Timeout: time.Minute, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 1,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(client.Close)
	c, out := crawlerOf(&web{}, 1)
	c.fetcher = client
	defer c.bodies.AddReader()()
	p, news := parserOf(storeWith(t, site.URL))
	p.bodies = c.bodies
	if err := c.Receive(t.Context(), crawlOf(site.URL)); err != nil {
		t.Fatal(err)
	}
	task := sent(t, out, subjects.ParseQueue)[0]
	body := task.Body
	task.Body = nil // so that only the cache has it
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	task.Body = body // a cached body is taken once: a retry decompresses the task's body
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	prepares := sent(t, news, subjects.PrepareQueue)
	for i, prepare := range prepares {
		if got := titles(prepare.Entries); got != "a b c " {
			t.Errorf("attempt %d: got entries %q, want a, b and c", i+1, got)
		}
	}
	if len(prepares) != 2 {
		t.Errorf("got %d documents parsed, want 2", len(prepares))
	}
	// An unchanged document is not cached.
	again := crawlOf(site.URL)
	again.Feeds[0].BodyHash = task.BodyHash
	if err := c.Receive(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if c.bodies.Take(task.BodyHash) != nil {
		t.Error("got an unchanged document in the cache")
	}
}
