package simulate

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// A parsed document contains the fields that the tests check.
type parsed struct {
	Title    string `xml:"channel>title"`
	Language string `xml:"channel>language"`
	Items    []struct {
		Title       string `xml:"title"`
		Link        string `xml:"link"`
		GUID        string `xml:"guid"`
		Date        string `xml:"pubDate"`
		Description string `xml:"description"`
	} `xml:"channel>item"`
}

func read(t *testing.T, b []byte) parsed {
	t.Helper()
	var d parsed
	if err := xml.Unmarshal(b, &d); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return d
}

// request requests a feed; headers are pairs of name and value.
func request(f *FeedServer, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestFeedServer_PrepareKeepsTheContent(t *testing.T) {
	t.Parallel()
	const feeds = 5
	f := NewFeedServer(feeds, 3, epoch)
	for round := range 3 {
		f.Prepare(1 << 20)
		if kept := len(f.kept.entries); kept != feeds {
			t.Errorf("got %d documents ready, want %d", kept, feeds)
		}
		for i := range feeds {
			z, err := gzip.NewReader(request(f, f.Path(i), "Accept-Encoding", "gzip").Body)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, f.Document(i)) {
				t.Errorf("round %d, feed %d: got %s, %v; want %s", round, i, got, err, f.Document(i))
			}
		}
		f.Publish()
	}
	small, most := NewFeedServer(feeds, 3, epoch), f.kept.size/2
	small.Prepare(most)
	if got := &small.kept; got.size > most || len(got.entries) == 0 {
		t.Errorf("got %d documents of %d bytes ready, want some, and no more than %d bytes", len(got.entries), got.size, most)
	}
}

func TestFeedServer_IsReproducible(t *testing.T) {
	t.Parallel()
	a, b := NewFeedServer(6, 5, epoch), NewFeedServer(9, 5, epoch)
	a.Publish()
	b.Publish()
	seen := map[string]int{}
	for i := range 6 {
		if !bytes.Equal(a.Document(i), b.Document(i)) || !bytes.Equal(a.Document(i), a.Document(i)) {
			t.Errorf("feed %d differs", i)
		}
		seen[string(a.Document(i))]++
	}
	if len(seen) != 6 {
		t.Errorf("got %d different feeds, want 6", len(seen))
	}
}

// Benchmarks of different versions must be comparable.
func TestFeedServer_TextsAreStable(t *testing.T) {
	t.Parallel()
	for i, want := range []string{"hardware attack Basofa vulnerabilities supports Vamoda x8cc99d736f", "search user Rovose deployed tool Besopa x2da190e578", "есть таблица Богазо версию были Мавипе x55ba88e4b6"} {
		if got, _ := Text(i, 7); got != want {
			t.Errorf("the title of entry 7 of feed %d: got %q, want %q", i, got, want)
		}
	}
}

func TestFeedServer_EntriesAreNumberedInTheFeedsLanguage(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(3, 5, epoch)
	seenWords := map[string]bool{}
	for i, language := range []string{"en", "en", "ru"} {
		d := read(t, f.Document(i))
		if d.Language != language || len(d.Items) != 5 {
			t.Errorf("feed %d: got %d entries in %q, want 5 in %q", i, len(d.Items), d.Language, language)
		}
		for n, it := range d.Items {
			seq := 4 - n // newest first
			title, body := Text(i, seq)
			if it.Title != title || it.Description != body || it.Link != Link(i, seq) || it.GUID != it.Link {
				t.Errorf("entry %d of feed %d: got %+v, want %q at %s", seq, i, it, title, Link(i, seq))
			}
			if at, err := time.Parse(time.RFC1123Z, it.Date); err != nil || !at.Equal(epoch.Add(time.Duration(seq-5)*time.Hour)) {
				t.Errorf("entry %d of feed %d: got %v, %v; want an entry per hour, the newest before %v", seq, i, at, err, epoch)
			}
			if !strings.HasSuffix(title, " "+UniqueWord(i, seq)) || seenWords[UniqueWord(i, seq)] {
				t.Errorf("entry %d of feed %d: got the title %q, want it to end with a word of its own", seq, i, title)
			}
			if n := len(title) + len(body); n < 1500 || n > 6000 {
				t.Errorf("entry %d of feed %d: got %d bytes, want some 2 KB of text", seq, i, n)
			}
			seenWords[UniqueWord(i, seq)] = true
		}
	}
}

