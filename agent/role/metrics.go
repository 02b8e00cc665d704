package role

import (
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/websub"
	"feedmesh/classify/story"
	"feedmesh/subjects"
)

// Metrics are what the roles of one process count.
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
	liveThings    *prometheus.GaugeVec
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
		fetchSeconds:  seconds("feedmesh_fetch_duration_seconds", "Time that a fetch took."),
		fetchBytes:    counter("feedmesh_fetch_bytes_total", "Bytes of fetched documents, decompressed."),
		lag:           seconds("feedmesh_feed_lag_seconds", "Time from when a feed was due to when it was fetched."),
		feeds:         gauges("feedmesh_feeds", "Feeds known to the schedule, by tier and state.", "tier", "state"),
		overdue:       gauges("feedmesh_overdue_feeds", "Feeds that are due and not handed out yet."),
		documents:     vec("feedmesh_documents_total", "Documents parsed, by outcome: new entries, nothing new, or the kind of error.", "outcome"),
		pages:         vec("feedmesh_pages_total", "Entries whose pages were wanted for their full text, by outcome: better, no better, or why there is none.", "outcome"),
		stored:        counter("feedmesh_items_stored_total", "Items stored that the store had not had."),
		duplicates:    counter("feedmesh_duplicates_total", "Items found to be duplicates of others."),
		liveThings:    gauges("feedmesh_live", "Items, events and stories that new ones are compared with, by language.", "language", "what"),
		indexed:       counter("feedmesh_items_indexed_total", "Items made findable."),
		indexLag:      seconds("feedmesh_index_lag_seconds", "Time from when an item was fetched to when it could be found."),
		reconciled:    vec("feedmesh_reconciled_items_total", "Items in which the index was found to differ from the store: missing, stale, or surplus.", "difference"),
		queuePending:  gauges("feedmesh_queue_pending", "Tasks that wait on a queue or are under way.", "queue"),
		queueOldest:   gauges("feedmesh_queue_oldest_seconds", "Age of the oldest task on a queue.", "queue"),
		stepDowns:     counter("feedmesh_step_downs_total", "Times that this process stopped being the one active actor of something."),
		fencedOff:     counter("feedmesh_fenced_off_total", "Writes refused because a newer writer had taken over."),
		dispatchHolds: vec("feedmesh_dispatch_held_total", "Times that due feeds of a tier were held back because a queue was long.", "tier"),
		hubs:          websub.NewMetrics(r),
	}
	r.MustRegister(m.fetches, m.fetchSeconds, m.fetchBytes, m.lag, m.feeds, m.overdue, m.documents, m.pages, m.stored, m.duplicates, m.liveThings,
		m.indexed, m.indexLag, m.reconciled, m.queuePending, m.queueOldest, m.stepDowns, m.fencedOff, m.dispatchHolds)
	// What has not happened yet is told as 0, so that its first time shows as an
	// increase.
	for _, outcome := range []string{"fetched", "unchanged"} {
		m.fetches.WithLabelValues(outcome)
	}
	for _, tier := range subjects.Tiers {
		m.dispatchHolds.WithLabelValues(tier)
	}
	return m
}

// forget no longer tells what only the active schedule knows: two agents would
// tell it, and the former one what was true once.
func (m *Metrics) forget() {
	m.feeds.Reset()
	m.overdue.Reset()
	m.forgetQueues()
}

func (m *Metrics) forgetQueues() {
	m.queuePending.Reset()
	m.queueOldest.Reset()
}

// live tells how much of a lane is remembered; only its active actor knows.
func (m *Metrics) live(lane string, marks int, stories *story.Clusters) {
	items, events, all := stories.Len()
	for what, n := range map[string]int{"marks": marks, "items": items, "events": events, "stories": all} {
		m.liveThings.WithLabelValues(lane, what).Set(float64(n))
	}
}

func (m *Metrics) forgetLive(lane string) {
	m.liveThings.DeletePartialMatch(prometheus.Labels{"language": lane})
}
