package mesh

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// LoadProxies calls each with every proxy in the bucket.
func (m *Mesh) LoadProxies(ctx context.Context, each func(subjects.Proxy)) error {
	return m.loadAll(ctx, subjects.ProxyBucket, func(entry jetstream.KeyValueEntry) {
		var p subjects.Proxy
		if err := json.Unmarshal(entry.Value(), &p); err != nil || p.ID != entry.Key() {
			m.log.Warn("what was known of a proxy is unreadable", "subject", entry.Key(), "err", err)
			return
		}
		each(p)
	})
}

// Proxy returns what is known of a proxy, or nil if nothing is.
func (m *Mesh) Proxy(ctx context.Context, id string) (*subjects.Proxy, error) {
	return read[subjects.Proxy](ctx, m, subjects.ProxyBucket, id)
}

// PutProxies writes proxies, in place of what was known of them. It is not fenced:
// what a deposed schedule wrote last, the next use or probe of that proxy mends.
func (m *Mesh) PutProxies(ctx context.Context, proxies []subjects.Proxy) error {
	return putAll(ctx, m, proxies, func(p subjects.Proxy) (*nats.Msg, error) { return valueMessage(subjects.ProxyKey(p.ID), p) })
}
