package client

import (
	"context"

	"feedmesh/agent/wire"
)

// ChangeFeeds applies a bulk change, step by step. A dry run changes nothing.
func ChangeFeeds(ctx context.Context, c *Client, b wire.BulkChange) (wire.BulkResult, error) {
	var all wire.BulkResult
	for {
		step, err := Call(ctx, c, wire.ChangeFeeds, wire.ChangeFeedsRequest{Body: b})
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
