package node

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/embedded"
	"feedmesh/storage"
)

const (
	watchInterval = 5 * time.Second
	maxUnhealthy  = 15 * time.Second // timeout of an unhealthy embedded server, after which it is restarted
)

// watch reports on a full disk, and restarts the embedded NATS server when it can't recover: after a full disk its
// streams stay unavailable. It ends with ctx.
func watch(ctx context.Context, p *process, server *embedded.Server) error {
	full := false
	unhealthySince, failures := time.Time{}, 0 // start of the failure, and consecutive failed checks
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(mesh.UntilTick(watchInterval)):
		}
		disk := p.checkDiskSpace()
		switch {
		case disk != nil && !full:
			p.options.Log.Error("fetching paused, disk full", "err", disk)
		case disk == nil && full:
			p.options.Log.Info("fetching resumed, disk space available")
		}
		full = disk != nil
		if server == nil {
			continue
		}
		err := server.Healthy()
		if err == nil {
			failures = 0
			_, _ = server.Lost() // it logs what is lost; the check returns the error
			continue
		}
		switch failures++; {
		case failures == 1: // the check's timeout of 1 ms may be exceeded on a busy machine
			unhealthySince = time.Now()
		case failures == 2:
			p.options.Log.Warn("embedded NATS server unhealthy", "err", err)
		case time.Since(unhealthySince) > maxUnhealthy && !full:
			p.options.Log.Warn("embedded NATS server restarted", "err", err)
			if err := server.Restart(); err != nil {
				p.options.Log.Error("embedded NATS server restart failed: see its messages above, and the disk of the data folder", "err", err)
			}
			failures = 0
		}
	}
}

const (
	startupTime      = time.Minute      // the progress of its first minute is logged
	startupInterval  = 10 * time.Second // so often
	progressInterval = time.Hour        // and later so often
)

// logProgress logs what the mesh has, and which work stands still, until ctx ends: often until all feeds were fetched
// once or the first minute is over, then every hour.
func logProgress(ctx context.Context, env *role.Env) error {
	interval := startupInterval
	for started := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
		if time.Since(started) >= startupTime {
			interval = progressInterval
		}
		counts, err := env.Store.CountFeeds(ctx, storage.FeedQuery{})
		if err != nil {
			continue
		}
		indexed, err := env.Index.Count(ctx)
		if err != nil {
			continue
		}
		feeds, err := service.CountFeeds(ctx, env.Mesh)
		if err != nil {
			continue
		}
		values := []any{
			"feeds_known", counts.Feeds, "feeds_fetched", feeds.Polled, "feeds_failing", feeds.Failing, "items_stored", counts.Items, "items_searchable", indexed,
		}
		if stalled := env.Stalled(); len(stalled) > 0 {
			values = append(values, "stalled", strings.Join(stalled, "; "))
		}
		env.Log.Info("progress", values...)
		if feeds.Polled == counts.Feeds && indexed == counts.Items {
			interval = progressInterval
		}
	}
}
