// Package crawl is the role that fetches feeds, and the pages of entries whose feeds contain only summaries.
package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/bodycache"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/crawl/site"
	"feedmesh/agent/role/work"
	"feedmesh/agent/secret"
	"feedmesh/subjects"
)

// Run fetches the due feeds of the agent's region until ctx ends, and, without a region, the pages of entries.
func Run(ctx context.Context, env *work.Env) error {
	c := newCrawler(env, env.Mesh)
	var group errgroup.Group
	region := env.Config.Region
	if region == "" {
		group.Go(func() error { return servePages(ctx, env, c.hosts) })
	}
	for _, tier := range subjects.Tiers {
		// Each tier has its own workers, so that hot feeds never wait behind a long queue of cold ones.
		group.Go(func() error {
			return mesh.Serve(ctx, env.Mesh, subjects.CrawlQueue, subjects.CrawlPartition(tier, region), c, crawlWorkers)
		})
	}
	return group.Wait()
}

// NewActor returns the actor of the crawl queue, which publishes to out.
func NewActor(env *work.Env, out subjects.Publisher) mesh.Actor[subjects.Crawl] {
	return newCrawler(env, out)
}

func newCrawler(env *work.Env, out subjects.Publisher) *crawler {
	return &crawler{
		fetcher: env.Fetch, out: out, clock: env.Clock, metrics: newMetrics(env.Metrics),
		slots: make(chan struct{}, env.Config.Crawl.Parallel),
		hosts: site.NewLocks(env.Config.Schedule.HostSpacing), bodies: &env.Bodies, secrets: env.Secrets,
	}
}

// crawlWorkers is the number of a tier's tasks in progress. Of a hundred feeds often one runs into its
// timeout, and its task waits for it. So the workers must be enough to keep the fetch slots busy meanwhile,
// and few enough to leave tasks to other agents. Concurrent fetches have a bound of their own.
const crawlWorkers = 16

// maxUnanswered is the number of consecutive fetches without a response after which the host's other feeds in
// the task fail without a request.
const maxUnanswered = 2

// crawler fetches a task's feeds concurrently within the slots, but those of one host in sequence.
type crawler struct {
	fetcher work.Fetcher
	out     subjects.Publisher
	clock   work.Clock
	metrics *metrics
	slots   chan struct{}
	hosts   *site.Locks
	recent  recentHosts
	bodies  *bodycache.Cache
	secrets *secret.Keys
}

func (c *crawler) Receive(ctx context.Context, task subjects.Crawl) error {
	byHost := map[string][]subjects.Target{}
	for _, t := range task.Feeds {
		host := subjects.HostOf(t.URL)
		byHost[host] = append(byHost[host], t)
	}
	report := &report{out: c.out, task: task.ID(), partition: task.Partition}
	fetching, done := context.WithCancel(ctx)
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error { return report.sendUntil(fetching) })
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

