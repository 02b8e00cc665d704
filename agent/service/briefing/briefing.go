// Package briefing writes short texts about items by an endpoint that speaks the chat protocol of OpenAI. [Writer.Write] requests it,
// [Writer.Cached] does not. Every sentence cites items: others are left out. Without a text of the endpoint, a briefing consists of
// sentences of the items, and states why. It is the only package that uses the client of the protocol.
//
// Bounded are the input, the output and the time of a request, concurrent requests, requests a day, and the cache, which has the texts by
// the content of their items.
package briefing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/agent/wire"
)

const (
	maxRunning = 2           // concurrent requests
	maxCached  = 100         // texts, of at most some 50 KB
	pause      = time.Minute // after a request that failed
	recent     = time.Hour   // a failure of this age is reported
)

// Options are the settings and dependencies of a [Writer].
type Options struct {
	URL   string // of the endpoint, such as http://127.0.0.1:11434/v1; empty: none
	Model string
	Key   string // optional
	Daily int    // requests a day of UTC

	Metrics prometheus.Registerer
	Now     func() time.Time
	Log     *slog.Logger
}

// A Request is what a briefing is about.
type Request struct {
	Subject  string // names the selection of the sources
	Language string // to write in; empty: that of most sources
	Sources  []Source
}

// A Writer writes briefings. Its methods may be called concurrently.
type Writer struct {
	Options
	endpoint *endpoint // nil: none
	requests *prometheus.CounterVec
	timeout  time.Duration // of a request

	ctx    context.Context // of all requests, which outlive the clients that wait for them
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu      sync.Mutex
	cached  []entry // oldest first
	running map[string]*run
	day     string // of the requests that spent counts
	spent   int
	failed  wire.Briefing // the last failure; its reason is empty if a request succeeded since
}

// An entry is a cached text.
type entry struct {
	key, subject string
	text         wire.Briefing
}

// A run is a request in progress.
type run struct {
	done   chan struct{}
	result wire.Briefing // once done is closed
}

