package role

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/agent/plan"
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
			hosts: newHostLocks(), shelf: &unpacked,
		}
		c.hosts.spacing = env.Config.Schedule.HostSpacing
		var group errgroup.Group
		group.Go(func() error { return servePages(ctx, env, c.hosts) })
		for _, tier := range subjects.Tiers {
			// Each tier has workers of its own, so that hot feeds never wait
			// behind a long list of cold ones.
			group.Go(func() error { return mesh.Serve(ctx, env.Mesh, subjects.Crawls, tier, c, crawlWorkers) })
		}
		return group.Wait()
	},
}

// crawlWorkers is how many tasks of a tier are under way at once. Of a hundred feeds
// there often is one that does not answer until its time is up, for which its task
// waits: so there are enough for the slots to be busy meanwhile, and few enough for
// other agents to get their share. What is fetched at once has a bound of its own.
const crawlWorkers = 16

// patience is how many fetches in a row a host may fail to answer before the
// rest of its feeds in the task is given up for this time.
const patience = 2

// A Fetcher fetches one document, or tries one proxy, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
	Probe(ctx context.Context, way string) error
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
	often   often
	shelf   *shelf
}

func (c *crawler) Receive(ctx context.Context, task subjects.Crawl) error {
	byHost := map[string][]subjects.Target{}
	for _, t := range task.Feeds {
		host := plan.HostOf(t.URL)
		byHost[host] = append(byHost[host], t)
	}
	report := &report{out: c.out, task: task.ID()}
	fetching, done := context.WithCancel(ctx)
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error { return every(fetching, reportEvery, report.send) })
	group.Go(func() error { return c.probe(inner, task) })
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
	again := c.often.ask(host, c.clock.Now())
	silent := 0 // fetches in a row that the host did not answer
	for i, t := range targets {
		if silent == patience {
			o := observationOf(report.task, t, c.clock.Now())
			c.fetchFailed(&o, t, &fetch.Error{Class: fetch.ClassTimeout, Err: fmt.Errorf("%s did not answer for %d other feeds just before", host, silent)})
			report.add(o)
			continue
		}
		r := requestFor(t)
		r.Last = i == len(targets)-1 && !again
		o, err := c.crawlFeed(ctx, report, t, r)
		if err != nil {
			return err
		}
		report.add(o)
		switch fetch.Class(o.Class) {
		case fetch.ClassTimeout, fetch.ClassConnect, fetch.ClassDNS, fetch.ClassResolver:
			silent++
		default:
			silent = 0
		}
	}
	return nil
}

func observationOf(task string, t subjects.Target, now time.Time) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: t.FeedID, Crawl: task, Fetched: now, FullText: t.FullText}}
}

// crawlFeed fetches one feed as the request says, and returns how that went. A new
// document goes to parse, which has the next word.
func (c *crawler) crawlFeed(ctx context.Context, report *report, t subjects.Target, r fetch.Request) (subjects.Observation, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return subjects.Observation{}, ctx.Err()
	}
	began := c.clock.Now()
	c.metrics.lag.Observe(max(0, began.Sub(t.Due).Seconds()))
	r.Plain = c.shelf.blank()
	d, err := c.fetch.Fetch(ctx, r, began)
	c.shelf.put(d.BodyHash, r.Plain) // before parse hears of it
	c.metrics.fetchSeconds.Observe(c.clock.Now().Sub(began).Seconds())
	o := observationOf(report.task, t, began)
	if err != nil {
		if ctx.Err() != nil {
			return o, ctx.Err() // our time is up, not the host's fault
		}
		c.fetchFailed(&o, t, err)
		return o, nil
	}
	c.metrics.fetchBytes.Add(float64(d.Size))
	o.Status, o.ETag, o.LastModified, o.BodyHash = d.Status, d.ETag, d.LastModified, d.BodyHash
	o.Took, o.Size, o.MaxAge, o.Moved, o.Way = d.Took, d.Size, int(d.MaxAge/time.Second), d.Moved, wayID(t, d.Way)
	o.Dead = wayIDs(t, d.Dead)
	if d.Unchanged {
		o.Outcome = subjects.Unchanged
	} else {
		o.Outcome = subjects.Fetched
		if err := report.hand(ctx, subjects.Parse{
			Receipt: o.Receipt, URL: d.URL, ContentType: d.ContentType, Hub: d.Hub, Self: d.Self, Body: d.Body,
		}); err != nil {
			return o, err
		}
	}
	c.metrics.fetches.WithLabelValues(string(o.Outcome)).Inc()
	return o, nil
}

// requestFor returns how a feed is to be fetched.
func requestFor(t subjects.Target) fetch.Request {
	r := fetch.Request{URL: t.URL, ETag: t.ETag, LastModified: t.LastModified, BodyHash: t.BodyHash}
	if w := t.Request; w != nil {
		r.UserAgent, r.Header, r.User, r.Password = w.UserAgent, w.Header, w.User, w.Password
	}
	for _, way := range t.Ways {
		r.Ways = append(r.Ways, way.URL)
	}
	return r
}

// wayID returns the ID of the proxy with that URL, which has a secret in it that
// is not for the schedule's records.
func wayID(t subjects.Target, url string) string {
	for _, way := range t.Ways {
		if way.URL == url {
			return way.ID
		}
	}
	return ""
}

func wayIDs(t subjects.Target, urls []string) (ids []string) {
	for _, url := range urls {
		ids = append(ids, wayID(t, url))
	}
	return ids
}

// fetchFailed says in an observation why a fetch brought nothing.
func (c *crawler) fetchFailed(o *subjects.Observation, t subjects.Target, err error) {
	o.Outcome, o.Class, o.Error = subjects.Failed, string(fetch.ClassReset), err.Error()
	if e := (*fetch.Error)(nil); errors.As(err, &e) {
		o.Class, o.Status, o.RetryAfter, o.Took, o.Way = string(e.Class), e.Status, e.RetryAfter, e.Took, wayID(t, e.Way)
		o.Dead = wayIDs(t, e.Dead)
	}
	o.Weight = fetch.Weight(fetch.Class(o.Class), o.Status)
	c.metrics.fetches.WithLabelValues(o.Class).Inc()
	if o.Status == 410 {
		o.Outcome = subjects.Gone
	}
}
