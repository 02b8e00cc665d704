package service

import (
	"context"
	"io"
	"net/url"
	"strconv"

	"feedmesh/agent/wire"
)

// StartImport uploads a list of feeds, OPML or an address a line, and returns the import that adds them. name
// may be empty.
func (c *Client) StartImport(ctx context.Context, name string, list io.Reader) (wire.Import, error) {
	q := url.Values{}
	set(q, "name", name)
	return call[wire.Import](ctx, c, "POST", "/api/feeds/import", q, list)
}

// ImportFeeds adds the feeds of a list, and returns when the import has ended.
func (c *Client) ImportFeeds(ctx context.Context, list io.Reader) (wire.Import, error) {
	started, err := c.StartImport(ctx, "", list)
	if err != nil {
		return started, err
	}
	return c.WaitForImport(ctx, started.ID, func(wire.Import) {})
}

// WaitForImport returns an import when it has ended. Until then it calls each with the progress.
func (c *Client) WaitForImport(ctx context.Context, id string, each func(wire.Import)) (wire.Import, error) {
	return pollUntilDone(ctx, func() (wire.Import, error) { return c.Import(ctx, id) }, func(imp wire.Import) bool { return imp.State == importRunning }, each)
}

// Imports returns the last hundred imports, newest first.
func (c *Client) Imports(ctx context.Context) (wire.Imports, error) {
	return call[wire.Imports](ctx, c, "GET", "/api/imports", nil, nil)
}

// Import returns the progress or result of an import.
func (c *Client) Import(ctx context.Context, id string) (wire.Import, error) {
	return call[wire.Import](ctx, c, "GET", "/api/imports/"+url.PathEscape(id), nil, nil)
}

// ImportLines returns a page of the results of an import, a line for each feed.
func (c *Client) ImportLines(ctx context.Context, s wire.ImportSearch) (wire.ImportPage, error) {
	q := url.Values{}
	set(q, "outcome", s.Outcome)
	set(q, "verdict", s.Verdict)
	if s.Limit > 0 {
		q.Set("limit", strconv.Itoa(s.Limit))
	}
	if s.After > 0 {
		q.Set("after", strconv.Itoa(s.After))
	}
	return call[wire.ImportPage](ctx, c, "GET", importPath(s.ID)+"/lines", q, nil)
}

// CancelImport cancels an import.
func (c *Client) CancelImport(ctx context.Context, id string) (wire.Import, error) {
	return call[wire.Import](ctx, c, "POST", importPath(id)+"/cancel", nil, nil)
}

// ImportReport writes the results of an import as CSV.
func (c *Client) ImportReport(ctx context.Context, id string, to io.Writer) error {
	return c.copyTo(ctx, to, importPath(id)+"/report", nil)
}

func importPath(id string) string { return "/api/imports/" + url.PathEscape(id) }
