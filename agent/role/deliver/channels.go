package deliver

import (
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/role/deliver/subject"
	"feedmesh/agent/role/deliver/webhook"
	"feedmesh/agent/role/work"
)

// The names of channels.
const (
	Webhook = "webhook"
	NATS    = "nats"
)

// Channels returns the channels of a process by name, for the role and for checks of addresses.
func Channels(env *work.Env) map[string]channel.Channel {
	return map[string]channel.Channel{
		Webhook: webhook.New(env.Receivers, fetch.Product, env.Clock.Now),
		NATS:    subject.New(env.Mesh),
	}
}
