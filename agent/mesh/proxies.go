package mesh

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// LoadProxies calls each for every proxy in the bucket.
func (m *Mesh) LoadProxies(ctx context.Context, each func(subjects.Proxy)) error {
	return m.loadAll(ctx, subjects.ProxyBucket, func(entry jetstream.KeyValueEntry) {
		var p subjects.Proxy
		if err := json.Unmarshal(entry.Value(), &p); err != nil || p.ID != entry.Key() {
			m.log.Warn("proxy record decode failed", "subject", entry.Key(), "err", err)
			return
		}
		each(p)
	})
}

// Proxy returns the record of a proxy, or nil if none exists.
func (m *Mesh) Proxy(ctx context.Context, id string) (*subjects.Proxy, error) {
	return readValue[subjects.Proxy](ctx, m, subjects.ProxyBucket, id)
}

// PutProxies overwrites the records of proxies. It is not fenced: the next use or probe of a proxy corrects
// the last write of a deposed schedule.
func (m *Mesh) PutProxies(ctx context.Context, proxies []subjects.Proxy) error {
	return putAll(ctx, m, proxies, func(p subjects.Proxy) (*nats.Msg, error) { return valueMessage(subjects.ProxyKey(p.ID), p) })
}
