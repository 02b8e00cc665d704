package deliver

import (
	"net/http"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/role/deliver/subject"
	"feedmesh/agent/role/deliver/webhook"
	"feedmesh/subjects"
)

// The names of channels.
const (
	Webhook = "webhook"
	NATS    = "nats"
)

// Channels returns the channels of a process by name, for the role and for checks of addresses. They connect through the transport,
// which refuses private addresses.
func Channels(transport http.RoundTripper, out subjects.Publisher, now func() time.Time) map[string]channel.Channel {
	return map[string]channel.Channel{
		Webhook: webhook.New(transport, fetch.Product, now),
		NATS:    subject.New(out),
	}
}
