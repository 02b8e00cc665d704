// Package simulate makes synthetic feeds over HTTP and keeps a ledger of what they
// published and served: a [Farm] of those that publish when told, for tests that
// must know of each entry, and a [Web] of those that behave like real ones, any
// number of them. It does not know the roles that read them.
package simulate

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Farm serves feeds at /feed/N, for N from 0. Its methods may be called
// concurrently.
type Farm struct {
	first int       // entries that each feed had at the start
	epoch time.Time // when those were published
	kept  documents

	mu      sync.Mutex
	window  int // entries that a document shows, at most
	feeds   []feed
	latency time.Duration
	log     []Request
	full    int // requests that got a document
}

// feed is one synthetic feed. Its entries are numbered; it shows the newest.
type feed struct {
	published int               // entries so far
	served    []int             // by number: in how many documents it was that somebody got whole
	times     map[int]time.Time // by number, of those that were published by [Farm.PublishIn]
}

// NewFarm returns a farm of n feeds that have published items entries each and
// show as many.
func NewFarm(n, items int, epoch time.Time) *Farm {
	f := &Farm{first: items, window: items, epoch: epoch, feeds: make([]feed, n)}
	for i := range f.feeds {
		f.feeds[i].published = items
	}
	return f
}

// Path returns the path of the i-th feed.
func (f *Farm) Path(i int) string { return "/feed/" + strconv.Itoa(i) }

// Link returns the address of the seq-th entry of the i-th feed, both from 0.
func Link(i, seq int) string { return fmt.Sprintf("https://site%d.example/%d", i, seq) }

// Publish has every feed publish one more entry.
func (f *Farm) Publish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.feeds {
		f.feeds[i].published++
	}
}

// PublishIn has the i-th feed publish one more entry, now.
func (f *Farm) PublishIn(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	feed := &f.feeds[i]
	if feed.times == nil {
		feed.times = map[int]time.Time{}
	}
	feed.times[feed.published] = time.Now()
	feed.published++
}

// SetWindow has each feed show its n newest entries from now on.
func (f *Farm) SetWindow(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window = n
}

// SetLatency has every answer take that long, so that answers which are under way
// at once can be told in the log.
func (f *Farm) SetLatency(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = d
}

// Count returns how many requests came, and how many got a document.
func (f *Farm) Count() (requests, full int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log), f.full
}

// Served returns the links of all entries that were in a document which
// somebody got whole.
func (f *Farm) Served() []string {
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

// ServeHTTP serves a feed, conditionally and in gzip where the client can.
func (f *Farm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	f.note(request, shown)
}

// span is a range of entries by number, without the last.
type span struct{ from, to int }

// shown returns the entries that the i-th feed shows; f.mu must be held.
func (f *Farm) shown(i int) span {
	published := f.feeds[i].published
	return span{max(0, published-f.window), published}
}

// answer sends the i-th feed with these entries, and reports whether the whole
// document went out.
func (f *Farm) answer(w http.ResponseWriter, r *http.Request, i int, shown span) bool {
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
func (f *Farm) document(key documentKey, shown span) []byte {
	return f.kept.get(key, shown, func() []byte {
		body := f.render(key.feed, shown)
		if key.packed {
			body = zipped(body)
		}
		return body
	})
}

// Prepare makes the documents of all feeds as they are now, in gzip, as far as they
// fit into so many bytes, so that it costs little to send them.
func (f *Farm) Prepare(most int) {
	f.kept.keep(most)
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

// Document returns the i-th feed as it is now.
func (f *Farm) Document(i int) []byte {
	f.mu.Lock()
	shown := f.shown(i)
	f.mu.Unlock()
	return f.render(i, shown)
}

// render returns the i-th feed as RSS with these entries, newest first.
func (f *Farm) render(i int, shown span) []byte {
	d := document{title: fmt.Sprintf("Site %d", i), site: fmt.Sprintf("https://site%d.example/", i), language: language(i)}
	for seq := shown.to - 1; seq >= shown.from; seq-- {
		title, body := Text(i, seq)
		d.items = append(d.items, item{title, body, Link(i, seq), f.date(seq)})
	}
	return d.rss(nil)
}

// date returns when entries of this number were published: one an hour.
func (f *Farm) date(seq int) time.Time { return f.epoch.Add(time.Duration(seq-f.first) * time.Hour) }
