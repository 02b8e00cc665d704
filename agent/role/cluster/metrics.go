package cluster

import (
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/classify/story"
)

// metrics are the metrics of the windows.
type metrics struct {
	duplicates prometheus.Counter
	windowSize *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	return &metrics{
		duplicates: metric.Counter(r, "feedmesh_duplicates_total", "Items detected as duplicates."),
		windowSize: metric.Gauges(r, "feedmesh_live", "Items, events and stories in the window that new items are compared with, by language.", "language", "what"),
	}
}

// setWindow sets the sizes of a partition's window; only its active clusterer exports them.
func (m *metrics) setWindow(partition string, signatures int, stories *story.Clusters) {
	items, events, all := stories.Len()
	for what, n := range map[string]int{"marks": signatures, "items": items, "events": events, "stories": all} {
		m.windowSize.WithLabelValues(partition, what).Set(float64(n))
	}
}

func (m *metrics) clearWindow(partition string) {
	m.windowSize.DeletePartialMatch(prometheus.Labels{"language": partition})
}
