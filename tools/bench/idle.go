package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/tools/bench/report"
)

// benchIdle measures a small node as a separate process, after it has read some feeds without further
// entries. It is sampled for a while before and after a restart.
func benchIdle(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("idle", flag.ContinueOnError)
	size := feedsSize{feeds: 300, items: 20, hosts: 300}
	size.flags(flags)
	lasts := flags.Duration("for", time.Minute, "duration of each measurement")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return inFolder(func(dir string) error { return idleIn(ctx, out, dir, size, *lasts) })
}

// idleIn measures a node with its data in a folder.
func idleIn(ctx context.Context, out *report.Report, dir string, size feedsSize, lasts time.Duration) error {
	program, err := buildBoth(ctx, out, dir)
	if err != nil {
		return err
	}
	feedServer, err := startFeedServer(size)
	if err != nil {
		return err
	}
	defer feedServer.stop()
	a, err := newAgent(program, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer a.process.Kill()
	first, err := a.start()
	if err != nil {
		return err
	}
	out.Add("start to ready, nothing known", first.Seconds(), "s")
	if err := feedServer.addTo(ctx, a.Client); err != nil {
		return err
	}
	items := int64(size.feeds * size.items)
	if _, err := until(ctx, a.Client, time.Second/4, func(st wire.Status) bool { return st.Indexed >= items && idle(st) }); err != nil {
		return err
	}
	out.Add("memory (RSS), at most while it took in all", float64(memoryOf(a.process.ID(), "VmHWM"))/1e6, "MB")
	watch(ctx, out, a, "idle", lasts)
	if err := a.stop(); err != nil {
		return err
	}
	restart, err := a.start()
	if err != nil {
		return err
	}
	out.Add("start to ready, all known", restart.Seconds(), "s")
	watch(ctx, out, a, "idle after a restart", lasts)
	return a.stop()
}

// buildBoth builds the agent with and without release flags, and returns the latter.
func buildBoth(ctx context.Context, out *report.Report, dir string) (program string, err error) {
	for _, as := range []struct{ what, folder, ldflags, aim string }{
		{"size of the program as released (-s -w)", "released", "-s -w", "<= 45"},
		{"size of the program", "built", "", ""},
	} {
		folder := filepath.Join(dir, as.folder)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return "", err
		}
		if program, err = buildAgent(ctx, folder, "-ldflags", as.ldflags); err != nil {
			return "", err
		}
		out.Aimed(as.what, float64(bytesUnder(program))/1e6, "MB", as.aim)
	}
	return program, nil
}

// settleTime is the time after which an agent counts as idle: summaries are written, and free memory is returned.
const settleTime = time.Minute

// watch leaves the agent idle for a while, and adds its resource usage after settleTime.
func watch(ctx context.Context, out *report.Report, a *agent, how string, lasts time.Duration) {
	pause(ctx, settleTime)
	before := a.usage()
	pause(ctx, lasts)
	spent := a.usage().since(before)
	out.Aimed("memory (RSS), "+how, a.memory(), "MB", "<= 80")
	out.Aimed("CPU, "+how, spent.percent(), "% of a core", "<= 0.5")
	out.Add("written to disk, "+how, float64(spent.written)/spent.elapsed.Seconds()/1e3, "kB/s")
}

// pause waits until ctx ends or a duration is over.
func pause(ctx context.Context, lasts time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(lasts):
	}
}
