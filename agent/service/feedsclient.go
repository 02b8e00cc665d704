package service

import (
	"context"
	"io"
	"net/url"
	"strconv"

	"feedmesh/agent/wire"
)

// Feeds returns a page of all feeds, ordered by URL.
func (c *Client) Feeds(ctx context.Context, after string, limit int) (wire.FeedPage, error) {
	return c.FindFeeds(ctx, wire.FeedSearch{After: after, Limit: limit})
}

// FindFeeds returns a page of feeds.
func (c *Client) FindFeeds(ctx context.Context, s wire.FeedSearch) (wire.FeedPage, error) {
	q := url.Values{}
	set(q, "q", s.Text)
	set(q, "tag", s.Tag)
	set(q, "host", s.Host)
	setTrue(q, "pinned", s.Pinned)
	set(q, "state", s.State)
	set(q, "class", s.Class)
	set(q, "tier", s.Tier)
	set(q, "sort", s.Sort)
	set(q, "after", s.After)
	setTrue(q, "count", s.Count)
	if s.Limit != 0 {
		q.Set("limit", strconv.Itoa(s.Limit))
	}
	return call[wire.FeedPage](ctx, c, "GET", "/api/feeds", q, nil)
}

// FeedFacets returns the numbers of feeds by state, error, tier and tag.
func (c *Client) FeedFacets(ctx context.Context) (wire.FeedFacets, error) {
	return call[wire.FeedFacets](ctx, c, "GET", "/api/feeds/facets", nil, nil)
}

// ChangeFeeds applies a bulk change, step by step. A dry run changes nothing.
func (c *Client) ChangeFeeds(ctx context.Context, b wire.BulkChange) (wire.BulkResult, error) {
	var all wire.BulkResult
	for {
		step, err := call[wire.BulkResult](ctx, c, "POST", "/api/feeds/bulk", nil, b)
		if err != nil {
			return all, err
		}
		all.Found, all.Done, all.Failed = step.Found, all.Done+step.Done, all.Failed+step.Failed
		all.Reasons = append(all.Reasons, step.Reasons...)
		if b.After = step.Next; b.After == "" {
			return all, nil
		}
	}
}

// TestFetch fetches a feed or an address in the way that a crawl does.
func (c *Client) TestFetch(ctx context.Context, in wire.FetchTestRequest) (wire.FetchTest, error) {
	return call[wire.FetchTest](ctx, c, "POST", "/api/feeds/test-fetch", nil, in)
}

// Polls returns the history of a feed's polls.
func (c *Client) Polls(ctx context.Context, id string) (wire.PollHistory, error) {
	return call[wire.PollHistory](ctx, c, "GET", "/api/feeds/"+url.PathEscape(id)+"/polls", nil, nil)
}

// AddFeeds adds feeds by their addresses.
func (c *Client) AddFeeds(ctx context.Context, urls, tags []string) (wire.ImportResults, error) {
	return call[wire.ImportResults](ctx, c, "POST", "/api/feeds", nil, map[string][]string{"urls": urls, "tags": tags})
}

// Discover returns the feeds at an address, without adding any.
func (c *Client) Discover(ctx context.Context, address string) (wire.Discovery, error) {
	return call[wire.Discovery](ctx, c, "POST", "/api/feeds/discover", nil, map[string]string{"url": address})
}

// Feed returns one feed.
func (c *Client) Feed(ctx context.Context, id string) (wire.Feed, error) {
	return call[wire.Feed](ctx, c, "GET", "/api/feeds/"+url.PathEscape(id), nil, nil)
}

// SetFeed changes the settings of a feed.
func (c *Client) SetFeed(ctx context.Context, id string, change wire.FeedChange) (wire.Feed, error) {
	return call[wire.Feed](ctx, c, "PATCH", "/api/feeds/"+url.PathEscape(id), nil, change)
}

// RemoveFeed removes a feed and its items.
func (c *Client) RemoveFeed(ctx context.Context, id string) error {
	return c.do(ctx, "DELETE", "/api/feeds/"+url.PathEscape(id))
}

// RefreshFeed requests an immediate poll of a feed.
func (c *Client) RefreshFeed(ctx context.Context, id string) error {
	return c.do(ctx, "POST", "/api/feeds/"+url.PathEscape(id)+"/refresh")
}

// ExportFeeds writes all feeds as OPML.
func (c *Client) ExportFeeds(ctx context.Context, to io.Writer) error {
	return c.copyTo(ctx, to, "/api/feeds/export", nil)
}
