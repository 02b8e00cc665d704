package simulate

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// A Visit is one request for a feed of a [Web], as a line of the log has it. Times
// are by the web's clock.
type Visit struct {
	Feed        int         `json:"feed"`
	Host        string      `json:"host"`
	Start       time.Time   `json:"start"`
	End         time.Time   `json:"end"`
	Conditional bool        `json:"conditional"` // it told what the client has
	Follows     bool        `json:"follows"`     // it goes on with the poll before it: after a redirect, or by the proxy after a 403
	Early       bool        `json:"early"`       // it came before the time that the feed's last answer named in Retry-After
	Status      int         `json:"status"`      // 0 if it got no answer
	Bytes       int         `json:"bytes"`       // of the body, as sent
	New         []Published `json:"new"`         // entries that nobody had got before and this request got
}

// A Published is an entry of a feed, and when the feed published it.
type Published struct {
	Seq int       `json:"seq"`
	At  time.Time `json:"at"`
}

// A ledger keeps account of all visits: a few bytes of each feed and each host.
type ledger struct {
	web   *Web
	began time.Time // by the web's clock

	mu      sync.Mutex
	log     *os.File // nil: none is kept
	feeds   []feedAccount
	hosts   []hostAccount
	summary Summary       // but for what is counted when it is asked for
	delay   time.Duration // of all entries whose delay is known, in all
	delayed int           // how many those are
}

// feedAccount is what is known of a feed's visitors.
type feedAccount struct {
	until     int64 // second before which it asked not to be visited
	got       int32 // entries published by when somebody got the last whole document
	polled    bool
	read      bool // somebody got a whole document
	validated bool // with it, what a request can be made conditional by
	onward    bool // its last answer asked to go on elsewhere, or by another way
}

// hostAccount is what is known of a host's visitors.
type hostAccount struct {
	underWay int32
	last     time.Time // real time at which the last poll began
}

func newLedger(w *Web) *ledger {
	return &ledger{
		web: w, began: w.settings.Now(), feeds: make([]feedAccount, w.settings.Feeds), hosts: make([]hostAccount, w.settings.Hosts),
		summary: Summary{Status: map[int]int{}},
	}
}

// begin takes note of a request that came.
func (l *ledger) begin(feed int, r *http.Request) Visit {
	v := Visit{
		Feed: feed, Host: l.web.Host(feed), Start: l.web.settings.Now(),
		Conditional: r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, h, s := &l.feeds[feed], &l.hosts[feed%len(l.hosts)], &l.summary
	v.Follows = f.onward && (proxied(r) || strings.HasPrefix(r.URL.Path, movedTo))
	v.Early = !v.Follows && v.Start.Unix() < f.until
	f.polled, f.onward, f.until = true, false, 0
	s.Requests++
	if h.underWay++; h.underWay > 1 {
		s.Overlaps++
	}
	s.MostAtOnce = max(s.MostAtOnce, int(h.underWay))
	if v.Follows {
		return v
	}
	s.Polls++
	if v.Early {
		s.Early++
	}
	if f.validated {
		s.again++
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

// end takes note of what a request got.
func (l *ledger) end(v Visit, a answer, p publisher, whole bool) {
	v.End, v.Status = l.web.settings.Now(), a.status
	l.mu.Lock()
	defer l.mu.Unlock()
	f, s := &l.feeds[v.Feed], &l.summary
	l.hosts[v.Feed%len(l.hosts)].underWay--
	s.Status[a.status]++
	f.onward = a.header.Get("Location") != "" || a.status == http.StatusForbidden
	if !a.until.IsZero() {
		f.until = a.until.Unix()
	}
	if whole {
		v.Bytes = len(a.body)
		s.Bytes += int64(v.Bytes)
		v.New = l.take(f, p, a, v.Start)
	}
	if l.log != nil {
		json.NewEncoder(l.log).Encode(v) // the summary stays right if the disk is full
	}
}

// take takes note of a whole document that somebody got, and returns its entries
// that nobody had got before.
func (l *ledger) take(f *feedAccount, p publisher, a answer, now time.Time) []Published {
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
