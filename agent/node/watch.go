package node

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/embedded"
	"feedmesh/storage"
)

const (
	watchInterval = 5 * time.Second
	maxUnhealthy  = 15 * time.Second // maximum time that the embedded server may be unhealthy before the node stops
)

// watch pauses and reports on a full disk, and stops the node when the embedded NATS server can't recover:
// after a full disk it needs a restart.
func watch(ctx context.Context, p *process, server *embedded.Server) error {
	full := false
	unhealthySince, failures := time.Time{}, 0 // start of the failure, and consecutive failed checks
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
		err := p.checkDiskSpace()
		switch {
		case err != nil && !full:
			p.options.Log.Error("fetching paused, disk full", "err", err)
		case err == nil && full:
			p.options.Log.Info("fetching resumed, disk space available")
		}
		full = err != nil
		if server == nil {
			continue
		}
		if err = server.Healthy(); err == nil {
			failures = 0
			continue
		}
		switch failures++; {
		case failures == 1: // the check's timeout of 1 ms may be exceeded on a busy machine
			unhealthySince = time.Now()
		case failures == 2:
			p.options.Log.Warn("embedded NATS server unhealthy", "err", err)
		case time.Since(unhealthySince) > maxUnhealthy:
			return fmt.Errorf("%w: unhealthy for %v: check the disk of %s and restart the agent", err, maxUnhealthy, p.config.Data)
		}
	}
}

const (
	startupTime      = time.Minute      // the progress of its first minute is logged
	startupInterval  = 10 * time.Second // so often
	progressInterval = time.Hour        // and later so often
)

// logProgress logs what the mesh has, until ctx ends: often until all feeds were fetched once or the first minute
// is over, then every hour.
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
		env.Log.Info("progress", "feeds_known", counts.Feeds, "feeds_fetched", feeds.Polled, "feeds_failing", feeds.Failing,
			"items_stored", counts.Items, "items_searchable", indexed)
		if feeds.Polled == counts.Feeds && indexed == counts.Items {
			interval = progressInterval
		}
	}
}
