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

// A Summary is what became of a [Web] since it began.
type Summary struct {
	Days      float64     `json:"days"` // by the web's clock
	Feeds     int         `json:"feeds"`
	Polled    int         `json:"polled"`   // feeds that were asked for at all
	Requests  int         `json:"requests"` // for feeds
	Polls     int         `json:"polls"`    // requests but for those that go on with one: see [Visit]
	PollsADay float64     `json:"polls_a_day"`
	Status    map[int]int `json:"status"` // requests by the status they got, 0 for none
	Bytes     int64       `json:"bytes"`  // of whole documents, as sent

	Early        int     `json:"early"`         // polls before the time that Retry-After named
	Overlaps     int     `json:"overlaps"`      // requests that came while another to the same host was under way
	MostAtOnce   int     `json:"most_at_once"`  // requests under way to one host
	LeastSpacing float64 `json:"least_spacing"` // real seconds between the starts of two polls of one host; 0 if there were none
	Conditional  float64 `json:"conditional"`   // share of the polls that could be conditional which were

	Published int     `json:"published"`  // entries since the web began
	Served    int     `json:"served"`     // different entries that were got, those from before included
	Lost      int     `json:"lost"`       // entries that came and went between two documents that were got
	MeanDelay float64 `json:"mean_delay"` // seconds by the web's clock from published to got, of what was published after a feed's first document

	again, conditional int // polls after a document with validators, and how many of them told those
}

// Summary returns what became of the web so far.
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
	if s.again > 0 {
		s.Conditional = float64(s.conditional) / float64(s.again)
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
		http.Error(rw, "no log is kept: start the farm with --log FILE", http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", "application/x-ndjson")
	http.ServeFile(rw, r, w.settings.Log)
}

func (w *Web) serveList(rw http.ResponseWriter, r *http.Request) {
	address, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !is {
		http.Error(rw, "there is no port to list the feeds by", http.StatusInternalServerError)
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
