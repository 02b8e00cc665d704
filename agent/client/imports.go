package client

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"feedmesh/agent/wire"
)

// StartImport uploads a list of feeds, OPML or an address a line, and returns the import that adds them. name
// may be empty. The list is sent while it is read.
func (c *Client) StartImport(ctx context.Context, name string, list io.Reader) (wire.Import, error) {
	r := encode(wire.ImportFeeds.Path, reflect.ValueOf(wire.ImportFeedsRequest{Name: name}))
	r.body = list
	return roundTrip(ctx, c, wire.ImportFeeds, r)
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
	get := func() (wire.Import, error) { return Call(ctx, c, wire.GetImport, wire.ByID{ID: id}) }
	return pollUntilDone(ctx, get, func(imp wire.Import) bool { return imp.State == wire.ImportRunning }, each)
}

// ImportReport writes the results of an import as CSV, while they arrive.
func (c *Client) ImportReport(ctx context.Context, id string, to io.Writer) error {
	r := encode(wire.ReportImport.Path, reflect.ValueOf(wire.ByID{ID: id}))
	resp, err := c.send(ctx, wire.ReportImport.Method, r.path, r.query, r.body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return c.decodeProblem(resp)
	}
	if _, err := io.Copy(to, resp.Body); err != nil {
		return fmt.Errorf("copy the response of %s: %w", r.path, err)
	}
	return nil
}
