package crawl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// web responds to fetches with its pages after a delay, and counts requests.
type web struct {
	pages       map[string]func(r fetch.Request) (fetch.Document, error) // by URL; others are new documents
	proxyErrors map[string]error                                         // errors of proxies, by URL
	delay       time.Duration

	mu       sync.Mutex
	fetched  []string       // URLs in the order of their requests
	now      map[string]int // fetches in progress, by host
	mostHost int            // maximum of concurrent fetches of one host
	most     int            // maximum of concurrent fetches
}

func (w *web) Fetch(ctx context.Context, r fetch.Request, _ time.Time) (fetch.Document, error) {
	host := subjects.HostOf(r.URL)
	w.mu.Lock()
	if w.now == nil {
		w.now = map[string]int{}
	}
	w.fetched = append(w.fetched, r.URL)
	w.now[host]++
	all := 0
	for _, n := range w.now {
		all += n
	}
	w.mostHost, w.most = max(w.mostHost, w.now[host]), max(w.most, all)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now[host]--
	}()
	select {
	case <-time.After(w.delay):
	case <-ctx.Done():
		return fetch.Document{}, &fetch.Error{Class: fetch.ClassTimeout, Err: ctx.Err()}
	}
	if page := w.pages[r.URL]; page != nil {
		return page(r)
	}
	return fetch.Document{
		URL: r.URL + "?redirected", Status: 200, ETag: `W/"1"`, LastModified: "never", ContentType: "text/xml",
		BodyHash: "hash of " + r.URL, Body: []byte("body of " + r.URL), Size: 10,
	}, nil
}

func (w *web) Probe(_ context.Context, proxy string) error { return w.proxyErrors[proxy] }

// unchanged responds that the document is unchanged.
func unchanged(r fetch.Request) (fetch.Document, error) {
	return fetch.Document{URL: r.URL, Status: 304, ETag: r.ETag, LastModified: r.LastModified, BodyHash: r.BodyHash, Unchanged: true}, nil
}

// fails responds with an error.
func fails(class fetch.Class, status int) func(fetch.Request) (fetch.Document, error) {
	return func(fetch.Request) (fetch.Document, error) {
		return fetch.Document{}, &fetch.Error{Class: class, Status: status, RetryAfter: time.Duration(status) * time.Second, Err: errors.New("it is " + string(class))}
	}
}

// crawlerOf returns a crawler that fetches from w.
func crawlerOf(w *web, slots int) (*crawler, *worktest.Outbox) {
	out := &worktest.Outbox{}
	env := &work.Env{Fetch: w, Clock: worktest.AtNoon, Metrics: prometheus.NewRegistry(), Config: config.Config{Crawl: config.Crawl{Parallel: slots}}}
	return newCrawler(env, out), out
}

// crawlOf returns a task for these URLs, with validators.
func crawlOf(urls ...string) subjects.Crawl {
	task := subjects.Crawl{Tier: subjects.Warm}
	for i, url := range urls {
		task.Feeds = append(task.Feeds, subjects.Target{
			FeedID: fmt.Sprintf("f%d", i), URL: url, Due: worktest.Noon.Add(-time.Minute), ETag: `"0"`, LastModified: "then", BodyHash: "before",
		})
	}
	return task
}

// A document whose pages are to be fetched has the route that it came through, as it is in the task.
func TestCrawl_FullTextHasTheRoute(t *testing.T) {
	const proxy = "http://proxy:1"
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
	task := crawlOf("http://a.example/proxied", "http://b.example/direct", "http://c.example/short")
	for i := range task.Feeds {
		f := &task.Feeds[i]
		f.Routes, f.FullText = []subjects.Route{{}, {ID: "eu", URL: proxy}}, i < 2
		w.pages[f.URL] = func(r fetch.Request) (fetch.Document, error) {
			d := fetch.Document{URL: r.URL, Status: 200, Body: []byte("body"), Size: 4}
			if i != 1 {
				d.Route = proxy
			}
			return d, nil
		}
	}
	c, out := crawlerOf(w, 1)
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	got := map[string]subjects.Route{}
	for _, d := range worktest.Sent(t, out, subjects.ParseQueue) {
		got[d.URL] = d.Route
	}
	want := map[string]subjects.Route{task.Feeds[0].URL: {ID: "eu", URL: proxy}, task.Feeds[1].URL: {}, task.Feeds[2].URL: {}}
	if !maps.Equal(got, want) {
		t.Errorf("got routes %v, want %v", got, want)
	}
}

