// Package imageproxy serves the pictures of items in place of their publishers, so that a reader's browser requests nothing
// from other hosts. It fetches them when they are requested, makes them smaller, and caches them in a folder. Only the
// addresses of stored items are fetched, so that it is no open proxy.
package imageproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/storage"
)

// A Size is the maximum size of a picture.
type Size string

// The sizes. A picture is never enlarged.
const (
	Small Size = "small" // for lists
	Large Size = "large" // for the text of an item
)

// widths are the maximum widths of the sizes, in pixels. Heights are at most twice as large.
var widths = map[Size]int{Small: 320, Large: 1280}

// ErrNoPicture reports an address without a picture that can be shown.
var ErrNoPicture = errors.New("no picture that can be shown")

const (
	fetchTimeout = 20 * time.Second
	maxFetches   = 4                // concurrent ones
	failureAge   = 10 * time.Minute // so long a failed picture is not requested again
	maxFailures  = 10_000           // that are recorded
)

// A Picture is a picture in the format of a media type: image/jpeg, image/png, or image/svg+xml for a letter.
type Picture struct {
	Type    string
	Content []byte
}

// A Fetcher fetches documents, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
}

// A Store is the part of [storage.Store] that has items and their feeds.
type Store interface {
	Items(ctx context.Context, ids ...string) ([]storage.Item, error)
	Feed(ctx context.Context, id string) (storage.Feed, error)
}

// Options are the dependencies of a [Proxy].
type Options struct {
	Store   Store
	Fetcher Fetcher      // of feeds: for pictures on the host of the item's feed, which may be in a private network
	Public  Fetcher      // for all others: publishers choose their addresses, so it must refuse private networks
	Folder  string       // of the cache; empty: nothing is cached
	Limit   int64        // of the cache, in bytes
	Space   func() error // returns an error if the disk is too full for changes; then nothing more is cached; may be nil
	Log     *slog.Logger
}

// A Proxy serves the pictures of items. Its methods may be called concurrently.
type Proxy struct {
	Options
	cache   *cache
	fetches *semaphore.Weighted
	icons   *semaphore.Weighted // sites whose icons are fetched
	decodes *semaphore.Weighted // a decoded picture takes much memory
	flight  singleflight.Group

	mu     sync.Mutex
	queued map[string]bool      // icons that are fetched, or wait, by key
	failed map[string]time.Time // when it may be requested again, by key
}

// New returns a proxy. An unusable folder is logged; then nothing is cached.
func New(o Options) *Proxy {
	return &Proxy{
		Options: o, cache: openCache(o.Folder, o.Limit, o.Log),
		fetches: semaphore.NewWeighted(maxFetches), icons: semaphore.NewWeighted(maxIconFetches), decodes: semaphore.NewWeighted(1), queued: map[string]bool{}, failed: map[string]time.Time{},
	}
}

// Path returns the path of a picture of an item, given its address at the publisher.
func Path(itemID, address string, size Size) string {
	return "/items/" + itemID + "/pictures/" + nameOf(address) + "/" + string(size)
}

// nameOf returns the name of an address in paths.
func nameOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:10])
}

// Of returns a picture of a stored item by its name in [Path]. The error is [storage.ErrNotFound] if the item has no such
// picture, or [ErrNoPicture] if it can't be fetched or is none.
func (p *Proxy) Of(ctx context.Context, itemID, name string, size Size) (Picture, error) {
	if widths[size] == 0 {
		return Picture{}, storage.ErrNotFound
	}
	items, err := p.Store.Items(ctx, itemID)
	if err != nil {
		return Picture{}, err
	}
	for _, item := range items {
		for _, address := range item.Images {
			if nameOf(address) == name {
				return p.get(ctx, item.FeedID, address, size)
			}
		}
	}
	return Picture{}, storage.ErrNotFound
}

// get returns the picture of an address in a feed. Concurrent calls share a fetch, which goes on if the caller leaves.
func (p *Proxy) get(ctx context.Context, feedID, address string, size Size) (Picture, error) {
	key := nameOf(feedID + " " + address + " " + string(size))
	if cached, is := p.cache.get(key); is {
		return cached, nil
	}
	if p.failedLately(key) {
		return Picture{}, ErrNoPicture
	}
	done := p.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		made, err := p.make(ctx, feedID, address, widths[size])
		if err != nil {
			p.fail(key, failureAge)
			p.Log.Debug("picture not shown", "url", address, "err", err)
			return Picture{}, fmt.Errorf("%w: %w", ErrNoPicture, err)
		}
		if p.Space == nil || p.Space() == nil {
			p.cache.put(key, made)
		}
		return made, nil
	})
	select {
	case r := <-done:
		return r.Val.(Picture), r.Err
	case <-ctx.Done():
		return Picture{}, ctx.Err()
	}
}

// make fetches a picture and makes it small enough.
func (p *Proxy) make(ctx context.Context, feedID, address string, width int) (Picture, error) {
	_, plain, err := p.fetch(ctx, feedID, address)
	if err != nil {
		return Picture{}, err
	}
	if err := p.decodes.Acquire(ctx, 1); err != nil {
		return Picture{}, err
	}
	defer p.decodes.Release(1)
	return reduce(plain, width)
}

// fetch returns a document and its decompressed content.
func (p *Proxy) fetch(ctx context.Context, feedID, address string) (fetch.Document, []byte, error) {
	if err := p.fetches.Acquire(ctx, 1); err != nil {
		return fetch.Document{}, nil, err
	}
	defer p.fetches.Release(1)
	feed, err := p.Store.Feed(ctx, feedID)
	if err != nil {
		return fetch.Document{}, nil, err
	}
	fetcher, request := p.Public, fetch.Request{URL: address, Close: true}
	if host := hostOf(feed.URL); host != "" && host == hostOf(address) {
		fetcher = p.Fetcher
		request.CheckRedirect = func(to *url.URL) error {
			if to.Host != host {
				return errors.New("it redirects to another host than that of its feed")
			}
			return nil
		}
	}
	d, err := fetcher.Fetch(ctx, request, time.Now())
	if err != nil {
		return fetch.Document{}, nil, err
	}
	var plain bytes.Buffer
	if err := fetch.DecompressTo(&plain, d.Body, d.Size); err != nil {
		return fetch.Document{}, nil, err
	}
	return d, plain.Bytes(), nil
}

// hostOf returns the host of a URL with its port, empty if there is none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// failedLately reports whether a picture failed and is not to be requested again yet.
func (p *Proxy) failedLately(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.failed[key])
}

// fail records a failure for a time. A full record is cleared.
func (p *Proxy) fail(key string, age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.failed) >= maxFailures {
		clear(p.failed)
	}
	p.failed[key] = time.Now().Add(age)
}
