package simulate

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"feedmesh/agent/opml"
)

// Settings configure a [Web].
type Settings struct {
	Feeds  int
	Hosts  int     // over which the feeds are distributed
	Seed   uint64  // of all random properties: the same seed gives the same feeds
	Rate   float64 // mean rate of a feed, items a day
	Window int     // maximum number of entries in each document; 0: from 10 to 50, different for each feed
	Faults Faults
	Now    func() time.Time // returns the time, as [Clock.Now] does; nil: the system time
	Log    string           // file to which a line for each request is appended; "" disables it
}

const (
	maxFeeds = 1_000_000
	maxHosts = 62_500 // from 127.1.0.1 to 127.1.249.250
	maxRate  = 50
)

// Validate returns all errors of the settings together.
func (s Settings) Validate() error {
	var faults []error
	if s.Feeds < 1 || s.Feeds > maxFeeds {
		faults = append(faults, fmt.Errorf("feeds: %d is not between 1 and %d", s.Feeds, maxFeeds))
	}
	if s.Hosts < 1 || s.Hosts > maxHosts {
		faults = append(faults, fmt.Errorf("hosts: %d is not between 1 and %d", s.Hosts, maxHosts))
	}
	if !(s.Rate > 0 && s.Rate <= maxRate) {
		faults = append(faults, fmt.Errorf("rate: %v is not between 0 and %v items a day", s.Rate, maxRate))
	}
	return errors.Join(faults...)
}

// A Web is a set of synthetic feeds that publish like real ones, without commands: few of them publish most
// items, most by day, in many formats, and some have faults. Their content is computed for each request. Feed
// i is at /feed/i on host i modulo the number of hosts. Further paths are /feeds.opml, the list of feeds;
// /ledger, a [Summary] of all requests; and /log, the log. Its methods may be called concurrently.
type Web struct {
	settings Settings
	rates    []float64 // items a day, by feed
	kept     documents
	ledger   *ledger
	routes   http.ServeMux
}

// NewWeb returns a web with these settings, which must be valid. The caller must close it.
func NewWeb(s Settings) (*Web, error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	w := &Web{settings: s, rates: rates(s.Feeds, s.Rate, s.Seed)}
	w.ledger = newLedger(w)
	if s.Log != "" {
		file, err := os.OpenFile(s.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, fmt.Errorf("open the log of requests: %w", err)
		}
		w.ledger.log = file
	}
	w.routes.HandleFunc("GET /feed/{feed}", w.serveFeed)
	w.routes.HandleFunc("GET "+movedTo+"{feed}", w.serveFeed)
	w.routes.HandleFunc("GET /feeds.opml", w.serveList)
	w.routes.HandleFunc("GET /ledger", w.serveSummary)
	w.routes.HandleFunc("GET /log", w.serveLog)
	return w, nil
}

// Close closes the log.
func (w *Web) Close() error { return w.ledger.close() }

// ServeHTTP serves the feeds of all hosts.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) { w.routes.ServeHTTP(rw, r) }

// Host returns the IP address of a feed's host: 127.0.0.1 if all feeds share one host.
func (w *Web) Host(feed int) string {
	if w.settings.Hosts == 1 {
		return "127.0.0.1"
	}
	host := feed % w.settings.Hosts
	return fmt.Sprintf("127.1.%d.%d", host/250, 1+host%250)
}

// Feeds returns all feeds with their URLs at a port.
func (w *Web) Feeds(port int) []opml.Feed {
	feeds := make([]opml.Feed, w.settings.Feeds)
	for i := range feeds {
		feeds[i] = opml.Feed{
			URL: fmt.Sprintf("http://%s:%d/feed/%d", w.Host(i), port, i), Title: siteTitle(i), Site: site(i), Tags: []string{language(i)},
		}
	}
	return feeds
}

func siteTitle(feed int) string { return fmt.Sprintf("Site %d", feed) }
func site(feed int) string      { return fmt.Sprintf("https://site%d.example/", feed) }

// serveFeed serves one feed, at its own URL or at its redirect target.
func (w *Web) serveFeed(rw http.ResponseWriter, r *http.Request) {
	feed, err := strconv.Atoi(r.PathValue("feed"))
	if err != nil || feed < 0 || feed >= w.settings.Feeds {
		http.NotFound(rw, r)
		return
	}
	p := w.publisher(feed)
	if r.URL.Path[:len(movedTo)] == movedTo && !p.fault.moves() {
		http.NotFound(rw, r)
		return
	}
	v := w.ledger.begin(feed, r)
	a := w.answer(p, r, v.Start)
	whole := a.send(rw, r)
	w.ledger.end(v, a, p, whole)
}