func TestFeedServer_WindowContainsTheNewest(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(1, 3, epoch)
	for published := 3; published < 8; published++ {
		d := read(t, f.Document(0))
		var got, want []string
		for n, it := range d.Items {
			got, want = append(got, it.Link), append(want, Link(0, published-1-n))
		}
		if len(got) != 3 || !slices.Equal(got, want) {
			t.Errorf("after %d: got %v, want the newest 3, %v", published, got, want)
		}
		f.Publish()
	}
}

func TestFeedServer_ETagChangesWithTheFeedOnly(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(2, 3, epoch)
	first := request(f, f.Path(0))
	etag := first.Header().Get("ETag")
	if first.Code != 200 || etag == "" || etag == request(f, f.Path(1)).Header().Get("ETag") {
		t.Errorf("got %d and ETag %s, want 200 and a distinct ETag", first.Code, etag)
	}
	for range 2 {
		if w := request(f, f.Path(0), "If-None-Match", etag); w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("ETag") != etag {
			t.Errorf("unchanged: got %d, %d bytes, ETag %s; want 304, none, %s", w.Code, w.Body.Len(), w.Header().Get("ETag"), etag)
		}
	}
	f.Publish()
	if w := request(f, f.Path(0), "If-None-Match", etag); w.Code != 200 || w.Header().Get("ETag") == etag {
		t.Errorf("changed: got %d, ETag %s; want 200 and another", w.Code, w.Header().Get("ETag"))
	}
}

func TestFeedServer_CompressesOnRequest(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(1, 3, epoch)
	plain, packed := request(f, f.Path(0)), request(f, f.Path(0), "Accept-Encoding", "gzip, br")
	for _, w := range []*httptest.ResponseRecorder{plain, packed} {
		if got, want := w.Header().Get("Content-Length"), fmt.Sprint(w.Body.Len()); got != want || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/rss+xml") {
			t.Errorf("got %v, want a length of %s and RSS", w.Header(), want)
		}
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("got %v, %v; want gzip", packed.Header(), err)
	}
	unpacked, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(unpacked, f.Document(0)) || !bytes.Equal(plain.Body.Bytes(), f.Document(0)) || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("got other bytes in gzip (%v) or plain", err)
	}
}

func TestFeedServer_MissingFeedIsNotFound(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(2, 3, epoch)
	for _, path := range []string{"/", "/feed/", "/feed/2", "/feed/-1", "/feed/x", "/feed/0/", "/other/0", "/feed/99999999999999999999"} {
		if w := request(f, path); w.Code != 404 {
			t.Errorf("%s: got %d, want 404", path, w.Code)
		}
	}
	if requests, full := f.Count(); requests != 0 || full != 0 {
		t.Errorf("got %d requests and %d documents counted, want none", requests, full)
	}
}

// A broken writer loses its client.
type broken struct {
	http.ResponseWriter
}

func (broken) Write([]byte) (int, error) { return 0, errors.New("client disconnected") }

