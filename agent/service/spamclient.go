package service

import (
	"context"
	"net/url"
	"strconv"

	"feedmesh/agent/wire"
)

// Spam returns a page of spam, last judged first: all, or of one feed.
func (c *Client) Spam(ctx context.Context, feedID, cursor string, limit int) (wire.SpamPage, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	set(q, "feed", feedID)
	set(q, "cursor", cursor)
	return call[wire.SpamPage](ctx, c, "GET", "/api/spam", q, nil)
}

// ReportSpam corrects an item to be spam.
func (c *Client) ReportSpam(ctx context.Context, id string) error {
	return c.do(ctx, "POST", "/api/items/"+url.PathEscape(id)+"/spam")
}

// ReleaseSpam corrects an item not to be spam.
func (c *Client) ReleaseSpam(ctx context.Context, id string) error {
	return c.do(ctx, "DELETE", "/api/items/"+url.PathEscape(id)+"/spam")
}
