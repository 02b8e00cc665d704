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

	"feedmesh/agent/fetch"
	"feedmesh/subjects"
)

// blankWith returns what was unpacked to a shelf's blank.
func blankWith(s *shelf, text string) *bytes.Buffer {
	b := s.blank()
	b.WriteString(text)
	return b
}

func TestParseTakesWhatCrawlUnpacked(t *testing.T) {
	document := rss("a b c", plainly)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed(t, []byte(document)))
	}))
	t.Cleanup(site.Close)
	client := fetch.New(fetch.Options{Timeout: time.Minute, MaxBody: 1 << 20, MaxPacked: 1 << 20, Parallel: 1,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(client.Close)
	c, out := crawlerOf(&web{}, 1)
	c.fetch, c.shelf = client, new(shelf)
	defer c.shelf.read()()
	p, news := parserOf(storeWith(t, site.URL))
	p.shelf = c.shelf
	if err := c.Receive(t.Context(), crawlOf(site.URL)); err != nil {
		t.Fatal(err)
	}
	task := sent(t, out, subjects.Parses)[0]
	body := task.Body
	task.Body = nil // so that only the shelf has it
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	task.Body = body // it is taken once: a second attempt unpacks it
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	prepares := sent(t, news, subjects.Prepares)
	for i, prepare := range prepares {
		if got := titles(prepare.Entries); got != "a b c " {
			t.Errorf("attempt %d: got entries %q, want a, b and c", i+1, got)
		}
	}
	if len(prepares) != 2 {
		t.Errorf("got %d documents read, want 2", len(prepares))
	}
	// What is as it was is nobody's to take.
	again := crawlOf(site.URL)
	again.Feeds[0].BodyHash = task.BodyHash
	if err := c.Receive(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if c.shelf.take(task.BodyHash) != nil || c.shelf.size != 0 {
		t.Error("a document is on the shelf that is not new")
	}
}

func TestWithoutAReaderNothingIsPutOnTheShelf(t *testing.T) {
	var s shelf
	if s.blank() != nil {
		t.Error("a blank is handed out before anybody reads")
	}
	end := s.read()
	if s.blank() == nil {
		t.Error("no blank is handed out while somebody reads")
	}
	end()
	if s.blank() != nil {
		t.Error("a blank is handed out though nobody reads any more")
	}
}

func TestTheShelfIsBounded(t *testing.T) {
	var s shelf
	defer s.read()()
	for i := range 4 * shelfBytes / (64 << 10) {
		s.put(fmt.Sprint(i), blankWith(&s, strings.Repeat("x", 64<<10)))
	}
	held := 0
	for _, one := range s.held {
		held += one.body.Cap() + shelfEach
	}
	if held != s.size || held > shelfBytes || held < shelfBytes/2 {
		t.Errorf("got %d bytes on the shelf, of which it knows %d, want up to %d", held, s.size, shelfBytes)
	}
	if s.take("0") == nil {
		t.Error("what came first made room for what came last")
	}
	s.put("large", blankWith(&s, strings.Repeat("x", 3*fetch.MaxPlain)))
	if s.take("large") != nil {
		t.Error("a document is on the shelf that is too large for it")
	}
	if b := s.blank(); b.Cap() > maxKept {
		t.Errorf("a buffer of %d bytes is kept", b.Cap())
	}
}

func TestWhatNobodyTakesLeavesTheShelf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shelf
		defer s.read()()
		s.put("old", blankWith(&s, "of another agent's task"))
		time.Sleep(shelfTime - time.Second)
		s.put("young", blankWith(&s, "a moment ago"))
		time.Sleep(2 * time.Second)
		s.put("new", blankWith(&s, "now"))
		for hash, want := range map[string]bool{"old": false, "young": true, "new": true} {
			if got := s.take(hash) != nil; got != want {
				t.Errorf("%s: got %v on the shelf, want %v", hash, got, want)
			}
		}
		if s.size != 0 {
			t.Errorf("the empty shelf holds %d bytes", s.size)
		}
	})
}
