package crawl

import (
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
)

// metrics are the metrics of fetches.
type metrics struct {
	fetches      *prometheus.CounterVec
	fetchSeconds prometheus.Histogram
	fetchBytes   prometheus.Counter
	lag          prometheus.Histogram
	pages        *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		fetches:      metric.Counters(r, "feedmesh_fetch_total", "Fetches, by outcome: fetched, unchanged, or the class of error.", "outcome"),
		fetchSeconds: metric.Seconds(r, "feedmesh_fetch_duration_seconds", "Duration of a fetch."),
		fetchBytes:   metric.Counter(r, "feedmesh_fetch_bytes_total", "Bytes of fetched documents, decompressed."),
		lag:          metric.Seconds(r, "feedmesh_feed_lag_seconds", "Time from a feed's due time to its fetch."),
		pages:        metric.Counters(r, "feedmesh_pages_total", "Entries whose pages were requested for their full text, by outcome: better, no better, or the reason for no text.", "outcome"),
	}
	for _, outcome := range []string{"fetched", "unchanged"} { // counters start at 0, so that the first event shows as an increase
		m.fetches.WithLabelValues(outcome)
	}
	return m
}
