package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/discover"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/role/parse/feed/compare"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Bounds of a test.
const (
	testedEntries = 10
	testedHeaders = 64  // lines of each header returned
	testedValue   = 500 // bytes of a line returned
	maxFetchTests = 8   // concurrent tests of a process
)

// runningTests is the set of clients with a running test. The zero value is empty.
type runningTests struct {
	mu      sync.Mutex
	clients map[string]bool
}

// start registers a client's test. The caller must call end afterwards.
func (t *runningTests) start(client string) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clients[client] || len(t.clients) >= maxFetchTests {
		return nil, errorf(KindBusy, "a fetch test is running, retry when it has ended")
	}
	if t.clients == nil {
		t.clients = map[string]bool{}
	}
	t.clients[client] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.clients, client)
	}, nil
}

// FetchTests fetches feeds for users. One test of a client runs at a time.
type FetchTests struct {
	*core
	running     runningTests
	comparisons chan struct{} // semaphore of concurrent comparisons of parsers
}

// Run fetches a feed, or an address. A failed fetch is part of the result; only errors such as
// [storage.ErrNotFound] are returned.
func (t *FetchTests) Run(ctx context.Context, r wire.TestFetchRequest) (wire.FetchTest, error) {
	in := r.Body
	if (in.Feed == "") == (in.URL == "") {
		return wire.FetchTest{}, errorf(KindInvalid, "give either a feed's ID or an address")
	}
	end, err := t.running.start(access.From(ctx).ID)
	if err != nil {
		return wire.FetchTest{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	request, proxy, err := t.requestFor(ctx, in.Feed, in.URL)
	if err != nil {
		return wire.FetchTest{}, err
	}
	result := wire.FetchTest{URL: request.URL, Proxy: proxy, Hops: []wire.FetchHop{}, First: []wire.TestedEntry{}}
	began := time.Now()
	request.OnResponse = func(r *http.Response) {
		result.Hops = append(result.Hops, hopOf(r, request, time.Since(began)))
	}
	if request.URL, err = storage.CanonicalURL(request.URL); err == nil {
		result.URL = request.URL
		err = t.tryFetch(ctx, request, in.Compare, &result)
	}
	result.Took = time.Since(began).Milliseconds()
	if err != nil {
		result.Error, result.Problem = err.Error(), fetchProblem(err)
	}
	return result, nil
}

// requestFor returns the request of a feed or an address, and the ID of the configured proxy. Proxies that
// the schedule chose by itself are not used.
func (t *FetchTests) requestFor(ctx context.Context, feedID, address string) (r fetch.Request, proxy string, err error) {
	if feedID == "" {
		return fetch.Request{URL: address}, "", nil
	}
	f, err := t.Store.Feed(ctx, feedID)
	if err != nil {
		return r, "", fmt.Errorf("feed %s: %w", feedID, err)
	}
	r.URL = f.URL
	w, err := t.Secrets.OpenRequest(f.ID, f.Request)
	if w == nil || err != nil {
		return r, "", unopened(err)
	}
	r.UserAgent, r.Header, r.User, r.Password = w.UserAgent, w.Header, w.User, w.Password
	if w.Proxy == "" || w.Proxy == direct {
		return r, "", nil
	}
	proxies, err := storage.Proxies(t.Store).List(ctx)
	if err != nil {
		return r, "", err
	}
	for _, p := range proxies {
		if region := p.Region(); p.ID == w.Proxy && region != "" {
			return r, "", errorf(KindConflict, "the feed is fetched by the crawlers of region %s, which a test cannot use: see its polls", region)
		}
		if p.ID == w.Proxy {
			route, err := t.Secrets.OpenProxy(p.ID, p.URL)
			r.Routes = []string{route}
			return r, p.ID, unopened(err)
		}
	}
	return r, "", nil
}

// unopened returns the error for a user whose feed can't be fetched as configured.
func unopened(err error) error {
	if err == nil {
		return nil
	}
	return errorf(KindConflict, "%v", err)
}

// tryFetch fetches and parses a document.
func (t *FetchTests) tryFetch(ctx context.Context, r fetch.Request, compare bool, result *wire.FetchTest) error {
	d, err := t.Fetcher.Fetch(ctx, r, t.Now())
	if err != nil {
		return err
	}
	result.Size = d.Size
	unpacked, err := fetch.Decompress(d.Body, maxProbeBytes)
	if err != nil {
		return err
	}
	read, err := feed.Parse(unpacked, d.ContentType, d.URL)
	if compare {
		comparison := t.compareParsers(ctx, unpacked, read.Entries)
		result.Comparison = &comparison
	}
	if err != nil {
		return err
	}
	result.Title, result.Format, result.Entries, result.Repaired = read.Title, discover.Format(unpacked), len(read.Entries), read.Malformed
	for _, e := range read.Entries[:min(len(read.Entries), testedEntries)] {
		result.First = append(result.First, wire.TestedEntry{Title: e.Title, Link: e.Link, Published: e.Published})
	}
	return nil
}

// fetchProblem describes an error of fetching or parsing a document.
func fetchProblem(err error) *wire.FeedProblem {
	class, status := "", 0
	var fetching *fetch.Error
	var reading *feed.Error
	switch {
	case errors.As(err, &fetching):
		class, status = string(fetching.Class), fetching.Status
	case errors.As(err, &reading):
		class = string(reading.Kind)
	default:
		class = string(fetch.ClassAddress)
	}
	return &wire.FeedProblem{Summary: DescribeClass(class, status), Advice: remedies[class].advice, Class: class}
}

// hopOf returns an answer and its request as a hop.
func hopOf(r *http.Response, request fetch.Request, after time.Duration) wire.FetchHop {
	secret := func(name string) bool {
		name = textproto.CanonicalMIMEHeaderKey(name)
		own := func(set string) bool { return textproto.CanonicalMIMEHeaderKey(set) == name }
		return slices.Contains(secretHeaders, name) || slices.ContainsFunc(slices.Collect(maps.Keys(request.Header)), own)
	}
	return wire.FetchHop{
		URL: withoutUser(r.Request.URL), Status: r.StatusCode, After: after.Milliseconds(),
		Sent: headerLines(r.Request.Header, secret), Received: headerLines(r.Header, secret),
	}
}

// secretHeaders may contain credentials.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}

func withoutUser(u *url.URL) string {
	bare := *u
	bare.User = nil
	return bare.String()
}

// headerLines returns the lines of a header by name, with secrets redacted.
func headerLines(h http.Header, secret func(name string) bool) []wire.FetchHeader {
	lines := []wire.FetchHeader{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if secret(name) {
				value = redacted
			} else if len(value) > testedValue {
				value = value[:testedValue] + "..."
			}
			if len(lines) < testedHeaders {
				lines = append(lines, wire.FetchHeader{Name: name, Value: strings.ToValidUTF8(value, "\uFFFD")})
			}
		}
	}
	return lines
}

// comparedPairs is the maximum number of differing entries in a comparison.
const comparedPairs = 20

// compareParsers returns the second opinion on a document. One comparison runs at a time in a process, because
// the other parser may need [compare.MaxMemory].
func (t *FetchTests) compareParsers(ctx context.Context, document []byte, ours []feed.Entry) wire.Comparison {
	c := wire.Comparison{Parser: gofeedVersion(), Pairs: []wire.EntryPair{}}
	select {
	case t.comparisons <- struct{}{}:
		defer func() { <-t.comparisons }()
	case <-ctx.Done():
		c.Error = ctx.Err().Error()
		return c
	}
	theirs, err := compare.Parser{Command: t.CompareCommand}.Parse(ctx, document)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	pairs := compare.Pair(compare.OurEntries(ours), theirs.Entries)
	different := compare.Differing(pairs)
	c.Title, c.Format, c.Entries = theirs.Title, theirs.Format, len(theirs.Entries)
	c.Same, c.Differ = len(pairs)-len(different), len(different)
	c.Pairs = append(c.Pairs, different[:min(len(different), comparedPairs)]...)
	return c
}

// gofeedVersion returns the name and version of gofeed in this program.
func gofeedVersion() string {
	const module = "github.com/mmcdole/gofeed"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return "gofeed " + dependency.Version
			}
		}
	}
	return "gofeed"
}
