package node

import (
	"context"
	"runtime/metrics"
	"time"

	"feedmesh/agent/mesh"
)

const heartbeatInterval = 5 * time.Second

// heartbeat publishes the state of this agent.
type heartbeat struct {
	*process
	mesh  *mesh.Mesh
	rules *ruleSets
}

// run publishes the heartbeat of this agent, until ctx ends.
func (h heartbeat) run(ctx context.Context) error {
	last, lastAt := cpuSeconds(), time.Now()
	for {
		select {
		case <-time.After(mesh.UntilTick(heartbeatInterval)):
		case <-h.rules.changed:
		case <-ctx.Done():
			leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			h.mesh.Leave(leave) // else its entry expires by itself
			return nil
		}
		used, now := cpuSeconds(), time.Now()
		h.publish(ctx, (used-last)/now.Sub(lastAt).Seconds())
		last, lastAt = used, now
	}
}

// publish publishes the heartbeat with the current load.
func (h heartbeat) publish(ctx context.Context, load float64) {
	a := h.self
	a.Load, a.Seen, a.Memory, a.Done = load, time.Now().UTC(), heldMemory(), h.mesh.Done()
	a.Rules = h.rules.activeVersions()
	if err := h.mesh.Heartbeat(ctx, a); err != nil && ctx.Err() == nil {
		h.options.Log.Warn("heartbeat failed", "err", err)
	}
}

// cpuSeconds returns the CPU time used by this process's Go code.
func cpuSeconds() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64() - s[1].Value.Float64()
}

// heldMemory returns the memory held by the Go runtime in bytes.
func heldMemory() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
