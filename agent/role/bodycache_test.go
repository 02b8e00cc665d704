package role

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/subjects"
)

// filledBuffer returns a buffer of the cache with a decompressed text.
func filledBuffer(s *bodyCache, text string) *bytes.Buffer {
	b := s.buffer()
	b.WriteString(text)
	return b
}

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
	c.fetcher, c.bodies = client, new(bodyCache)
	defer c.bodies.addReader()()
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
	if c.bodies.take(task.BodyHash) != nil || c.bodies.size != 0 {
		t.Error("got an unchanged document in the cache")
	}
}

func TestBodyCache_IsDisabledWithoutReader(t *testing.T) {
	var s bodyCache
	if s.buffer() != nil {
		t.Error("got a buffer before a reader is registered")
	}
	end := s.addReader()
	if s.buffer() == nil {
		t.Error("got no buffer with a reader registered")
	}
	end()
	if s.buffer() != nil {
		t.Error("got a buffer after the last reader left")
	}
}

func TestBodyCache_IsBounded(t *testing.T) {
	var s bodyCache
	defer s.addReader()()
	for i := range 4 * maxCacheBytes / (64 << 10) {
		s.put(fmt.Sprint(i), filledBuffer(&s, strings.Repeat("x", 64<<10)))
	}
	held := 0
	for _, one := range s.entries {
		held += one.body.Cap() + entryOverhead
	}
	if held != s.size || held > maxCacheBytes || held < maxCacheBytes/2 {
		t.Errorf("got %d cached bytes, counted %d, want at most %d", held, s.size, maxCacheBytes)
	}
	if s.take("0") == nil {
		t.Error("got the oldest entry evicted, want new ones rejected")
	}
	s.put("large", filledBuffer(&s, strings.Repeat("x", 3*fetch.MaxBuffered)))
	if s.take("large") != nil {
		t.Error("got an oversized document in the cache")
	}
	if b := s.buffer(); b.Cap() > maxPooledBuffer {
		t.Errorf("got a pooled buffer of %d bytes, want it discarded", b.Cap())
	}
}

func TestBodyCache_EntriesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s bodyCache
		defer s.addReader()()
		s.put("old", filledBuffer(&s, "of another agent's task"))
		time.Sleep(cacheMaxAge - time.Second)
		s.put("young", filledBuffer(&s, "a moment ago"))
		time.Sleep(2 * time.Second)
		s.put("new", filledBuffer(&s, "now"))
		for hash, want := range map[string]bool{"old": false, "young": true, "new": true} {
			if got := s.take(hash) != nil; got != want {
				t.Errorf("%s: got cached %v, want %v", hash, got, want)
			}
		}
		if s.size != 0 {
			t.Errorf("got %d bytes in the empty cache, want 0", s.size)
		}
	})
}
