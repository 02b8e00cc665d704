package node

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
)

const (
	beatEvery  = 5 * time.Second
	watchEvery = 5 * time.Second
	maxIll     = 15 * time.Second // that the embedded server may be ill before we give up
)

// beat tells the mesh that this agent lives, until ctx ends.
func (n *node) beat(ctx context.Context) error {
	last, lastAt := cpuSeconds(), time.Now()
	for {
		select {
		case <-time.After(beatEvery):
		case <-n.news:
		case <-ctx.Done():
			leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			n.mesh.Leave(leave) // else its entry expires by itself
			return nil
		}
		used, now := cpuSeconds(), time.Now()
		n.say(ctx, (used-last)/now.Sub(lastAt).Seconds())
		last, lastAt = used, now
	}
}

// say tells the mesh that this agent is there, and how it is.
func (n *node) say(ctx context.Context, load float64) {
	a := n.self
	a.Load, a.Seen, a.Memory, a.Done = load, time.Now().UTC(), held(), n.mesh.Done()
	a.Rules = n.rulesInForce()
	if err := n.mesh.Beat(ctx, a); err != nil && ctx.Err() == nil {
		n.options.Log.Warn("can't tell the mesh that this agent lives", "err", err)
	}
}

// watch warns of a disk that gets full, and ends the node when its NATS server
// can't work any more: after its disk was full that one needs a new start.
func (n *node) watch(ctx context.Context) error {
	full := false
	illSince, looks := time.Time{}, 0 // for how long its server is not well, and at how many looks
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
		err := n.room()
		switch {
		case err != nil && !full:
			n.options.Log.Error("nothing new is fetched until there is room", "err", err)
		case err == nil && full:
			n.options.Log.Info("there is room again; fetching goes on")
		}
		full = err != nil
		if n.server == nil {
			continue
		}
		if err = n.server.Healthy(); err == nil {
			looks = 0
			continue
		}
		switch looks++; {
		case looks == 1: // it gives itself a millisecond to be well, which a busy machine may not have
			illSince = time.Now()
		case looks == 2:
			n.options.Log.Warn("the embedded NATS server is not well", "err", err)
		case time.Since(illSince) > maxIll:
			return fmt.Errorf("%w: it has not been well for %v: look at the disk of %s, and start the agent again", err, maxIll, n.config.Data)
		}
	}
}

// tellProgress tells an operator in a few lines how the first minute goes.
func (n *node) tellProgress(ctx context.Context, env *role.Env) error {
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(10 * time.Second):
		}
		counts, err := env.Store.Counts(ctx)
		if err != nil {
			continue
		}
		indexed, err := env.Index.Count(ctx)
		if err != nil {
			continue
		}
		feeds, err := api.CountFeeds(ctx, n.mesh)
		if err != nil {
			continue
		}
		n.options.Log.Info("so far", "feeds_known", counts.Feeds, "feeds_fetched", feeds.Polled, "feeds_failing", feeds.Failing,
			"items_stored", counts.Items, "items_searchable", indexed)
		if feeds.Polled == counts.Feeds && indexed == counts.Items {
			return nil
		}
	}
	return nil
}

// cpuSeconds returns the processor time used by this process's Go code.
func cpuSeconds() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64() - s[1].Value.Float64()
}

// held returns the bytes that the Go runtime holds.
func held() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
