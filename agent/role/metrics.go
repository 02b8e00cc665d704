package role

import (
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/websub"
	"feedmesh/classify/story"
	"feedmesh/subjects"
)

// Metrics are the metrics of the roles of one process.
type Metrics struct {
	fetches       *prometheus.CounterVec
	fetchSeconds  prometheus.Histogram
	fetchBytes    prometheus.Counter
	lag           prometheus.Histogram
	feeds         *prometheus.GaugeVec
	overdue       *prometheus.GaugeVec
	documents     *prometheus.CounterVec
	pages         *prometheus.CounterVec
	stored        prometheus.Counter
	duplicates    prometheus.Counter
	windowSize    *prometheus.GaugeVec
	indexed       prometheus.Counter
	indexLag      prometheus.Histogram
	reconciled    *prometheus.CounterVec
	queuePending  *prometheus.GaugeVec
	queueOldest   *prometheus.GaugeVec
	stepDowns     prometheus.Counter
	fencedOff     prometheus.Counter
	dispatchHolds *prometheus.CounterVec
	hubs          *websub.Metrics
}

// NewMetrics returns the metrics, registered with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2, 5, 15, 60, 300, 1800}})
	}
	m := &Metrics{
		fetches:       vec("feedmesh_fetch_total", "Fetches, by outcome: fetched, unchanged, or the class of error.", "outcome"),
		fetchSeconds:  seconds("feedmesh_fetch_duration_seconds", "Duration of a fetch."),
		fetchBytes:    counter("feedmesh_fetch_bytes_total", "Bytes of fetched documents, decompressed."),
		lag:           seconds("feedmesh_feed_lag_seconds", "Time from a feed's due time to its fetch."),
		feeds:         gauges("feedmesh_feeds", "Feeds in the schedule, by tier and state.", "tier", "state"),
		overdue:       gauges("feedmesh_overdue_feeds", "Due feeds that are not dispatched yet."),
		documents:     vec("feedmesh_documents_total", "Documents parsed, by outcome: new entries, nothing new, or the kind of error.", "outcome"),
		pages:         vec("feedmesh_pages_total", "Entries whose pages were requested for their full text, by outcome: better, no better, or the reason for no text.", "outcome"),
		stored:        counter("feedmesh_items_stored_total", "New items stored."),
		duplicates:    counter("feedmesh_duplicates_total", "Items detected as duplicates."),
		windowSize:    gauges("feedmesh_live", "Items, events and stories in the window that new items are compared with, by language.", "language", "what"),
		indexed:       counter("feedmesh_items_indexed_total", "Items indexed."),
		indexLag:      seconds("feedmesh_index_lag_seconds", "Time from an item's fetch to its availability in search."),
		reconciled:    vec("feedmesh_reconciled_items_total", "Differences of the index from the store: missing, stale, or surplus items.", "difference"),
		queuePending:  gauges("feedmesh_queue_pending", "Tasks waiting on a queue or in progress.", "queue"),
		queueOldest:   gauges("feedmesh_queue_oldest_seconds", "Age of the oldest task on a queue.", "queue"),
		stepDowns:     counter("feedmesh_step_downs_total", "Times that this process stepped down as an active actor."),
		fencedOff:     counter("feedmesh_fenced_off_total", "Writes rejected because a newer writer had taken over."),
		dispatchHolds: vec("feedmesh_dispatch_held_total", "Times that due feeds of a tier were held back because of a long queue.", "tier"),
		hubs:          websub.NewMetrics(r),
	}
	r.MustRegister(m.fetches, m.fetchSeconds, m.fetchBytes, m.lag, m.feeds, m.overdue, m.documents, m.pages, m.stored, m.duplicates, m.windowSize,
		m.indexed, m.indexLag, m.reconciled, m.queuePending, m.queueOldest, m.stepDowns, m.fencedOff, m.dispatchHolds)
	// Counters start at 0, so that the first event shows as an increase.
	for _, outcome := range []string{"fetched", "unchanged"} {
		m.fetches.WithLabelValues(outcome)
	}
	for _, tier := range subjects.Tiers {
		m.dispatchHolds.WithLabelValues(tier)
	}
	return m
}

// clear resets the gauges of the active schedule when it steps down, so that a stale replica does not export
// them.
func (m *Metrics) clear() {
	m.feeds.Reset()
	m.overdue.Reset()
	m.clearQueues()
}

func (m *Metrics) clearQueues() {
	m.queuePending.Reset()
	m.queueOldest.Reset()
}

// setWindow sets the sizes of a partition's window; only its active clusterer exports them.
func (m *Metrics) setWindow(partition string, signatures int, stories *story.Clusters) {
	items, events, all := stories.Len()
	for what, n := range map[string]int{"marks": signatures, "items": items, "events": events, "stories": all} {
		m.windowSize.WithLabelValues(partition, what).Set(float64(n))
	}
}

func (m *Metrics) clearWindow(partition string) {
	m.windowSize.DeletePartialMatch(prometheus.Labels{"language": partition})
}
