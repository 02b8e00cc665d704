package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/tools/bench/report"
)

// benchLimited measures the first sweep of a node as a separate process with a small memory limit and without one.
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
		var took [2]time.Duration
		for i, limit := range []string{"", "GOMEMLIMIT=256MiB"} {
			what := "without a limit"
			var env []string
			if limit != "" {
				what, env = "with "+limit, []string{limit}
			}
			if took[i], err = limitedSweep(ctx, out, program, filepath.Join(dir, fmt.Sprint(i)), size, what, env); err != nil {
				return err
			}
		}
		out.Aimed("time with the limit", took[1].Seconds()/took[0].Seconds(), "x", "<= 1.5")
		return nil
	})
}

// limitedSweep returns the time in which a node takes in all feeds.
func limitedSweep(ctx context.Context, out *report.Report, program, dir string, size feedsSize, what string, env []string) (took time.Duration, err error) {
	feedServer, err := startFeedServer(size)
	if err != nil {
		return 0, err
	}
	defer feedServer.stop()
	a, err := newAgent(program, dir)
	if err != nil {
		return 0, err
	}
	a.process.Env = env
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
