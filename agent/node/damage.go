package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/role/work"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// engineWatchInterval is the interval at which the store and the index are checked without a request.
const engineWatchInterval = 5 * time.Second

// watchEngines checks the store and the index until ctx ends. It logs when a check fails first and when it passes
// again, and records a damaged store.
func (h *health) watchEngines(ctx context.Context, env *role.Env, log *slog.Logger) error {
	since := map[string]time.Time{} // start of each failure, by check
	return work.RepeatEvery(ctx, engineWatchInterval, func(ctx context.Context) error {
		var faults []string
		for _, p := range h.probes {
			if p.name != storeCheck && p.name != indexCheck {
				continue
			}
			c := p.check(ctx)
			if c.OK {
				if !since[p.name].IsZero() {
					log.Info("check passed again", "check", p.name)
				}
				delete(since, p.name)
				continue
			}
			if since[p.name].IsZero() {
				since[p.name] = time.Now()
				logFailure(log, c)
			}
			faults = append(faults, fmt.Sprintf("since %s UTC: %s: %s", since[p.name].UTC().Format("15:04:05"), p.name, c.Detail))
		}
		h.faults.Store(&faults)
		if env.Store == nil {
			return nil
		}
		if since[storeCheck].IsZero() {
			h.damage.Store(nil) // a server may be repaired or replaced
			return nil
		}
		if _, err := env.Store.ID(ctx); errors.Is(err, storage.ErrDamaged) {
			h.damage.CompareAndSwap(nil, &err)
		}
		return nil
	})
}

func logFailure(log *slog.Logger, c wire.Check) {
	if c.Warning {
		log.Warn("check warns", "check", c.Name, "detail", c.Detail)
		return
	}
	log.Error("check failed", "check", c.Name, "detail", c.Detail)
}

// engineFaults returns the failing checks of the store and the index, since when, and what to do.
func (h *health) engineFaults() []string {
	if faults := h.faults.Load(); faults != nil {
		return *faults
	}
	return nil
}
