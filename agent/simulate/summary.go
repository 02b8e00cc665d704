package simulate

import (
	"bytes"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/opml"
)

// A Summary contains the totals of a [Web] since its start.
type Summary struct {
	Days      float64     `json:"days"` // simulated
	Feeds     int         `json:"feeds"`
	Polled    int         `json:"polled"`   // feeds requested at least once
	Requests  int         `json:"requests"` // for feeds
	Polls     int         `json:"polls"`    // requests without continuations of a poll: see [Visit]
	PollsADay float64     `json:"polls_a_day"`
	Status    map[int]int `json:"status"` // requests by status, 0 for none
	Bytes     int64       `json:"bytes"`  // of complete documents, as sent

	Early        int     `json:"early"`         // polls before the end of Retry-After
	Overlaps     int     `json:"overlaps"`      // requests during another to the same host
	MostAtOnce   int     `json:"most_at_once"`  // maximum of concurrent requests to one host
	LeastSpacing float64 `json:"least_spacing"` // minimum of real seconds between the starts of two polls of one host; 0 if none
	Conditional  float64 `json:"conditional"`   // conditional share of the polls that could be conditional

	Published int     `json:"published"`  // entries since the start
	Served    int     `json:"served"`     // different entries received by clients, earlier ones included
	Lost      int     `json:"lost"`       // entries that appeared and disappeared between two received documents
	MeanDelay float64 `json:"mean_delay"` // simulated seconds from publication to reception, of entries published after a feed's first document

	repeats, conditional int // polls after a document with validators, and those that sent them
}

// Summary returns the current totals.
func (w *Web) Summary() Summary {
	now := w.settings.Now()
	published := 0
	for i := range w.rates {
		p := w.publisher(i)
		published += p.published(now) - p.published(w.ledger.began)
	}
	l := w.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.summary
	s.Status = maps.Clone(s.Status)
	s.Days, s.Feeds, s.Published = now.Sub(l.began).Hours()/24, len(l.feeds), published
	for _, f := range l.feeds {
		if f.polled {
			s.Polled++
		}
	}
	if s.Days > 0 {
		s.PollsADay = float64(s.Polls) / s.Days
	}
	if s.repeats > 0 {
		s.Conditional = float64(s.conditional) / float64(s.repeats)
	}
	if l.delayed > 0 {
		s.MeanDelay = (l.delay / time.Duration(l.delayed)).Seconds()
	}
	return s
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
