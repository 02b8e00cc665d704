package role

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// Crawl fetches feeds that are due and hands their bytes to parse.
var Crawl = Role{
	Name: "crawl",
	Does: "fetches feeds that are due, and hands on their bytes as they came",
	Run: func(ctx context.Context, env *Env) error {
		c := &crawler{
			fetch: env.Fetch, out: env.Mesh, clock: env.Clock, metrics: env.Metrics,
			slots: make(chan struct{}, env.Config.Crawl.Parallel),
			hosts: newHostLocks(),
		}
		var group errgroup.Group
		for _, tier := range subjects.Tiers {
			// Each tier has workers of its own, so that hot feeds never wait
			// behind a long list of cold ones.
			group.Go(func() error { return mesh.Serve(ctx, env.Mesh, subjects.Crawls, tier, c, crawlWorkers) })
		}
		return group.Wait()
	},
}

// crawlWorkers is how many tasks of a tier are under way at once. Fetches share
// their own, larger bound.
const crawlWorkers = 2

// patience is how many fetches in a row a host may fail to answer before the
// rest of its feeds in the task is given up for this time.
const patience = 2

// A Fetcher fetches one document, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
}

// crawler fetches a task's feeds side by side: each host one at a time, all of
// them within the slots.
type crawler struct {
	fetch   Fetcher
	out     subjects.Publisher
	clock   Clock
	metrics *Metrics
	slots   chan struct{}
	hosts   *hostLocks
}

func (c *crawler) Receive(ctx context.Context, task subjects.Crawl) error {
	byHost := map[string][]subjects.Target{}
	for _, t := range task.Feeds {
		host := hostOf(t.URL)
		byHost[host] = append(byHost[host], t)
	}
	report := &report{out: c.out, task: task.ID()}
	fetching, done := context.WithCancel(ctx)
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error { return every(fetching, reportEvery, report.send) })
	var hosts sync.WaitGroup
	for host, targets := range byHost {
		hosts.Add(1)
		group.Go(func() error {
			defer hosts.Done()
			return c.crawlHost(inner, host, report, targets)
		})
	}
	hosts.Wait()
	done()
	if err := group.Wait(); err != nil {
		return err
	}
	return report.send(ctx)
}

// crawlHost fetches feeds of one host, one after the other.
func (c *crawler) crawlHost(ctx context.Context, host string, report *report, targets []subjects.Target) error {
	release, err := c.hosts.take(ctx, host)
	if err != nil {
		return err
	}
	defer release()
	silent := 0 // fetches in a row that the host did not answer
	for _, t := range targets {
		var o *subjects.Observation
		if silent < patience {
			if o, err = c.crawlFeed(ctx, report.task, t); err != nil {
				return err
			}
		} else {
			o = failed(receipt(report.task, t, c.clock.Now()), fetch.ClassTimeout, fmt.Sprintf("%s did not answer for %d other feeds just before", host, silent))
		}
		if o == nil {
			silent = 0
			continue
		}
		report.add(*o)
		switch fetch.Class(o.Class) {
		case fetch.ClassTimeout, fetch.ClassConnect, fetch.ClassDNS:
			if silent < patience {
				silent++
			}
		default:
			silent = 0
		}
	}
	return nil
}

// crawlFeed fetches one feed. A new document goes to parse, whose word the
// schedule will have; of all else it returns the observation.
func (c *crawler) crawlFeed(ctx context.Context, task string, t subjects.Target) (*subjects.Observation, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	began := c.clock.Now()
	c.metrics.lag.Observe(max(0, began.Sub(t.Due).Seconds()))
	d, err := c.fetch.Fetch(ctx, fetch.Request{URL: t.URL, ETag: t.ETag, LastModified: t.LastModified, BodyHash: t.BodyHash}, began)
	c.metrics.fetchSeconds.Observe(c.clock.Now().Sub(began).Seconds())
	r := receipt(task, t, began)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err() // our time is up, not the host's fault
		}
		return c.fetchFailed(r, err), nil
	}
	c.metrics.fetchBytes.Add(float64(d.Size))
	r.Status, r.ETag, r.LastModified, r.BodyHash = d.Status, d.ETag, d.LastModified, d.BodyHash
	if d.Unchanged {
		c.metrics.fetches.WithLabelValues("unchanged").Inc()
		return &subjects.Observation{Receipt: r, Outcome: subjects.Unchanged}, nil
	}
	c.metrics.fetches.WithLabelValues("fetched").Inc()
	return nil, subjects.Publish(ctx, c.out, subjects.Parses, subjects.Parse{
		Receipt: r, URL: d.URL, ContentType: d.ContentType, Body: d.Body,
	})
}

// fetchFailed says in an observation why a fetch brought nothing.
func (c *crawler) fetchFailed(r subjects.Receipt, err error) *subjects.Observation {
	class, retryAfter := fetch.ClassReset, time.Duration(0)
	if e := (*fetch.Error)(nil); errors.As(err, &e) {
		class, retryAfter, r.Status = e.Class, e.RetryAfter, e.Status
	}
	c.metrics.fetches.WithLabelValues(string(class)).Inc()
	o := failed(r, class, err.Error())
	o.RetryAfter = retryAfter
	if r.Status == 410 {
		o.Outcome = subjects.Gone
	}
	return o
}

func failed[C ~string](r subjects.Receipt, class C, why string) *subjects.Observation {
	return &subjects.Observation{Receipt: r, Outcome: subjects.Failed, Class: string(class), Error: why}
}

func receipt(task string, t subjects.Target, now time.Time) subjects.Receipt {
	return subjects.Receipt{FeedID: t.FeedID, Crawl: task, Fetched: now}
}

// hostOf returns the host that a URL is fetched from, or the URL if it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.ToLower(u.Hostname())
}

// hostLocks lets one fetch at a time go to a host, over all tasks of this
// process. It holds no more hosts than are in use.
type hostLocks struct {
	mu    sync.Mutex
	hosts map[string]*hostLock
}

type hostLock struct {
	free  chan struct{} // holds one token while nobody fetches
	users int
}

func newHostLocks() *hostLocks { return &hostLocks{hosts: map[string]*hostLock{}} }

// take waits for the host to be free and returns what frees it again.
func (l *hostLocks) take(ctx context.Context, host string) (release func(), err error) {
	l.mu.Lock()
	h := l.hosts[host]
	if h == nil {
		h = &hostLock{free: make(chan struct{}, 1)}
		h.free <- struct{}{}
		l.hosts[host] = h
	}
	h.users++
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(l.hosts, host)
		}
	}
	select {
	case <-h.free:
		return func() { h.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
