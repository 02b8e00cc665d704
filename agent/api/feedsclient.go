package api

import (
	"context"
	"io"
	"net/url"
	"strconv"
)

// Feeds returns a page of all feeds, ordered by URL.
func (c *Client) Feeds(ctx context.Context, after string, limit int) (FeedPage, error) {
	return c.FindFeeds(ctx, FeedSearch{After: after, Limit: limit})
}

// FindFeeds returns a page of feeds.
func (c *Client) FindFeeds(ctx context.Context, s FeedSearch) (FeedPage, error) {
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
	return call[FeedPage](ctx, c, "GET", "/api/feeds", q, nil)
}

// FeedFacets counts feeds by what they can be looked for by.
func (c *Client) FeedFacets(ctx context.Context) (FeedFacets, error) {
	return call[FeedFacets](ctx, c, "GET", "/api/feeds/facets", nil, nil)
}

// ChangeFeeds does to many feeds what is to be done, step by step. After a dry run
// nothing is changed.
func (c *Client) ChangeFeeds(ctx context.Context, b FeedBulk) (FeedsDone, error) {
	var all FeedsDone
	for {
		step, err := call[FeedsDone](ctx, c, "POST", "/api/feeds/bulk", nil, b)
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

// TestFetch fetches a feed by its ID, or an address if that is empty, as a crawl
// would.
func (c *Client) TestFetch(ctx context.Context, feedID, address string) (FetchTest, error) {
	body := map[string]string{"url": address}
	if feedID != "" {
		body = map[string]string{"feed": feedID}
	}
	return call[FetchTest](ctx, c, "POST", "/api/feeds/test-fetch", nil, body)
}

// Polls returns how the last requests for a feed went.
func (c *Client) Polls(ctx context.Context, id string) (PollHistory, error) {
	return call[PollHistory](ctx, c, "GET", "/api/feeds/"+url.PathEscape(id)+"/polls", nil, nil)
}

// AddFeeds adds feeds by their addresses.
func (c *Client) AddFeeds(ctx context.Context, urls, tags []string) (Intakes, error) {
	return call[Intakes](ctx, c, "POST", "/api/feeds", nil, map[string][]string{"urls": urls, "tags": tags})
}

// Discover looks at an address: whether it is that of a feed, or of a page that
// has some. It adds nothing.
func (c *Client) Discover(ctx context.Context, address string) (Discovery, error) {
	return call[Discovery](ctx, c, "POST", "/api/feeds/discover", nil, map[string]string{"url": address})
}

// Feed returns one feed.
func (c *Client) Feed(ctx context.Context, id string) (Feed, error) {
	return call[Feed](ctx, c, "GET", "/api/feeds/"+url.PathEscape(id), nil, nil)
}

// SetFeed changes what a person decides of a feed.
func (c *Client) SetFeed(ctx context.Context, id string, change Change) (Feed, error) {
	return call[Feed](ctx, c, "PATCH", "/api/feeds/"+url.PathEscape(id), nil, change)
}

// RemoveFeed removes a feed and its items.
func (c *Client) RemoveFeed(ctx context.Context, id string) error {
	return c.tell(ctx, "DELETE", "/api/feeds/"+url.PathEscape(id))
}

// RefreshFeed has a feed polled now.
func (c *Client) RefreshFeed(ctx context.Context, id string) error {
	return c.tell(ctx, "POST", "/api/feeds/"+url.PathEscape(id)+"/refresh")
}

// ExportFeeds writes all feeds as OPML.
func (c *Client) ExportFeeds(ctx context.Context, to io.Writer) error {
	return c.copyTo(ctx, to, "/api/feeds/export", nil)
}