func TestCrawl_PublishesDocumentsAndObservations(t *testing.T) {
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){
		"http://a.example/same":   unchanged,
		"http://b.example/same":   unchanged,
		"http://b.example/down":   fails(fetch.ClassServer, 503),
		"http://c.example/gone":   fails(fetch.ClassClient, 410),
		"http://c.example/lost":   fails(fetch.ClassClient, 404),
		"http://d.example/broken": func(fetch.Request) (fetch.Document, error) { return fetch.Document{}, errors.New("no kind of its own") },
	}}
	c, out := crawlerOf(w, 8)
	task := crawlOf("http://a.example/same", "http://b.example/same", "http://b.example/down", "http://c.example/gone",
		"http://c.example/lost", "http://d.example/broken", "http://d.example/new", "http://e.example/new")
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	parses := worktest.Sent(t, out, subjects.ParseQueue)
	slices.SortFunc(parses, func(a, b subjects.Parse) int { return strings.Compare(a.FeedID, b.FeedID) })
	if len(parses) != 2 {
		t.Fatalf("got %d documents to parse, want 2", len(parses))
	}
	for i, url := range []string{"http://d.example/new", "http://e.example/new"} {
		want := subjects.Receipt{
			FeedID: fmt.Sprintf("f%d", 6+i), Crawl: task.ID(), Fetched: worktest.Noon, Status: 200,
			ETag: `W/"1"`, LastModified: "never", BodyHash: "hash of " + url, Size: 10,
		}
		if got := parses[i]; got.Receipt != want || got.URL != url+"?redirected" || got.ContentType != "text/xml" || !got.Known || string(got.Body) != "body of "+url {
			t.Errorf("got %+v to parse, want %+v", got, want)
		}
	}
	seen := worktest.Only(t, out, subjects.ObserveQueue)
	if !strings.HasPrefix(seen.ID(), "crawl/"+task.ID()+"/") {
		t.Errorf("got observations from %s, want them from the task", seen.ID())
	}
	got := map[string]string{}
	for _, o := range seen.Observations {
		got[o.FeedID] = fmt.Sprint(o.Outcome, " ", o.Class, " ", o.Error, " ", o.RetryAfter, " ", o.Status)
		if o.Crawl != task.ID() || !o.Fetched.Equal(worktest.Noon) || o.Outcome == subjects.Unchanged && (o.ETag != `"0"` || o.BodyHash != "before") {
			t.Errorf("got receipt %+v, want the task's receipt, with the validators of the unchanged document", o.Receipt)
		}
	}
	for id, want := range map[string]string{
		"f0": "unchanged   0s 304",
		"f1": "unchanged   0s 304",
		"f2": "failed http 5xx it is http 5xx 8m23s 503",
		"f3": "gone http 4xx it is http 4xx 6m50s 410",
		"f4": "failed http 4xx it is http 4xx 6m44s 404",
		"f5": "failed reset no kind of its own 0s 0",
		"f6": "fetched   0s 200",
		"f7": "fetched   0s 200",
	} {
		if got[id] != want {
			t.Errorf("feed %s: got %q, want %q", id, got[id], want)
		}
	}
	if len(got) != 8 {
		t.Errorf("got observations of %d feeds, want 8", len(got))
	}
}

func TestCrawl_EmptyTask(t *testing.T) {
	c, out := crawlerOf(&web{}, 1)
	if err := c.Receive(t.Context(), subjects.Crawl{}); err != nil || len(out.Messages) != 0 {
		t.Errorf("got %v and %d messages for an empty task, want none", err, len(out.Messages))
	}
}

func TestCrawl_PassesFullTextOn(t *testing.T) {
	c, out := crawlerOf(&web{}, 1)
	task := crawlOf("http://a.example/")
	task.Feeds[0].FullText = true
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if got := worktest.Sent(t, out, subjects.ParseQueue); len(got) != 1 || !got[0].FullText {
		t.Errorf("got %+v, want full text enabled", got)
	}
}

