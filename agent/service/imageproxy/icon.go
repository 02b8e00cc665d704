package imageproxy

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"feedmesh/agent/role/parse/discover"
	"feedmesh/storage"
)

const (
	iconWidth      = 48 // pixels: 16 to 24 on a page, and twice as many on dense screens
	iconTimeout    = 30 * time.Second
	maxIconFetches = 2              // concurrent sites
	maxIconQueue   = 300            // sites that wait or are fetched; others wait for the next call
	maxIconProbes  = 4              // addresses of a site that are tried
	noIconAge      = 24 * time.Hour // so long a site without an icon is not requested again
)

// Icon returns the icon of a feed's site. While it is not cached, and if the site has none, it is the first letter of the
// feed's name. The icon is then fetched in the background, so that no page waits for it: final reports whether another
// call would return the same. The error is [storage.ErrNotFound] if there is no such feed.
func (p *Proxy) Icon(ctx context.Context, feedID string) (icon Picture, final bool, err error) {
	feed, err := p.Store.Feed(ctx, feedID)
	if err != nil {
		return Picture{}, false, err
	}
	site := siteOf(feed)
	key := nameOf("icon " + site)
	if cached, is := p.cache.get(key); is {
		return cached, true, nil
	}
	letter := letterOf(feed.Name())
	if site == "" || p.cache == nil || p.failedLately(key) {
		return letter, true, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.queued[key] && len(p.queued) < maxIconQueue {
		p.queued[key] = true
		go p.fetchIcon(context.WithoutCancel(ctx), key, feedID, site)
	}
	return letter, false, nil
}

// siteOf returns the address of a feed's site, or that of its host; empty if it has none.
func siteOf(f storage.Feed) string {
	if site := storage.WebURL(f.Site); site != "" {
		return site
	}
	u, err := url.Parse(storage.WebURL(f.URL))
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

// fetchIcon caches the icon of a site, or records that it has none.
func (p *Proxy) fetchIcon(ctx context.Context, key, feedID, site string) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.queued, key)
	}()
	if p.icons.Acquire(ctx, 1) != nil {
		return
	}
	defer p.icons.Release(1)
	ctx, cancel := context.WithTimeout(ctx, iconTimeout)
	defer cancel()
	icon, err := p.findIcon(ctx, feedID, site)
	switch {
	case err != nil:
		p.fail(key, noIconAge)
		p.Log.Debug("no icon of the site", "url", site, "err", err)
	case p.Space != nil && p.Space() != nil:
		p.fail(key, failureAge) // it can't be cached
	default:
		p.cache.put(key, icon)
	}
}

// findIcon returns the first icon of a site that can be decoded.
func (p *Proxy) findIcon(ctx context.Context, feedID, site string) (Picture, error) {
	base, err := url.Parse(site)
	if err != nil {
		return Picture{}, err
	}
	var addresses []string
	if d, page, err := p.fetch(ctx, feedID, site); err == nil {
		addresses = discover.Icons(page, d.ContentType, d.URL)
		addresses = addresses[:min(len(addresses), maxIconProbes-1)]
	}
	for _, address := range append(addresses, base.JoinPath("/favicon.ico").String()) {
		var icon Picture
		if icon, err = p.make(ctx, feedID, address, iconWidth); err == nil {
			return icon, nil
		}
	}
	return Picture{}, fmt.Errorf("%w: %w", ErrNoPicture, err)
}
