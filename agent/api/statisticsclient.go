package api

import (
	"context"
	"net/url"
	"strconv"
)

// Statistics returns what came in the last days, 1 to 90, and how feeds are read.
// The zone is named as Europe/Berlin; it is UTC if it is empty.
func (c *Client) Statistics(ctx context.Context, days int, zone string) (Statistics, error) {
	q := url.Values{"days": {strconv.Itoa(days)}}
	set(q, "zone", zone)
	return call[Statistics](ctx, c, "GET", "/api/statistics", q, nil)
}
