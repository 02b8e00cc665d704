package client

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"time"

	"feedmesh/agent/wire"
)

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
		return r, c.unreadable(resp, err)
	}
	r.At, _ = http.ParseTime(resp.Header.Get("Date"))
	return r, nil
}
