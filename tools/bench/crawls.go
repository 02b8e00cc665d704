package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/report"
)

// A fastClock is a clock that several processes share and that runs faster than that of the system.
type fastClock struct {
	start time.Time // at which it had the time of the system
	speed float64
}

func (c fastClock) now() time.Time {
	return c.start.Add(time.Duration(float64(time.Since(c.start)) * c.speed))
}

// serveCrawls takes the crawl tasks of a mesh and answers them without requests: feeds have new items at constant rates of their own.
func serveCrawls(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve-crawls", flag.ContinueOnError)
	port := flags.String("port", "", "port of the results")
	server := flags.String("nats", "", "URL of the NATS server")
	start := flags.Int64("start", 0, "start of the clock, in microseconds of Unix time")
	c := &crawls{last: map[string]time.Time{}}
	flags.Float64Var(&c.clock.speed, "speed", 1, "speed of the clock")
	flags.Float64Var(&c.items, "items", 3, "new items of a feed a day, on average")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	c.clock.start = time.UnixMicro(*start)
	conn, err := nats.Connect(*server)
	if err != nil {
		return err
	}
	defer conn.Close()
	if c.mesh, err = mesh.Join(ctx, mesh.Options{Agent: "crawls", Conn: conn, Log: slog.Default(), Metrics: prometheus.NewRegistry()}); err != nil {
		return err
	}
	http.HandleFunc("GET /results", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		json.NewEncoder(w).Encode(c.results)
	})
	web := &http.Server{Addr: "127.0.0.1:" + *port}
	go web.ListenAndServe()
	var tiers sync.WaitGroup
	for _, tier := range subjects.Tiers {
		tiers.Go(func() {
			if err := mesh.Serve(ctx, c.mesh, subjects.CrawlQueue, tier, c, 2); err != nil {
				slog.Error("crawl tasks not served", "tier", tier, "err", err)
			}
		})
	}
	tiers.Wait()
	return web.Close()
}

// crawls is the actor of crawl tasks.
type crawls struct {
	mesh  *mesh.Mesh
	clock fastClock
	items float64 // of a feed a day, on average

	mu      sync.Mutex
	last    map[string]time.Time // last poll, by feed
	results crawlResults
}

// crawlResults are the polls since the start.
type crawlResults struct {
	Polls, Tasks, Items int64
	Late                [maxLate]int64 // polls by the time since their feeds were due, in tenths of a second; the last: and longer
}

const maxLate = 6000

// since returns the results since earlier ones.
func (r crawlResults) since(before crawlResults) crawlResults {
	r.Polls, r.Tasks, r.Items = r.Polls-before.Polls, r.Tasks-before.Tasks, r.Items-before.Items
	for i := range r.Late {
		r.Late[i] -= before.Late[i]
	}
	return r
}

// late returns a quantile of the time between due and start, in seconds of the schedule's clock, rounded up to a tenth.
func (r crawlResults) late(q float64) float64 {
	polls := 0.0
	for i, n := range r.Late {
		if polls += float64(n); polls >= q*float64(r.Polls) {
			return float64(i+1) / 10
		}
	}
	return math.NaN()
}

// Receive implements [mesh.Actor].
func (c *crawls) Receive(ctx context.Context, task subjects.Crawl) error {
	now := c.clock.now()
	same := subjects.Observe{Source: "crawl/" + task.ID()}
	stored := subjects.Observe{Source: "store/" + task.ID()}
	c.mu.Lock()
	c.results.Tasks++
	for _, t := range task.Feeds {
		c.results.Polls++
		c.results.Late[min(max(0, int64(now.Sub(t.Due)/(100*time.Millisecond))), maxLate-1)]++
		rate := c.rateOf(t.FeedID)
		items := len(published(rate, c.last[t.FeedID], now))
		c.last[t.FeedID] = now
		o := subjects.Observation{
			Receipt: subjects.Receipt{FeedID: t.FeedID, Partition: task.Partition, Crawl: task.ID(), Fetched: now, Status: http.StatusNotModified, ETag: `"1"`, BodyHash: "0123456789abcdef"},
			Outcome: subjects.Unchanged,
		}
		if items == 0 {
			same.Observations = append(same.Observations, o)
			continue
		}
		o.Status, o.Outcome, o.Items, o.Rate, o.Dates = http.StatusOK, subjects.Stored, items, rate, published(rate, time.Time{}, now)
		stored.Observations = append(stored.Observations, o)
		c.results.Items += int64(o.Items)
	}
	c.mu.Unlock()
	var out []subjects.Message
	for _, o := range []subjects.Observe{same, stored} {
		if len(o.Observations) > 0 {
			out = append(out, subjects.ObserveQueue.Message(o))
		}
	}
	return c.mesh.Publish(ctx, out...)
}

// entries is the number of entries of a document.
const entries = 10

// published returns the dates, in seconds of Unix time, of the entries after a time in the document of a feed that publishes so many a
// day at equal intervals.
func published(rate float64, after, now time.Time) (dates []int64) {
	every := 24 * 60 * 60 / rate
	newest := math.Floor(float64(now.Unix()) / every)
	for n := newest; n > newest-entries && int64(n*every) > after.Unix(); n-- {
		dates = append(dates, int64(n*every))
	}
	return dates
}

// rateOf returns the items a day of a feed: log-normal, so that few feeds publish most items.
func (c *crawls) rateOf(feedID string) float64 {
	const sigma = 1.5
	h := fnv.New64a()
	h.Write([]byte(feedID))
	u := (float64(h.Sum64()>>11) + 0.5) / (1 << 53)
	normal := math.Sqrt2 * math.Erfinv(2*u-1)
	return c.items * math.Exp(sigma*normal-sigma*sigma/2)
}

// A remoteCrawls is the process that answers crawl tasks.
type remoteCrawls struct {
	process *engines.Process
	base    string
}

func startCrawls(ctx context.Context, url string, clock fastClock, items float64) (*remoteCrawls, error) {
	process, port, err := startServer("serve-crawls", "-nats", url, "-start", fmt.Sprint(clock.start.UnixMicro()), "-speed", fmt.Sprint(clock.speed), "-items", fmt.Sprint(items))
	if err != nil {
		return nil, err
	}
	c := &remoteCrawls{process, "http://127.0.0.1:" + port}
	if err := process.Ready(time.Minute, func() error { _, err := c.results(ctx); return err }); err != nil {
		process.Kill()
		return nil, err
	}
	return c, nil
}

func (c *remoteCrawls) results(ctx context.Context) (r crawlResults, err error) {
	response, err := get(ctx, c.base+"/results")
	if err != nil {
		return r, err
	}
	defer response.Body.Close()
	return r, json.NewDecoder(response.Body).Decode(&r)
}
