package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/tests/machines"
	"feedmesh/tools/bench/report"
)

// containerLimit is the memory limit of the container in bytes: 384 MB.
const containerLimit = 384_000_000

// benchLimited measures the first sweep of a node as a separate process without a memory limit, and with one of 256 MiB in a
// container of 384 MB.
func benchLimited(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("limited", flag.ContinueOnError)
	size := feedsSize{feeds: 10_000, items: 10, hosts: 5_000}
	size.flags(flags)
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return inFolder(func(dir string) error {
		program, err := buildAgent(ctx, dir)
		if err != nil {
			return err
		}
		free, err := newAgent(program, filepath.Join(dir, "free"))
		if err != nil {
			return err
		}
		before, err := limitedSweep(ctx, out, free, size, "without a limit")
		if err != nil {
			return err
		}
		bound, err := newAgent(program, filepath.Join(dir, "bound"))
		if err != nil {
			return err
		}
		bound.process.Env = []string{"GOMEMLIMIT=256MiB"}
		box, err := machines.NewContainer(fmt.Sprint("feedmesh-bench-", os.Getpid()), containerLimit)
		if err != nil {
			return fmt.Errorf("make a container: %w (it needs Linux, root, and control groups for memory)", err)
		}
		defer box.Close()
		box.On(bound.process)
		after, err := limitedSweep(ctx, out, bound, size, "with GOMEMLIMIT=256MiB in a container of 384 MB")
		if err != nil {
			return err
		}
		out.Aimed("time with the limit", after.Seconds()/before.Seconds(), "x", "<= 1.5")
		return nil
	})
}

// limitedSweep returns the time in which an agent, which it starts and stops, takes in all feeds.
func limitedSweep(ctx context.Context, out *report.Report, a *agent, size feedsSize, what string) (took time.Duration, err error) {
	feedServer, err := startFeedServer(size)
	if err != nil {
		return 0, err
	}
	defer feedServer.stop()
	defer a.process.Kill()
	if _, err := a.start(); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := feedServer.addTo(ctx, a.Client); err != nil {
		return 0, err
	}
	items := int64(size.feeds * size.items)
	if _, err := until(ctx, a.Client, time.Second/4, func(st wire.Status) bool { return st.Indexed >= items }); err != nil {
		return 0, err
	}
	took = time.Since(began)
	out.Add("first sweep "+what, took.Seconds(), "s")
	out.Add("memory (RSS) "+what+", at most", float64(memoryOf(a.process.ID(), "VmHWM"))/1e6, "MB")
	return took, a.stop()
}
