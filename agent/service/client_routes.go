package service

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"feedmesh/agent/wire"
)

// Status returns the state of the mesh.
func (c *Client) Status(ctx context.Context) (wire.Status, error) {
	return call[wire.Status](ctx, c, "GET", "/api/status", nil, nil)
}

// Readiness states whether a node is ready, and the health of each dependency.
type Readiness struct {
	Ready  bool         `json:"ready"`
	Checks []wire.Check `json:"checks"`
	At     time.Time    `json:"-"` // the node's time, to the second; zero without a Date header
}

// Ready returns the readiness of a node. A node that is not ready is not an error.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var r Readiness
	resp, err := c.send(ctx, "GET", "/readyz", nil, nil)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable || kind != "application/json" {
		return r, c.decodeProblem(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		return r, c.errNotFeedmesh(resp)
	}
	r.At, _ = http.ParseTime(resp.Header.Get("Date"))
	return r, nil
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// Statistics returns what came in the last days, 1 to 90, and how feeds are read.
// The zone is named as Europe/Berlin; it is UTC if it is empty.
func (c *Client) Statistics(ctx context.Context, days int, zone string) (wire.Statistics, error) {
	q := url.Values{"days": {strconv.Itoa(days)}}
	set(q, "zone", zone)
	return call[wire.Statistics](ctx, c, "GET", "/api/statistics", q, nil)
}