func TestCrawl_UsesRequestSettings(t *testing.T) {
	var got fetch.Request
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){"http://a.example/": func(r fetch.Request) (fetch.Document, error) {
		got = r
		return fetch.Document{Status: 304, Unchanged: true, Route: "http://u:p@proxy:1", FailedProxies: []string{"http://dead:1"}, Moved: "http://b.example/",
			MaxAge: time.Minute, Took: time.Second}, nil
	}}}
	c, out := crawlerOf(w, 1)
	task := crawlOf("http://a.example/")
	task.Feeds[0].Request = &storage.Request{UserAgent: "mine", Header: map[string]string{"X-Key": "k"}, User: "u", Password: "p"}
	task.Feeds[0].Routes = []subjects.Route{{ID: "dead", URL: "http://dead:1"}, {}, {ID: "good", URL: "http://u:p@proxy:1"}}
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	want := fetch.Request{
		URL: "http://a.example/", ETag: `"0"`, LastModified: "then", BodyHash: "before", UserAgent: "mine",
		Header: map[string]string{"X-Key": "k"}, User: "u", Password: "p", Routes: []string{"http://dead:1", "", "http://u:p@proxy:1"},
		Close: true, // last of its host
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	o := worktest.Only(t, out, subjects.ObserveQueue).Observations[0]
	if o.ProxyID != "good" || !slices.Equal(o.FailedProxies, []string{"dead"}) || o.Moved != "http://b.example/" || o.MaxAge != 60 || o.Duration != time.Second {
		t.Errorf("got %+v, want the fetch's result, with proxies by ID", o)
	}
}

// feedsOf returns the URLs of n feeds on each host.
func feedsOf(hosts, n int) []string {
	var urls []string
	for i := range hosts * n {
		urls = append(urls, fmt.Sprintf("http://host%d.example/%d", i%hosts, i))
	}
	return urls
}

func TestCrawl_HostsInParallelFeedsInSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{delay: time.Second}
		c, _ := crawlerOf(w, 100)
		began := time.Now()
		var group sync.WaitGroup
		for range 2 { // two tasks with the same hosts
			group.Go(func() {
				if err := c.Receive(t.Context(), crawlOf(feedsOf(10, 5)...)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %v, want the 10s of one host's fetches", took)
		}
		if w.mostHost != 1 || w.most != 10 || len(w.fetched) != 100 {
			t.Errorf("got %d fetches, %d concurrent, %d of one host; want 100, 10, 1", len(w.fetched), w.most, w.mostHost)
		}
		if c.hosts.Hosts() != 0 {
			t.Errorf("got locks of %d hosts left, want none", c.hosts.Hosts())
		}
	})
}

func TestCrawl_ReportsFastHostsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(r fetch.Request) (fetch.Document, error) {
			time.Sleep(30 * time.Second)
			return unchanged(r)
		}
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){
			"http://a.example/": unchanged, "http://b.example/": unchanged, "http://slow.example/": slow,
		}}
		c, out := crawlerOf(w, 8)
		task := crawlOf("http://slow.example/", "http://a.example/", "http://b.example/")
		var crawl sync.WaitGroup
		crawl.Go(func() {
			if err := c.Receive(t.Context(), task); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(firstReport + time.Millisecond)
		first := worktest.Sent(t, out, subjects.ObserveQueue)
		if len(first) != 1 || len(first[0].Observations) != 2 {
			t.Errorf("got %+v after a second, want observations of two feeds", first)
		}
		crawl.Wait()
		second := worktest.Sent(t, out, subjects.ObserveQueue)
		if len(second) != 1 || len(second[0].Observations) != 1 || second[0].Observations[0].FeedID != "f0" {
			t.Errorf("got %+v at the end, want the observation of the slow feed", second)
		}
		if first[0].ID() == second[0].ID() {
			t.Error("got equal IDs of both parts: the queue would drop the second")
		}
	})
}

// One message a second or less for hosts that answer one after the other, and none later than a quarter of the time.
func TestCrawl_ReportsSlowHostsInFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
		var urls []string
		for i := range 20 {
			url := fmt.Sprintf("http://host%d.example/", i)
			urls = append(urls, url)
			w.pages[url] = func(r fetch.Request) (fetch.Document, error) {
				time.Sleep(time.Duration(i+1) * time.Second)
				return unchanged(r)
			}
		}
		c, out := crawlerOf(w, 30)
		began, reported, messages := time.Now(), 0, 0
		var crawl sync.WaitGroup
		crawl.Go(func() {
			if err := c.Receive(t.Context(), crawlOf(urls...)); err != nil {
				t.Error(err)
			}
		})
		for reported < len(urls) {
			time.Sleep(50 * time.Millisecond)
			for _, o := range worktest.Sent(t, out, subjects.ObserveQueue) {
				reported, messages = reported+len(o.Observations), messages+1
			}
			elapsed := time.Since(began)
			if answered := int((elapsed - elapsed/4 - 100*time.Millisecond) / time.Second); reported < min(answered, len(urls)) {
				t.Fatalf("after %v: got %d observations, want %d", elapsed, reported, answered)
			}
		}
		crawl.Wait()
		if messages > 15 {
			t.Errorf("got %d messages, want at most 15", messages)
		}
	})
}