// crawlHost fetches feeds of one host in sequence.
func (c *crawler) crawlHost(ctx context.Context, host string, report *report, targets []subjects.Target) error {
	release, err := c.hosts.LockForFeed(ctx, host)
	if err != nil {
		return err
	}
	defer release()
	recent := c.recent.visit(host, c.clock.Now())
	silent := 0 // consecutive fetches without a response
	for i, t := range targets {
		if silent == maxUnanswered {
			o := report.observation(t, c.clock.Now())
			c.fetchFailed(&o, t, &fetch.Error{Class: fetch.ClassTimeout, Err: fmt.Errorf("%s did not answer requests for %d other feeds", host, silent)})
			report.add(o)
			continue
		}
		sealed := t.Routes
		t, unopened, err := c.open(t)
		if err != nil {
			o := report.observation(t, c.clock.Now())
			c.fetchFailed(&o, t, err)
			o.FailedProxies = unopened
			report.add(o)
			continue
		}
		r := requestFor(t)
		r.Close = i == len(targets)-1 && !recent
		o, err := c.crawlFeed(ctx, report, t, sealed, r)
		if err != nil {
			return err
		}
		o.FailedProxies = append(o.FailedProxies, unopened...)
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

// crawlFeed fetches one feed and returns the observation. A new document goes to parse, which publishes the
// next observation. A document whose pages are to be fetched gets the sealed route that it came through.
func (c *crawler) crawlFeed(ctx context.Context, report *report, t subjects.Target, sealed []subjects.Route, r fetch.Request) (subjects.Observation, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return subjects.Observation{}, ctx.Err()
	}
	began := c.clock.Now()
	c.metrics.lag.Observe(max(0, began.Sub(t.Due).Seconds()))
	r.Buffer = c.bodies.Reserve()
	d, err := c.fetcher.Fetch(ctx, r, began)
	c.bodies.Put(d.BodyHash, r.Buffer) // before parse can receive the task
	c.metrics.fetchSeconds.Observe(c.clock.Now().Sub(began).Seconds())
	o := report.observation(t, began)
	if err != nil {
		if ctx.Err() != nil {
			return o, ctx.Err() // the task's timeout, not the host's failure
		}
		c.fetchFailed(&o, t, err)
		return o, nil
	}
	c.metrics.fetchBytes.Add(float64(d.Size))
	o.Status, o.ETag, o.LastModified, o.BodyHash = d.Status, d.ETag, d.LastModified, d.BodyHash
	o.Duration, o.Size, o.MaxAge, o.Moved, o.ProxyID = d.Took, d.Size, int(d.MaxAge/time.Second), d.Moved, wayID(t, d.Route)
	o.FailedProxies = wayIDs(t, d.FailedProxies)
	if d.Unchanged {
		o.Outcome = subjects.Unchanged
	} else {
		o.Outcome = subjects.Fetched
		var route subjects.Route
		if i := slices.IndexFunc(sealed, func(r subjects.Route) bool { return r.ID == o.ProxyID }); t.FullText && o.ProxyID != "" && i >= 0 {
			route = sealed[i]
		}
		if err := report.addDocument(ctx, subjects.Parse{
			Receipt: o.Receipt, URL: d.URL, ContentType: d.ContentType, Hub: d.Hub, Self: d.Self, Body: d.Body, Known: t.BodyHash != "", Route: route,
		}); err != nil {
			return o, err
		}
	}
	c.metrics.fetches.WithLabelValues(string(o.Outcome)).Inc()
	return o, nil
}

// open returns the target with its sealed values opened, without the proxies whose passwords can't be opened, and
// these. It returns an error if the feed can't be requested as configured.
func (c *crawler) open(t subjects.Target) (opened subjects.Target, unopened []string, err error) {
	opened = t
	if opened.Request, err = c.secrets.OpenRequest(t.FeedID, t.Request); err != nil {
		return t, nil, &fetch.Error{Class: fetch.ClassSecret, Err: err}
	}
	opened.Routes = nil
	for _, route := range t.Routes {
		url, failed := c.secrets.OpenProxy(route.ID, route.URL)
		if failed != nil {
			unopened, err = append(unopened, route.ID), fmt.Errorf("proxy %s: %w", route.ID, failed)
			continue
		}
		opened.Routes = append(opened.Routes, subjects.Route{ID: route.ID, URL: url})
	}
	if len(opened.Routes) > 0 || err == nil {
		return opened, unopened, nil
	}
	return t, unopened, &fetch.Error{Class: fetch.ClassSecret, Err: err}
}

// requestFor returns the request for a feed.
func requestFor(t subjects.Target) fetch.Request {
	r := fetch.Request{URL: t.URL, ETag: t.ETag, LastModified: t.LastModified, BodyHash: t.BodyHash}
	if w := t.Request; w != nil {
		r.UserAgent, r.Header, r.User, r.Password = w.UserAgent, w.Header, w.User, w.Password
	}
	for _, route := range t.Routes {
		r.Routes = append(r.Routes, route.URL)
	}
	return r
}

// wayID returns the ID of the proxy with a URL. The URL may contain a password, which must not get into the
// schedule's records.
func wayID(t subjects.Target, url string) string {
	for _, route := range t.Routes {
		if route.URL == url {
			return route.ID
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

// fetchFailed records the error of a fetch in an observation.
func (c *crawler) fetchFailed(o *subjects.Observation, t subjects.Target, err error) {
	o.Outcome, o.Class, o.Error = subjects.Failed, string(fetch.ClassReset), err.Error()
	if e := (*fetch.Error)(nil); errors.As(err, &e) {
		o.Class, o.Status, o.RetryAfter, o.Duration, o.ProxyID = string(e.Class), e.Status, e.RetryAfter, e.Took, wayID(t, e.Route)
		o.FailedProxies, o.OtherRoute = wayIDs(t, e.FailedProxies), e.TryOtherRoute()
	}
	o.Weight = fetch.Weight(fetch.Class(o.Class), o.Status)
	c.metrics.fetches.WithLabelValues(o.Class).Inc()
	if o.Status == 410 {
		o.Outcome = subjects.Gone
	}
}
