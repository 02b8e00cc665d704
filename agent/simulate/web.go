package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"feedmesh/agent/opml"
)

// A Web is a set of synthetic feeds that publish like real ones, without commands: few of them publish most
// items, most by day, in many formats, and some have faults. Their content is computed for each request. Feed
// i is at /feed/i on host i modulo the number of hosts. Further paths are /feeds.opml, the list of feeds;
// /ledger, a [Summary] of all requests; and /log, the log. Its methods may be called concurrently.
type Web struct {
	publishers
	kept   documents
	ledger *ledger
	routes http.ServeMux
}

// NewWeb returns a web with these settings, which must be valid. The caller must close it.
func NewWeb(s Settings) (*Web, error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	w := &Web{publishers: publishers{s, rates(s.Feeds, s.Rate, s.Seed)}}
	w.ledger = newLedger(&w.publishers)
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

// Summary returns the current totals.
func (w *Web) Summary() Summary { return w.ledger.totals() }

// Close closes the log.
func (w *Web) Close() error { return w.ledger.close() }

// ServeHTTP serves the feeds of all hosts.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) { w.routes.ServeHTTP(rw, r) }

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
	a := p.answer(&w.kept, r, v.Start)
	whole := a.send(rw, r)
	w.ledger.end(v, a, p, whole)
}

func (w *Web) serveSummary(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(w.Summary())
}

func (w *Web) serveLog(rw http.ResponseWriter, r *http.Request) {
	if w.settings.Log == "" {
		http.Error(rw, "no request log: restart with --log FILE", http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", "application/x-ndjson")
	http.ServeFile(rw, r, w.settings.Log)
}

func (w *Web) serveList(rw http.ResponseWriter, r *http.Request) {
	address, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !is {
		http.Error(rw, "the request has no local port", http.StatusInternalServerError)
		return
	}
	_, port, _ := net.SplitHostPort(address.String())
	number, _ := strconv.Atoi(port)
	var list bytes.Buffer
	if err := opml.Write(&list, "Synthetic feeds", w.Feeds(number)); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	rw.Write(list.Bytes())
}

// forward serves a request to the proxy directly, without forwarding: this process serves all hosts.
func (w *Web) forward(rw http.ResponseWriter, r *http.Request) {
	host, err := netip.ParseAddr(r.URL.Hostname())
	if err != nil || !host.IsLoopback() || r.URL.Scheme != "http" {
		http.Error(rw, "this proxy serves only the hosts of the simulated web", http.StatusBadGateway)
		return
	}
	w.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), byProxy{}, true)))
}
