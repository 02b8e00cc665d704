package websub

import (
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
)

// Metrics are the metrics of the subscriber and the handler of one process.
type Metrics struct {
	requests *prometheus.CounterVec
	calls    *prometheus.CounterVec
}

// NewMetrics returns the metrics, registered with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: metric.Counters(r, "feedmesh_websub_requests_total", "Requests to hubs, by outcome: accepted, refused, failed, or unconfirmed.", "outcome"),
		calls:    metric.Counters(r, "feedmesh_websub_calls_total", "Calls from hubs by outcome: accepted content, or the reason of rejection.", "outcome"),
	}
	// Export 0 before the first event, so that it shows as an increase.
	for _, outcome := range []string{accepted, refused, failed, unconfirmed} {
		m.requests.WithLabelValues(outcome)
	}
	for _, outcome := range []string{verified, denied, unrequested, delivered, repeated, unsigned, forged, unknown, tooMany, tooLarge, failed} {
		m.calls.WithLabelValues(outcome)
	}
	return m
}

// Outcomes of requests and calls.
const (
	accepted    = "accepted"
	refused     = "refused"
	failed      = "failed"
	unconfirmed = "unconfirmed" // accepted, but not confirmed in time

	verified    = "verified"  // the hub verified a request of ours
	denied      = "denied"    // the hub denied a request
	unrequested = "unasked"   // verification or denial without a request of ours
	delivered   = "delivered" // a body, delivered
	repeated    = "repeated"  // a body that was delivered before
	unsigned    = "unsigned"  // a body without signature, ignored
	forged      = "forged"    // a body with a wrong signature, ignored
	unknown     = "unknown"   // a body without a current subscription
	tooMany     = "too many"
	tooLarge    = "too large"
)
