// Package fulltext fetches the full text of an item from the page that it links to, when a reader requests it. The agent
// that serves the request fetches the page itself, so that it works without an agent with role crawl.
package fulltext

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/crawl/page"
	"feedmesh/agent/role/crawl/site"
	"feedmesh/agent/role/prepare"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	timeout     = 25 * time.Second // of a request, with robots.txt and redirects
	spacing     = time.Second      // of requests to a host
	maxFetches  = 8                // concurrent ones
	perSecond   = 10. / 60         // requests of a client
	maxAtOnce   = 10               // requests of a client in a burst
	maxTextHTML = 2 << 20          // bytes of a stored text
)

// Reasons why there is no full text, beside those of packages fetch, page and site.
var (
	ErrBusy     = errors.New("too many full texts are requested, retry in a minute")
	ErrRunning  = errors.New("the full text of this item is being fetched, retry in a moment")
	ErrNoPage   = errors.New("the item links to no page")
	ErrNoBetter = errors.New("the page contains no fuller text about the subject of the item")
	ErrTimeout  = errors.New("the page did not arrive in time")
)

// A Fetcher makes the full texts of items. Its methods may be called concurrently.
type Fetcher struct {
	own, public *site.Pages
	rules       func() *text.Rules
	now         func() time.Time
	limit       *access.Limiter

	mu      sync.Mutex
	running map[string]bool // by item ID
}

// New returns a Fetcher. Pages on the host of the item's feed, which may be in a private network, are fetched by own.
// Publishers choose the addresses of all others, so public must refuse private networks. rules are those in force.
func New(own, public fetch.Fetcher, rules func() *text.Rules, now func() time.Time) *Fetcher {
	locks := site.NewLocks(spacing)
	return &Fetcher{
		own: site.New(own, locks, now), public: site.New(public, locks, now), rules: rules, now: now,
		limit: access.NewLimiter(perSecond, maxAtOnce), running: map[string]bool{},
	}
}

// Text fetches the text of an item of a feed for a client. An item is fetched once at a time.
func (f *Fetcher) Text(ctx context.Context, client string, feed storage.Feed, item storage.Item) (storage.ItemText, error) {
	if storage.WebURL(item.URL) == "" {
		return storage.ItemText{}, ErrNoPage
	}
	end, err := f.begin(client, item.ID)
	if err != nil {
		return storage.ItemText{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	d, err := f.fetch(ctx, feed.URL, item.URL)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return storage.ItemText{}, ErrTimeout
		}
		return storage.ItemText{}, err
	}
	found, err := f.public.Extract(d)
	if err != nil {
		return storage.ItemText{}, err
	}
	if !site.IsFuller(item.Title, item.HTML, item.Excerpt, found) || len(found.HTML) > maxTextHTML {
		return storage.ItemText{}, ErrNoBetter
	}
	return f.made(d.URL, feed, item, found), nil
}

// begin registers a request of a client for an item. The caller calls end afterwards.
func (f *Fetcher) begin(client, item string) (end func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[item] {
		return nil, ErrRunning
	}
	if len(f.running) >= maxFetches || !f.limit.Take(client).OK {
		return nil, ErrBusy
	}
	f.running[item] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, item)
	}, nil
}

// fetch fetches a page that an item of a feed links to.
func (f *Fetcher) fetch(ctx context.Context, feedURL, address string) (fetch.Document, error) {
	a, errA := url.Parse(feedURL)
	b, errB := url.Parse(address)
	if errA != nil || errB != nil || a.Host != b.Host {
		return f.public.Fetch(ctx, address)
	}
	d, err := f.own.FetchAt(ctx, address)
	if other := (*site.OtherHostError)(nil); errors.As(err, &other) {
		return f.public.Fetch(ctx, other.To)
	}
	return d, err
}

// made returns an article as the text of an item: cleaned as all entries are, with the files that the item has already.
func (f *Fetcher) made(address string, feed storage.Feed, item storage.Item, found page.Article) storage.ItemText {
	rules := text.Default()
	if f.rules != nil {
		rules = f.rules()
	}
	document := subjects.Document{Receipt: subjects.Receipt{FeedID: feed.ID, Fetched: f.now()}, URL: feed.URL, Title: feed.Title}
	made := prepare.Item(rules, document, subjects.Entry{Key: item.Key, Link: address, Title: item.Title, HTML: found.HTML, Image: found.Image})
	t := storage.ItemText{HTML: made.HTML, Images: made.Images, Enclosures: item.Enclosures, TextHash: made.TextHash}
	if len(t.Images) == 0 {
		t.Images = item.Images
	}
	for _, e := range made.Enclosures {
		if !slices.ContainsFunc(t.Enclosures, func(had storage.Enclosure) bool { return had.URL == e.URL }) {
			t.Enclosures = append(slices.Clip(t.Enclosures), e)
		}
	}
	return t
}
