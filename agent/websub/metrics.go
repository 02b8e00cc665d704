package websub

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what the subscriber and the handler of one process count.
type Metrics struct {
	requests *prometheus.CounterVec
	calls    *prometheus.CounterVec
}

// NewMetrics returns the metrics, registered with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmesh_websub_requests_total",
			Help: "Requests to hubs, by outcome: accepted, refused, failed, or unconfirmed.",
		}, []string{"outcome"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmesh_websub_calls_total",
			Help: "What hubs, or who claims to be one, called back with, by what it was or why nothing came of it.",
		}, []string{"outcome"}),
	}
	r.MustRegister(m.requests, m.calls)
	// What has not happened yet is told as 0, so that its first time shows as an
	// increase.
	for _, outcome := range []string{accepted, refused, failed, unconfirmed} {
		m.requests.WithLabelValues(outcome)
	}
	for _, outcome := range []string{verified, denied, unasked, delivered, repeated, unsigned, forged, unknown, tooMany, tooLarge, failed} {
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

	verified  = "verified"  // it asked whether we asked, and we did
	denied    = "denied"    // it refused what we asked
	unasked   = "unasked"   // it asked or told what we know nothing of
	delivered = "delivered" // a body, handed on
	repeated  = "repeated"  // a body that was there before
	unsigned  = "unsigned"  // a body without signature, ignored
	forged    = "forged"    // a body with a wrong signature, ignored
	unknown   = "unknown"   // a body for a subscription that there is not, or not any more
	tooMany   = "too many"
	tooLarge  = "too large"
)
