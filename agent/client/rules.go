package client

import (
	"context"
	"strconv"

	"feedmesh/agent/wire"
)

// ReadRules returns a version of a rule set; version 0 is the newest.
func ReadRules(ctx context.Context, c *Client, name string, version int64) (wire.RuleText, error) {
	d, err := Call(ctx, c, wire.GetRules, wire.RuleVersionRequest{Name: name, Version: version})
	if err != nil {
		return wire.RuleText{}, err
	}
	number, err := strconv.ParseInt(d.ETag, 10, 64)
	return wire.RuleText{Name: name, Version: number, Text: string(d.Data)}, err
}

// DiffRules returns the unified diff of two versions of a rule set. Version 0 is the built-in rules as the
// old version, and the newest as the new one.
func DiffRules(ctx context.Context, c *Client, name string, from, to int64) (string, error) {
	d, err := Call(ctx, c, wire.DiffRules, wire.DiffRequest{Name: name, From: from, To: to})
	return string(d.Data), err
}

// WaitForJob polls a job until it has ended, and calls each with every state before that.
func WaitForJob(ctx context.Context, c *Client, id string, each func(wire.Job)) (wire.Job, error) {
	return pollUntilDone(ctx, func() (wire.Job, error) { return Call(ctx, c, wire.GetJob, wire.ByID{ID: id}) },
		func(j wire.Job) bool { return j.Finished.IsZero() }, each)
}
