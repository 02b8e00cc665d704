package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// benchCrawl prints how fast a node polls feeds, and what memory they take.
func benchCrawl(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("crawl", flag.ContinueOnError)
	feeds := flags.Int("feeds", 50_000, "synthetic feeds to poll")
	hosts := flags.Int("hosts", 5_000, "addresses of this machine they are spread over")
	scheduled := flags.Int("scheduled", 1_000_000, "feeds to schedule without polling them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &run{clock: &clock{}, feeds: *feeds}
	for _, part := range []func(context.Context) error{
		func(ctx context.Context) error { return r.crawl(ctx, *hosts) },
		func(ctx context.Context) error { return r.scheduleOnly(ctx, *scheduled) },
	} {
		if err := r.inFolder(ctx, part); err != nil {
			return err
		}
	}
	r.table.print(os.Stdout)
	return nil
}

// inFolder does something with a data folder of its own.
func (r *run) inFolder(ctx context.Context, do func(context.Context) error) (err error) {
	if r.dir, err = os.MkdirTemp("", "feedmesh-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	return do(ctx)
}

// crawl measures polls that find nothing new and such that find an item.
func (r *run) crawl(ctx context.Context, hosts int) (err error) {
	if r.farm, err = startFarm(ctx, r.feeds, 1, hosts); err != nil {
		return err
	}
	defer r.farm.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, err := r.start(ctx, settings(r.dir))
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.takeInAll, r.unchangedSweeps, r.changedSweep} {
		if err := step(ctx); err != nil {
			cancel()
			<-ended
			return err
		}
	}
	r.remembers(r.feeds, "polled")
	cancel()
	return <-ended
}

// takeInAll gives the node its feeds and waits until it knows all their items.
func (r *run) takeInAll(ctx context.Context) error {
	if _, err := r.ImportFeeds(ctx, strings.NewReader(strings.Join(r.farm.urls, "\n"))); err != nil {
		return err
	}
	_, err := r.until(ctx, func(st api.Status) bool { return st.Indexed >= int64(r.feeds) })
	return err
}

// changedSweep measures polls that find one new item each, until the last of them
// can be found.
func (r *run) changedSweep(ctx context.Context) error {
	if err := r.farm.publish(); err != nil {
		return err
	}
	used, began := cpuTime(), time.Now()
	r.clock.add(25 * time.Hour) // all are due at once
	if _, err := r.until(ctx, func(st api.Status) bool { return st.Indexed >= int64(2*r.feeds) }); err != nil {
		return err
	}
	took, cpu := time.Since(began), cpuTime()-used
	r.table.add("changed polls", "%.0f /s", float64(r.feeds)/took.Seconds())
	r.table.add("changed polls: CPU of the node, to searchable", "%.0f us a poll", cpu.Seconds()*1e6/float64(r.feeds))
	return nil
}

// remembers adds a row of the memory in use now.
func (r *run) remembers(feeds int, how string) {
	debug.FreeOSMemory()
	r.table.add(fmt.Sprintf("memory with %d feeds %s (RSS)", feeds, how), "%.0f MB", float64(memory("VmRSS"))/1e6)
}

// scheduleOnly measures a node that has feeds in its schedule and polls none: one
// that sees them for the first time, and one that is started again.
func (r *run) scheduleOnly(ctx context.Context, feeds int) error {
	if err := fillStore(ctx, filepath.Join(r.dir, "store.db"), feeds); err != nil {
		return err
	}
	for _, how := range []string{"new", "known before"} {
		took, err := r.untilScheduled(ctx, feeds)
		if err != nil {
			return err
		}
		r.table.add(fmt.Sprintf("%d feeds, %s, are scheduled after the start within", feeds, how), "%.0f s", took.Seconds())
	}
	return nil
}

// untilScheduled starts a node, waits until all feeds are in its schedule, notes
// its memory, and stops it.
func (r *run) untilScheduled(ctx context.Context, feeds int) (took time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := settings(r.dir)
	c.Roles = []string{"schedule", "store", "api"}
	began := time.Now()
	ended, err := r.start(ctx, c)
	if err != nil {
		return 0, err
	}
	for known := 0; known < feeds && err == nil; time.Sleep(time.Second) {
		known, err = r.scheduled(ctx)
	}
	took = time.Since(began)
	if err == nil {
		r.remembers(feeds, "scheduled")
	}
	cancel()
	return took, errors.Join(err, <-ended)
}

// fillStore makes a store of feeds that were never polled.
func fillStore(ctx context.Context, path string, feeds int) (err error) {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer store.Close()
	const chunk = 1000
	for first := 0; first < feeds; first += chunk {
		list := make([]storage.Feed, 0, chunk)
		for i := first; i < min(first+chunk, feeds); i++ {
			url := fmt.Sprintf("http://host%d.example/feed/%d", i/10, i)
			list = append(list, storage.Feed{ID: storage.FeedID(url), URL: url, Added: time.Now()})
		}
		if _, err := store.AddFeeds(ctx, list...); err != nil {
			return err
		}
	}
	return nil
}

// scheduled returns how many feeds the schedule has.
func (r *run) scheduled(ctx context.Context) (sum int, err error) {
	page, err := r.metrics(ctx)
	if err != nil {
		return 0, err
	}
	defer page.Close()
	for lines := bufio.NewScanner(page); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "feedmesh_feeds{") || strings.Contains(lines.Text(), `state="failing"`) {
			continue
		}
		value := lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:]
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum += int(n)
	}
	return sum, nil
}
