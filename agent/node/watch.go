package node

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/storage"
)

const (
	heartbeatInterval = 5 * time.Second
	watchInterval     = 5 * time.Second
	maxUnhealthy      = 15 * time.Second // maximum time that the embedded server may be unhealthy before the node stops
)

// heartbeats publishes the heartbeat of this agent, until ctx ends.
func (n *node) heartbeats(ctx context.Context) error {
	last, lastAt := cpuSeconds(), time.Now()
	for {
		select {
		case <-time.After(heartbeatInterval):
		case <-n.beatNow:
		case <-ctx.Done():
			leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			n.mesh.Leave(leave) // else its entry expires by itself
			return nil
		}
		used, now := cpuSeconds(), time.Now()
		n.publishHeartbeat(ctx, (used-last)/now.Sub(lastAt).Seconds())
		last, lastAt = used, now
	}
}

// publishHeartbeat publishes the heartbeat with the current load.
func (n *node) publishHeartbeat(ctx context.Context, load float64) {
	a := n.self
	a.Load, a.Seen, a.Memory, a.Done = load, time.Now().UTC(), heldMemory(), n.mesh.Done()
	a.Rules = n.activeVersions()
	if err := n.mesh.Heartbeat(ctx, a); err != nil && ctx.Err() == nil {
		n.options.Log.Warn("heartbeat failed", "err", err)
	}
}

// watch pauses and reports on a full disk, and stops the node when the embedded NATS server can't recover:
// after a full disk it needs a restart.
func (n *node) watch(ctx context.Context) error {
	full := false
	unhealthySince, failures := time.Time{}, 0 // start of the failure, and consecutive failed checks
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
		err := n.checkDiskSpace()
		switch {
		case err != nil && !full:
			n.options.Log.Error("fetching paused, disk full", "err", err)
		case err == nil && full:
			n.options.Log.Info("fetching resumed, disk space available")
		}
		full = err != nil
		if n.server == nil {
			continue
		}
		if err = n.server.Healthy(); err == nil {
			failures = 0
			continue
		}
		switch failures++; {
		case failures == 1: // the check's timeout of 1 ms may be exceeded on a busy machine
			unhealthySince = time.Now()
		case failures == 2:
			n.options.Log.Warn("embedded NATS server unhealthy", "err", err)
		case time.Since(unhealthySince) > maxUnhealthy:
			return fmt.Errorf("%w: unhealthy for %v: check the disk of %s and restart the agent", err, maxUnhealthy, n.config.Data)
		}
	}
}

// logStartupProgress logs the progress of the first minute.
func (n *node) logStartupProgress(ctx context.Context, env *role.Env) error {
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(10 * time.Second):
		}
		counts, err := env.Store.CountFeeds(ctx, storage.FeedQuery{})
		if err != nil {
			continue
		}
		indexed, err := env.Index.Count(ctx)
		if err != nil {
			continue
		}
		feeds, err := service.CountFeeds(ctx, n.mesh)
		if err != nil {
			continue
		}
		n.options.Log.Info("startup progress", "feeds_known", counts.Feeds, "feeds_fetched", feeds.Polled, "feeds_failing", feeds.Failing,
			"items_stored", counts.Items, "items_searchable", indexed)
		if feeds.Polled == counts.Feeds && indexed == counts.Items {
			return nil
		}
	}
	return nil
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
