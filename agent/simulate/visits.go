package simulate

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// A Visit is one request for a feed of a [Web], as logged. Times are simulated.
type Visit struct {
	Feed        int         `json:"feed"`
	Host        string      `json:"host"`
	Start       time.Time   `json:"start"`
	End         time.Time   `json:"end"`
	Conditional bool        `json:"conditional"` // with validators
	Follows     bool        `json:"follows"`     // continues the poll before it: after a redirect, or through the proxy after a 403
	Early       bool        `json:"early"`       // before the end of the Retry-After of the feed's last response
	Status      int         `json:"status"`      // 0 if it got no response
	Bytes       int         `json:"bytes"`       // of the body, as sent
	New         []Published `json:"new"`         // entries first received with this request
}

// A Published is an entry of a feed with its publication time.
type Published struct {
	Seq int       `json:"seq"`
	At  time.Time `json:"at"`
}

// A ledger records all visits, with a few bytes for each feed and each host.
type ledger struct {
	publishers *publishers
	began      time.Time // simulated

	mu      sync.Mutex
	log     *os.File // nil: no log
	feeds   []feedAccount
	hosts   []hostAccount
	summary Summary       // without the fields that are computed on request
	delay   time.Duration // sum over all entries with a measured delay
	delayed int           // number of those entries
}

// feedAccount contains the records of a feed's visitors.
type feedAccount struct {
	until     int64 // end of the last Retry-After, Unix seconds
	got       int32 // entries published at the last completely received document
	polled    bool
	read      bool // a document was completely received
	validated bool // and contained validators
	onward    bool // its last response was a redirect, or a 403 that the proxy avoids
}

// hostAccount contains the records of a host's visitors.
type hostAccount struct {
	inProgress int32
	last       time.Time // real time of the last poll's start
}

func newLedger(p *publishers) *ledger {
	return &ledger{
		publishers: p, began: p.settings.Now(), feeds: make([]feedAccount, p.settings.Feeds), hosts: make([]hostAccount, p.settings.Hosts),
		summary: Summary{Status: map[int]int{}},
	}
}

// begin records the start of a request.
func (l *ledger) begin(feed int, r *http.Request) Visit {
	v := Visit{
		Feed: feed, Host: l.publishers.Host(feed), Start: l.publishers.settings.Now(),
		Conditional: r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, h, s := &l.feeds[feed], &l.hosts[feed%len(l.hosts)], &l.summary
	v.Follows = f.onward && (proxied(r) || strings.HasPrefix(r.URL.Path, movedTo))
	v.Early = !v.Follows && v.Start.Unix() < f.until
	f.polled, f.onward, f.until = true, false, 0
	s.Requests++
	if h.inProgress++; h.inProgress > 1 {
		s.Overlaps++
	}
	s.MostAtOnce = max(s.MostAtOnce, int(h.inProgress))
	if v.Follows {
		return v
	}
	s.Polls++
	if v.Early {
		s.Early++
	}
	if f.validated {
		s.repeats++
		if v.Conditional {
			s.conditional++
		}
	}
	now := time.Now()
	if spacing := now.Sub(h.last); !h.last.IsZero() && (s.LeastSpacing == 0 || spacing.Seconds() < s.LeastSpacing) {
		s.LeastSpacing = spacing.Seconds()
	}
	h.last = now
	return v
}

// end records the result of a request.
func (l *ledger) end(v Visit, a answer, p publisher, whole bool) {
	v.End, v.Status = l.publishers.settings.Now(), a.status
	l.mu.Lock()
	defer l.mu.Unlock()
	f, s := &l.feeds[v.Feed], &l.summary
	l.hosts[v.Feed%len(l.hosts)].inProgress--
	s.Status[a.status]++
	f.onward = a.header.Get("Location") != "" || a.status == http.StatusForbidden
	if !a.until.IsZero() {
		f.until = a.until.Unix()
	}
	if whole {
		v.Bytes = len(a.body)
		s.Bytes += int64(v.Bytes)
		v.New = l.recordDocument(f, p, a, v.Start)
	}
	if l.log != nil {
		json.NewEncoder(l.log).Encode(v) // the summary stays correct if the disk is full
	}
}

// recordDocument records a completely received document, and returns its entries that were not received before.
func (l *ledger) recordDocument(f *feedAccount, p publisher, a answer, now time.Time) []Published {
	first := a.shown.from
	if f.read {
		first = max(first, int(f.got))
		l.summary.Lost += max(0, a.shown.from-int(f.got))
	}
	fresh := make([]Published, 0, max(0, a.shown.to-first))
	for seq := first; seq < a.shown.to; seq++ {
		at := p.at(seq)
		fresh = append(fresh, Published{seq, at})
		if f.read {
			l.delay += now.Sub(at)
			l.delayed++
		}
	}
	l.summary.Served += len(fresh)
	f.read, f.validated, f.got = true, a.validates(), max(f.got, int32(a.shown.to))
	return fresh
}

// close closes the log.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	defer func() { l.log = nil }()
	return l.log.Close()
}

// totals returns the current totals.
func (l *ledger) totals() Summary {
	now := l.publishers.settings.Now()
	published := 0
	for i := range l.publishers.rates {
		p := l.publishers.publisher(i)
		published += p.published(now) - p.published(l.began)
	}
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