// The source's crawlers took 4 s for a message on average.
func TestCrawl_HundredFeedsTakeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{delay: time.Second}
		c, _ := crawlerOf(w, config.Default().Crawl.Parallel)
		began := time.Now()
		if err := c.Receive(t.Context(), crawlOf(feedsOf(subjects.MaxFeeds, 1)...)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("took %v, want 4s at most", took)
		}
	})
}

func TestCrawl_FetchesStayWithinTheSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{delay: time.Second}
		c, _ := crawlerOf(w, 3)
		if err := c.Receive(t.Context(), crawlOf(feedsOf(30, 1)...)); err != nil {
			t.Fatal(err)
		}
		if w.most != 3 || len(c.slots) != 0 {
			t.Errorf("got %d concurrent fetches, %d slots in use afterwards; want 3 and 0", w.most, len(c.slots))
		}
	})
}

func TestCrawl_SkipsUnansweringHost(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers string // t: timeout, c: connection refused, d: DNS error, e: error page, u: unchanged, n: new
		fetched int
	}{
		{"without responses", "tttttt", 2},
		{"unreachable", "cdtttt", 2},
		{"with some responses", "tutetntt", 8},
		{"that stops responding", "uettee", 4},
		{"with unreadable pages", "eeeeee", 6},
	} {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
		var urls []string
		for i, a := range test.answers {
			url := fmt.Sprintf("http://h.example/%d", i)
			urls = append(urls, url)
			w.pages[url] = map[rune]func(fetch.Request) (fetch.Document, error){
				't': fails(fetch.ClassTimeout, 0), 'c': fails(fetch.ClassConnect, 0), 'd': fails(fetch.ClassDNS, 0),
				'e': fails(fetch.ClassServer, 500), 'u': unchanged,
			}[a]
		}
		c, out := crawlerOf(w, 8)
		if err := c.Receive(t.Context(), crawlOf(append(urls, "http://other.example/")...)); err != nil {
			t.Fatal(err)
		}
		if got := len(w.fetched) - 1; got != test.fetched {
			t.Errorf("host %s: got %d fetches, want %d", test.name, got, test.fetched)
		}
		seen := worktest.Sent(t, out, subjects.ObserveQueue)[0].Observations
		if got, want := len(seen), len(test.answers)+1; got != want {
			t.Errorf("host %s: got %d observations, want %d", test.name, got, want)
		}
		for _, o := range seen {
			i := slices.Index(urls, "http://h.example/"+strings.TrimPrefix(o.FeedID, "f"))
			unfetched := i >= test.fetched
			const why = "h.example did not answer requests for 2 other feeds"
			if unfetched != (o.Error == why) || unfetched && (o.Outcome != subjects.Failed || o.Class != string(fetch.ClassTimeout)) {
				t.Errorf("host %s: got %+v for feed %s", test.name, o, o.FeedID)
			}
		}
	}
}

func TestCrawl_TimeoutBlamesNoHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Three tasks: one waits for slots, one for its hosts, and one fetches.
		w := &web{delay: time.Minute, pages: map[string]func(fetch.Request) (fetch.Document, error){"http://host0.example/0": unchanged}}
		c, out := crawlerOf(w, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if err := c.Receive(ctx, crawlOf(feedsOf(4, 3)...)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the deadline exceeded", err)
				}
			})
		}
		group.Wait()
		for _, task := range worktest.Sent(t, out, subjects.ObserveQueue) {
			for _, o := range task.Observations {
				if o.Outcome != subjects.Unchanged && o.Outcome != subjects.Fetched {
					t.Errorf("got %+v, want only completed fetches: the task is repeated", o)
				}
			}
		}
		if c.hosts.Hosts() != 0 || len(c.slots) != 0 {
			t.Errorf("got locks of %d hosts and %d slots left, want none", c.hosts.Hosts(), len(c.slots))
		}
	})
}

func TestCrawl_FailsIfItCannotPublish(t *testing.T) {
	full := errors.New("no room")
	for _, page := range []func(fetch.Request) (fetch.Document, error){nil, unchanged} {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){"http://host0.example/0": page}}
		c, out := crawlerOf(w, 2)
		out.Err = full
		if err := c.Receive(t.Context(), crawlOf("http://host0.example/0")); !errors.Is(err, full) {
			t.Errorf("got %v, want %v", err, full)
		}
		if c.hosts.Hosts() != 0 || len(c.slots) != 0 {
			t.Errorf("got locks of %d hosts and %d slots left, want none", c.hosts.Hosts(), len(c.slots))
		}
	}
}
