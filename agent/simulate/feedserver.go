// Package simulate serves synthetic feeds over HTTP and records the entries that they published and served. A
// [FeedServer] publishes on command, for tests that check each entry. A [Web] publishes by itself like real
// feeds, for any number of feeds, with optional faults. The roles that read the feeds are not part of it.
package simulate

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A FeedServer serves feeds at /feed/N, for N from 0. Its methods may be called concurrently.
type FeedServer struct {
	first int       // entries of each feed at the start
	epoch time.Time // publication time of those
	kept  documents

	mu      sync.Mutex
	window  int // maximum number of entries in a document
	feeds   []feed
	latency time.Duration
	log     []Request
	full    int // requests answered with a document
}

// A feed is one synthetic feed. Its entries are numbered; its document contains the newest.
type feed struct {
	published int               // number of entries
	served    []int             // by number: completely transferred documents with the entry
	times     map[int]time.Time // by number, of entries published by [FeedServer.PublishIn]
}

// NewFeedServer returns a server of n feeds with a number of entries each, all of them in the document.
func NewFeedServer(n, items int, epoch time.Time) *FeedServer {
	f := &FeedServer{first: items, window: items, epoch: epoch, feeds: make([]feed, n)}
	for i := range f.feeds {
		f.feeds[i].published = items
	}
	return f
}

// Path returns the path of the i-th feed.
func (f *FeedServer) Path(i int) string { return "/feed/" + strconv.Itoa(i) }

// Link returns the URL of the seq-th entry of the i-th feed, both from 0.
func Link(i, seq int) string { return fmt.Sprintf("https://site%d.example/%d", i, seq) }

// Publish publishes one more entry in every feed.
func (f *FeedServer) Publish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.feeds {
		f.feeds[i].published++
	}
}

// PublishIn publishes one more entry in the i-th feed, with the current time.
func (f *FeedServer) PublishIn(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	feed := &f.feeds[i]
	if feed.times == nil {
		feed.times = map[int]time.Time{}
	}
	feed.times[feed.published] = time.Now()
	feed.published++
}

// SetWindow sets the number of newest entries in each document.
func (f *FeedServer) SetWindow(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window = n
}

// SetLatency sets the duration of every response, which makes concurrent requests visible in the log.
func (f *FeedServer) SetLatency(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = d
}

// Count returns the number of requests, and of those answered with a document.
func (f *FeedServer) Count() (requests, full int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log), f.full
}

// Served returns the links of all entries in completely transferred documents.
func (f *FeedServer) Served() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var links []string
	for i, feed := range f.feeds {
		for seq, served := range feed.served {
			if served > 0 {
				links = append(links, Link(i, seq))
			}
		}
	}
	return links
}

// ServeHTTP serves a feed, with conditional requests and gzip if the client supports them.
func (f *FeedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/feed/"))
	if err != nil || i < 0 || i >= len(f.feeds) {
		http.NotFound(w, r)
		return
	}
	request := Request{Feed: i, Start: time.Now(), Conditional: r.Header.Get("If-None-Match") != ""}
	f.mu.Lock()
	shown, latency := f.shown(i), f.latency
	f.mu.Unlock()
	time.Sleep(latency)
	request.Full = f.answer(w, r, i, shown)
	request.End = time.Now()
	f.record(request, shown)
}

// shown returns the entries in the i-th feed's document; f.mu must be locked.
func (f *FeedServer) shown(i int) span {
	published := f.feeds[i].published
	return span{max(0, published-f.window), published}
}

// answer sends the i-th feed with these entries, and reports whether the whole document was sent.
func (f *FeedServer) answer(w http.ResponseWriter, r *http.Request, i int, shown span) bool {
	etag := fmt.Sprintf(`"%d-%d"`, i, shown.to)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return false
	}
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	packed := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	if packed {
		w.Header().Set("Content-Encoding", "gzip")
	}
	body := f.document(documentKey{i, packed}, shown)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, err := w.Write(body)
	return err == nil
}

// document returns a feed's document with these entries.
func (f *FeedServer) document(key documentKey, shown span) []byte {
	return f.kept.get(key, shown, func() []byte {
		body := f.render(key.feed, shown)
		if key.packed {
			body = zipped(body)
		}
		return body
	})
}

// Prepare renders and compresses the current documents of all feeds, up to a total number of bytes, so that
// sending them costs little.
func (f *FeedServer) Prepare(most int) {
	f.kept.setLimit(most)
	for i := range f.feeds {
		if f.kept.full() {
			return
		}
		f.mu.Lock()
		shown := f.shown(i)
		f.mu.Unlock()
		f.document(documentKey{i, true}, shown)
	}
}

// Document returns the current document of the i-th feed.
func (f *FeedServer) Document(i int) []byte {
	f.mu.Lock()
	shown := f.shown(i)
	f.mu.Unlock()
	return f.render(i, shown)
}

// render returns the i-th feed as RSS with these entries, newest first.
func (f *FeedServer) render(i int, shown span) []byte {
	d := document{title: fmt.Sprintf("Site %d", i), site: fmt.Sprintf("https://site%d.example/", i), language: language(i)}
	for seq := shown.to - 1; seq >= shown.from; seq-- {
		title, body := Text(i, seq)
		d.items = append(d.items, item{title, body, Link(i, seq), f.date(seq)})
	}
	return d.rss(nil)
}

// date returns the publication time of an entry: one entry an hour.
func (f *FeedServer) date(seq int) time.Time {
	return f.epoch.Add(time.Duration(seq-f.first) * time.Hour)
}

// A Request is a logged request for a feed.
type Request struct {
	Feed        int
	Start, End  time.Time
	Conditional bool // with validators
	Full        bool // answered with a completely transferred document
}

// An Entry is a published entry.
type Entry struct {
	Feed, Seq int
	Published time.Time // zero if it existed from the start
	Served    int       // completely transferred documents with it
}

// record records a request and the entries of its document.
func (f *FeedServer) record(r Request, shown span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, r)
	if !r.Full {
		return
	}
	f.full++
	served := &f.feeds[r.Feed].served
	*served = append(*served, make([]int, max(0, shown.to-len(*served)))...)
	for seq := shown.from; seq < shown.to; seq++ {
		(*served)[seq]++
	}
}

// Log returns the answered requests, ordered by the end of the response.
func (f *FeedServer) Log() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// Entries yields all published entries, feed by feed. It holds the server's lock: no other method may be
// called meanwhile.
func (f *FeedServer) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i, feed := range f.feeds {
			for seq := range feed.published {
				e := Entry{Feed: i, Seq: seq, Published: feed.times[seq]}
				if seq < len(feed.served) {
					e.Served = feed.served[seq]
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}