// New returns a writer. The caller calls [Writer.Close].
func New(o Options) *Writer {
	w := &Writer{Options: o, timeout: wire.MaxBriefingTime, running: map[string]*run{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if o.URL != "" {
		w.endpoint = newEndpoint(o)
		w.requests = metric.Counters(o.Metrics, "feedmesh_briefing_requests_total", "Requests to the endpoint that writes briefings, by result: written, or the reason of the failure.", "result")
	}
	return w
}

// Close cancels the requests in progress and waits for them.
func (w *Writer) Close() {
	w.mu.Lock() // no request begins after this
	w.cancel()
	w.mu.Unlock()
	w.group.Wait()
	if w.endpoint != nil {
		w.endpoint.close()
	}
}

// IsOn reports whether there is an endpoint.
func (w *Writer) IsOn() bool { return w.endpoint != nil }

// Cached returns the text about these sources if it is cached, the newest one of the subject, or sentences of the sources. It requests
// nothing.
func (w *Writer) Cached(r Request) wire.Briefing {
	sources := bounded(r.Sources)
	w.mu.Lock()
	defer w.mu.Unlock()
	if text, found := w.find(w.keyOf(r, sources)); found {
		return text
	}
	switch {
	case len(sources) == 0 || !w.IsOn():
		return w.extract(sources, w.unavailable(sources))
	case w.running[w.keyOf(r, sources)] != nil:
		return w.extract(sources, wire.BriefingRunning)
	}
	for _, e := range slices.Backward(w.cached) {
		if e.subject == subjectOf(r) {
			older := e.text
			older.Reason, older.Why = wire.BriefingOlder, w.why(wire.BriefingOlder, 0)
			return older
		}
	}
	return w.extract(sources, wire.BriefingUnrequested)
}

// Write returns the text about these sources, cached or by a request, or sentences of the sources. Concurrent calls about the same
// sources share a request, which goes on if ctx ends first.
func (w *Writer) Write(ctx context.Context, r Request) wire.Briefing {
	sources := bounded(r.Sources)
	if len(sources) == 0 || !w.IsOn() {
		return w.extract(sources, w.unavailable(sources))
	}
	text, started := w.begin(r, sources)
	if started == nil {
		return text
	}
	select {
	case <-started.done:
		return started.result
	case <-ctx.Done():
		return w.extract(sources, wire.BriefingRunning)
	}
}

func (w *Writer) unavailable(sources []Source) string {
	if len(sources) == 0 {
		return wire.BriefingEmpty
	}
	return wire.BriefingOff
}

// begin returns a cached text, the reason why there is no request as a briefing, or the request that was begun or is in progress.
func (w *Writer) begin(r Request, sources []Source) (wire.Briefing, *run) {
	key := w.keyOf(r, sources)
	w.mu.Lock()
	defer w.mu.Unlock()
	if text, found := w.find(key); found {
		return text, nil
	}
	if running := w.running[key]; running != nil {
		return wire.Briefing{}, running
	}
	now := w.Now()
	if day := now.UTC().Format(time.DateOnly); day != w.day {
		w.day, w.spent = day, 0
	}
	switch {
	case w.hasFailed(now, pause):
		return w.extract(sources, wire.BriefingPaused), nil
	case len(w.running) >= maxRunning || w.ctx.Err() != nil:
		return w.extract(sources, wire.BriefingBusy), nil
	case w.spent >= w.Daily:
		return w.extract(sources, wire.BriefingBudget), nil
	}
	w.spent++
	begun := &run{done: make(chan struct{})}
	w.running[key] = begun
	w.group.Go(func() {
		begun.result = w.request(r, sources)
		w.finish(key, subjectOf(r), begun)
	})
	return wire.Briefing{}, begun
}

// request requests a text from the endpoint.
func (w *Writer) request(r Request, sources []Source) wire.Briefing {
	ctx, cancel := context.WithTimeout(w.ctx, w.timeout)
	defer cancel()
	text, err := w.endpoint.write(ctx, instruction(r.Language), input(sources))
	if w.ctx.Err() != nil { // the process ends, which is no failure of the endpoint
		return w.extract(sources, wire.BriefingBusy)
	}
	if err != nil {
		f := err.(*failure)
		w.Log.Warn("briefing failed", "reason", f.reason, "status", f.status, "err", f.err)
		b := w.extract(sources, f.reason)
		b.Why = w.why(f.reason, f.status)
		return b
	}
	sentences, leftOut := cited(text, len(sources))
	if len(sentences) == 0 {
		w.Log.Warn("briefing without citations", "left_out", leftOut)
		b := w.extract(sources, wire.BriefingUncited)
		b.LeftOut = leftOut
		return b
	}
	return wire.Briefing{
		By: wire.ByModel, Model: w.Model, Written: w.Now(), Sentences: sentences, LeftOut: leftOut, Items: citedItems(sentences, sources),
	}
}

// finish ends a run, and caches its text if the model wrote it.
func (w *Writer) finish(key, subject string, ended *run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer close(ended.done)
	delete(w.running, key)
	switch {
	case ended.result.Reason == wire.BriefingBusy: // the process ends
	case ended.result.By == wire.ByModel:
		w.requests.WithLabelValues("written").Inc()
		w.failed = wire.Briefing{}
		if len(w.cached) == maxCached {
			w.cached = slices.Delete(w.cached, 0, 1)
		}
		w.cached = append(w.cached, entry{key, subject, ended.result})
	default:
		w.requests.WithLabelValues(ended.result.Reason).Inc()
		w.failed = wire.Briefing{Reason: ended.result.Reason, Why: ended.result.Why, Written: w.Now()}
	}
}

// hasFailed reports whether the last request failed within a time. A failure from the future is by a clock that was set back.
func (w *Writer) hasFailed(now time.Time, within time.Duration) bool {
	age := now.Sub(w.failed.Written)
	return w.failed.Reason != "" && age >= 0 && age < within
}

// Check returns a warning if the endpoint failed recently. ok is false without an endpoint.
func (w *Writer) Check() (check wire.Check, ok bool) {
	if !w.IsOn() { // as that of a node that starts, which has no clock
		return check, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	check = wire.Check{Name: "briefing", OK: true}
	if w.hasFailed(w.Now(), recent) {
		check.OK, check.Warning = false, true
		check.Detail = fmt.Sprintf("at %s UTC: %s; check briefing.url, briefing.model and briefing.key", w.failed.Written.UTC().Format("15:04:05"), w.failed.Why)
	}
	return check, true
}

// keyOf identifies a text by the content of its sources, in any order.
func (w *Writer) keyOf(r Request, sources []Source) string {
	var parts []string
	for _, s := range sources {
		parts = append(parts, strings.Join([]string{s.ID, s.Title, s.Text}, "\x00"))
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(append(parts, r.Language), "\x01")))
	return hex.EncodeToString(sum[:])
}

func subjectOf(r Request) string { return r.Subject + "\x00" + r.Language }

// find returns a cached text.
func (w *Writer) find(key string) (wire.Briefing, bool) {
	if at := slices.IndexFunc(w.cached, func(e entry) bool { return e.key == key }); at >= 0 {
		return w.cached[at].text, true
	}
	return wire.Briefing{}, false
}

// extract returns sentences of the sources, for a reason.
func (w *Writer) extract(sources []Source, reason string) wire.Briefing {
	b := wire.Briefing{By: wire.ByExtract, Reason: reason, Why: w.why(reason, 0), Written: w.Now(), Sentences: []wire.BriefingSentence{}}
	for n, s := range sources {
		if text := cmp.Or(s.Text, s.Title); text != "" {
			b.Sentences = append(b.Sentences, wire.BriefingSentence{Text: text, Items: []int{n + 1}})
		}
	}
	b.Items = citedItems(b.Sentences, sources)
	return b
}

// citedItems returns the sources that sentences cite.
func citedItems(sentences []wire.BriefingSentence, sources []Source) []wire.BriefingItem {
	items := []wire.BriefingItem{}
	for n, s := range sources {
		if slices.ContainsFunc(sentences, func(sentence wire.BriefingSentence) bool { return slices.Contains(sentence.Items, n+1) }) {
			items = append(items, wire.BriefingItem{Number: n + 1, ItemBrief: s.ItemBrief})
		}
	}
	return items
}

// why returns a reason in words, for a client: the address of the endpoint and its messages are for the operator.
func (w *Writer) why(reason string, status int) string {
	switch reason {
	case wire.BriefingOff:
		return "no model writes briefings: set briefing.url and briefing.model"
	case wire.BriefingEmpty:
		return "there are no items"
	case wire.BriefingUnrequested:
		return "the model was not asked for a text about these items"
	case wire.BriefingOlder:
		return "items have changed since the text was written"
	case wire.BriefingRunning:
		return "the model is still writing: retry in a minute"
	case wire.BriefingBudget:
		return fmt.Sprintf("the %d requests of this day are used up: retry after midnight UTC, or raise briefing.daily", w.Daily)
	case wire.BriefingBusy:
		return "the model is writing other briefings: retry in a minute"
	case wire.BriefingPaused:
		return "the last request to the model failed: retry in a minute"
	case wire.BriefingTimeout:
		return fmt.Sprintf("the model did not answer within %v", w.timeout)
	case wire.BriefingUnreachable:
		return "the endpoint of the model can't be reached"
	case wire.BriefingRefused:
		return fmt.Sprintf("the endpoint of the model refused the request with status %d", status)
	case wire.BriefingUnreadable:
		return "the answer of the model can't be read"
	}
	return "no sentence of the model cites an item that it got"
}