func TestFeedServer_RecordsCompleteDocuments(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(2, 2, epoch)
	check := func(when string, requests, full int, served ...string) {
		t.Helper()
		r, n := f.Count()
		if got := f.Served(); r != requests || n != full || !slices.Equal(got, served) {
			t.Errorf("%s: got %d requests, %d documents, %v; want %d, %d, %v", when, r, n, got, requests, full, served)
		}
	}
	check("before all", 0, 0)
	f.ServeHTTP(broken{httptest.NewRecorder()}, httptest.NewRequest("GET", f.Path(0), nil))
	check("after half a document", 1, 0)
	etag := request(f, f.Path(0)).Header().Get("ETag")
	check("after one", 2, 1, Link(0, 0), Link(0, 1))
	f.Publish()
	check("after another entry", 2, 1, Link(0, 0), Link(0, 1))
	f.Document(0)
	request(f, f.Path(1), "If-None-Match", `"1-3"`)
	check("after requests without a complete document", 3, 1, Link(0, 0), Link(0, 1))
	request(f, f.Path(0), "If-None-Match", etag)
	check("after a changed one", 4, 2, Link(0, 0), Link(0, 1), Link(0, 2))
}

// An entry that appeared and disappeared between two requests was in no document.
func TestFeedServer_IgnoresUnservedEntries(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(1, 2, epoch)
	for range 5 {
		f.Publish()
	}
	request(f, f.Path(0))
	if got, want := f.Served(), []string{Link(0, 5), Link(0, 6)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want the contents of the document, %v", got, want)
	}
	f.Publish()
	request(f, f.Path(0))
	if got, want := f.Served(), []string{Link(0, 5), Link(0, 6), Link(0, 7)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFeedServer_PublishesOneFeedAtATime(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(2, 2, epoch)
	f.SetWindow(4)
	before := time.Now()
	for range 3 {
		f.PublishIn(1)
	}
	if got := len(read(t, f.Document(0)).Items); got != 2 {
		t.Errorf("the other feed: got %d entries, want 2 as before", got)
	}
	d := read(t, f.Document(1))
	if len(d.Items) != 4 || d.Items[0].Link != Link(1, 4) || d.Items[3].Link != Link(1, 1) {
		t.Errorf("got %d entries from %v, want the newest 4 of 5", len(d.Items), d.Items[0].Link)
	}
	request(f, f.Path(1))
	for e := range f.Entries() {
		if isNew := e.Feed == 1 && e.Seq >= 2; isNew != !e.Published.Before(before) || !isNew && !e.Published.IsZero() {
			t.Errorf("entry %d of feed %d: got %v, want a time for entries published individually only", e.Seq, e.Feed, e.Published)
		}
		if want := e.Feed == 1 && e.Seq >= 1; (e.Served == 1) != want {
			t.Errorf("entry %d of feed %d: got served %d times, want more than none for entries in the document only", e.Seq, e.Feed, e.Served)
		}
	}
}

func TestFeedServer_LogsEachRequest(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(3, 2, epoch)
	f.SetLatency(20 * time.Millisecond)
	etag := request(f, f.Path(2)).Header().Get("ETag")
	request(f, f.Path(2), "If-None-Match", etag)
	f.ServeHTTP(broken{httptest.NewRecorder()}, httptest.NewRequest("GET", f.Path(1), nil))
	log := f.Log()
	for i, want := range []Request{{Feed: 2, Full: true}, {Feed: 2, Conditional: true}, {Feed: 1}} {
		got := log[i]
		if got.End.Sub(got.Start) < 20*time.Millisecond {
			t.Errorf("request %d: took %v, want at least the latency", i, got.End.Sub(got.Start))
		}
		got.Start, got.End = time.Time{}, time.Time{}
		if got != want {
			t.Errorf("request %d: got %+v, want %+v", i, got, want)
		}
	}
}

func TestFeedServer_ServesConcurrently(t *testing.T) {
	t.Parallel()
	f := NewFeedServer(8, 2, epoch)
	server := httptest.NewServer(f)
	defer server.Close()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 5 {
				resp, err := http.Get(server.URL + f.Path(i))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				f.Publish()
				f.Served()
			}
		})
	}
	group.Wait()
	if requests, full := f.Count(); requests != 40 || full != 40 {
		t.Errorf("got %d requests and %d documents, want 40 of each", requests, full)
	}
}
