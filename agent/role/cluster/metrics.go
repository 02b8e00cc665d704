package cluster

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
)

// metrics are the metrics of the windows.
type metrics struct {
	duplicates prometheus.Counter
	windowSize *prometheus.GaugeVec
	windowSpan *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	return &metrics{
		duplicates: metric.Counter(r, "feedmesh_duplicates_total", "Items detected as duplicates."),
		windowSize: metric.Gauges(r, "feedmesh_live", "Items, events and stories in the window that new items are compared with, by language.", "language", "what"),
		windowSpan: metric.Gauges(r, "feedmesh_window_seconds", "Time for which new items are compared with older ones: as set, and in effect for duplicates and for stories.", "language", "what"),
	}
}

// setWindow sets the sizes and spans of a partition's window; only its active clusterer exports them.
func (m *metrics) setWindow(partition string, window time.Duration, duplicates *near.Index, stories *story.Clusters) {
	items, events, all := stories.Len()
	for what, n := range map[string]int{"marks": duplicates.Len(), "items": items, "events": events, "stories": all} {
		m.windowSize.WithLabelValues(partition, what).Set(float64(n))
	}
	for what, span := range map[string]time.Duration{"set": window, "duplicates": duplicates.Span(), "stories": stories.Span()} {
		m.windowSpan.WithLabelValues(partition, what).Set(span.Seconds())
	}
}

func (m *metrics) clearWindow(partition string) {
	m.windowSize.DeletePartialMatch(prometheus.Labels{"language": partition})
	m.windowSpan.DeletePartialMatch(prometheus.Labels{"language": partition})
}
