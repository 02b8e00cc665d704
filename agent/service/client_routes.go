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
	"feedmesh/storage"
)

// Search returns a page of items that match a search.
func (c *Client) Search(ctx context.Context, s wire.Search) (wire.SearchResults, error) {
	q := url.Values{}
	set(q, "q", s.Query)
	set(q, "feed", s.Feed)
	set(q, "category", s.Category)
	set(q, "topic", s.Topic)
	set(q, "flag", s.Flag)
	set(q, "language", s.Language)
	setTime(q, "after", s.After)
	setTime(q, "before", s.Before)
	setTrue(q, "spam", s.Spam)
	setTrue(q, "duplicates", s.Duplicates)
	setTrue(q, "muted", s.Muted)
	setTrue(q, "once", s.Once)
	setTrue(q, "typing", s.Typing)
	set(q, "sort", s.Sort)
	setTrue(q, "facets", s.Facets)
	if s.Limit != 0 {
		set(q, "limit", strconv.Itoa(s.Limit))
	}
	set(q, "cursor", s.Cursor)
	return call[wire.SearchResults](ctx, c, "GET", "/api/search", q, nil)
}

// Similar returns at most limit items with content similar to that of the given item.
func (c *Client) Similar(ctx context.Context, id string, limit int) (wire.Similar, error) {
	q := url.Values{}
	set(q, "limit", strconv.Itoa(limit))
	return call[wire.Similar](ctx, c, "GET", "/api/items/"+url.PathEscape(id)+"/similar", q, nil)
}

// Suggest returns at most limit words of titles that begin with the prefix.
func (c *Client) Suggest(ctx context.Context, prefix string, limit int) (wire.Suggestions, error) {
	q := url.Values{}
	set(q, "prefix", prefix)
	set(q, "limit", strconv.Itoa(limit))
	return call[wire.Suggestions](ctx, c, "GET", "/api/suggest", q, nil)
}

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

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func setTrue(q url.Values, name string, is bool) {
	if is {
		q.Set(name, "true")
	}
}

// Statistics returns what came in the last days, 1 to 90, and how feeds are read.
// The zone is named as Europe/Berlin; it is UTC if it is empty.
func (c *Client) Statistics(ctx context.Context, days int, zone string) (wire.Statistics, error) {
	q := url.Values{"days": {strconv.Itoa(days)}}
	set(q, "zone", zone)
	return call[wire.Statistics](ctx, c, "GET", "/api/statistics", q, nil)
}

// SavedSearches returns all saved searches, ordered by name.
func (c *Client) SavedSearches(ctx context.Context) (wire.SavedSearches, error) {
	return call[wire.SavedSearches](ctx, c, "GET", "/api/searches", nil, nil)
}

// SaveSearch saves a search under a name, in place of any that has it.
func (c *Client) SaveSearch(ctx context.Context, name string, setting wire.SearchSetting) (storage.SavedSearch, error) {
	return call[storage.SavedSearch](ctx, c, "PUT", "/api/searches/"+url.PathEscape(name), nil, setting)
}

// RemoveSearch removes a saved search.
func (c *Client) RemoveSearch(ctx context.Context, name string) error {
	return c.do(ctx, "DELETE", "/api/searches/"+url.PathEscape(name))
}
