package console

import (
	"context"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
)

// An adapter is a service as a [Source].
type adapter struct{ *service.Server }

func (a adapter) Proxies(ctx context.Context) (wire.Proxies, error) {
	return a.Server.Proxies.List(ctx, wire.None{})
}
