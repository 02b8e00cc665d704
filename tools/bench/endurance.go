package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"feedmesh/tools/bench/report"
)

// benchEndurance runs a node with default settings, as a separate process, that gets twenty times as many items a second as
// 50,000 real feeds give, and measures whether its memory and its files grow with more than the items that it stores.
func benchEndurance(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("endurance", flag.ContinueOnError)
	size := webSize{feeds: 60_000, hosts: 6_000, window: 10, rate: 50} // 35 items a second
	size.flags(flags)
	lasts := flags.Duration("for", time.Hour, "duration of the measurement")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return inFolder(func(dir string) error {
		program, err := buildAgent(ctx, dir)
		if err != nil {
			return err
		}
		web, err := startWeb(ctx, size)
		if err != nil {
			return err
		}
		defer web.process.Kill()
		a, err := newAgent(program, filepath.Join(dir, "data"))
		if err != nil {
			return err
		}
		defer a.process.Kill()
		e := &endurance{Report: out, agent: a, web: web, data: filepath.Join(dir, "data")}
		return e.run(ctx, *lasts)
	})
}

// An endurance is a node that is measured for long.
type endurance struct {
	*report.Report
	agent   *agent
	web     *remoteWeb
	data    string
	samples []enduranceSample
}

// An enduranceSample is a state of the node.
type enduranceSample struct {
	memory               float64 // RSS, in MB
	items                int64   // stored
	store, index, queues int64   // bytes on disk
}

// sampleEvery is the interval of the samples.
const sampleEvery = 10 * time.Second

func (e *endurance) run(ctx context.Context, lasts time.Duration) error {
	if _, err := e.agent.start(); err != nil {
		return err
	}
	if err := e.web.addTo(ctx, e.agent.Client); err != nil {
		return err
	}
	if _, err := until(ctx, e.agent.Client, time.Second, isTakenIn); err != nil {
		return err
	}
	before, err := readMetrics(ctx, e.agent.health)
	if err != nil {
		return err
	}
	used := e.agent.usage()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := e.sample(ctx); err != nil {
			return err
		}
	}
	spent := e.agent.usage().since(used)
	after, err := readMetrics(ctx, e.agent.health)
	if err != nil {
		return err
	}
	e.Add("polls", spent.rate(after.since(before, "feedmesh_fetch_total")), "/s")
	e.Add("new items", spent.rate(after.since(before, "feedmesh_items_stored_total")), "/s")
	e.Add("CPU of the node", spent.percent(), "% of a core")
	e.rows()
	return e.agent.stop()
}

func (e *endurance) sample(ctx context.Context) error {
	m, err := readMetrics(ctx, e.agent.health)
	if err != nil {
		return err
	}
	under := func(name string) int64 { return bytesUnder(filepath.Join(e.data, name)) }
	e.samples = append(e.samples, enduranceSample{
		memory: e.agent.memory(), items: int64(m.sum("feedmesh_items_stored_total", func(map[string]string) bool { return true })),
		store: under("store.db"), index: under("index"), queues: under("nats"),
	})
	return nil
}

// rows adds the values of each quarter, and their growth from the second to the last: in the first, caches fill.
func (e *endurance) rows() {
	var quarters [4]enduranceSample
	for i := range quarters {
		some := e.samples[i*len(e.samples)/4 : (i+1)*len(e.samples)/4]
		q := some[len(some)-1]
		q.memory = 0
		for _, s := range some {
			q.memory += s.memory / float64(len(some))
		}
		quarters[i] = q
		e.Add(fmt.Sprintf("quarter %d: memory (RSS), on average", i+1), q.memory, "MB")
		e.Add(fmt.Sprintf("quarter %d: items stored since the start, at its end", i+1), float64(q.items), "")
	}
	first, last := quarters[1], quarters[3]
	e.Aimed("growth of memory in half of the time", 100*(last.memory/first.memory-1), "%", "<= 5")
	e.Add("memory (RSS), at most", slices.MaxFunc(e.samples, func(a, b enduranceSample) int { return int(a.memory - b.memory) }).memory, "MB")
	for _, of := range []struct {
		what string
		size func(enduranceSample) int64
	}{
		{"store", func(s enduranceSample) int64 { return s.store }},
		{"index", func(s enduranceSample) int64 { return s.index }},
	} {
		e.Add("on disk: "+of.what+", at the end of the second quarter", float64(of.size(first))/float64(first.items), "bytes an item")
		e.Add("on disk: "+of.what+", at the end", float64(of.size(last))/float64(last.items), "bytes an item")
	}
	e.Add("on disk: queues and schedule, at the end of the second quarter", float64(first.queues)/1e6, "MB")
	e.Aimed("on disk: queues and schedule, growth since", float64(last.queues-first.queues)/1e6, "MB", "<= 64")
}
