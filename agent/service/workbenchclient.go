package service

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
)

// TestRules returns the decision of rules on an item or a document, with the reasons.
func (c *Client) TestRules(ctx context.Context, name string, test wire.RuleTest) (workbench.TrialResult, error) {
	return call[workbench.TrialResult](ctx, c, "POST", rulesPath(name)+"/test", nil, test)
}

// BacktestRules returns the changes that a text would make to the given number of newest items.
func (c *Client) BacktestRules(ctx context.Context, name string, text []byte, items int) (workbench.Report, error) {
	q := url.Values{"items": {strconv.Itoa(items)}}
	return call[workbench.Report](ctx, c, "POST", rulesPath(name)+"/backtest", q, text)
}

// ApplyRules starts a job that labels stored items again by a version of a rule set; version 0 is the newest.
func (c *Client) ApplyRules(ctx context.Context, name string, version int64) (wire.Job, error) {
	return call[wire.Job](ctx, c, "POST", rulesPath(name)+"/apply", versionQuery(version), nil)
}

// TrainRules starts a job that trains the next version of a rule set on corrections and on the given number
// of newest items.
func (c *Client) TrainRules(ctx context.Context, name string, items int) (wire.Job, error) {
	return call[wire.Job](ctx, c, "POST", rulesPath(name)+"/train", url.Values{"items": {strconv.Itoa(items)}}, nil)
}

// DiffRules returns the unified diff of two versions. from 0 is the built-in version, to 0 the newest.
func (c *Client) DiffRules(ctx context.Context, name string, from, to int64) (string, error) {
	q := url.Values{"from": {strconv.FormatInt(from, 10)}}
	if to != 0 {
		q.Set("to", strconv.FormatInt(to, 10))
	}
	var diff strings.Builder
	err := c.copyTo(ctx, &diff, rulesPath(name)+"/diff", q)
	return diff.String(), err
}

// Jobs returns the last hundred jobs, newest first.
func (c *Client) Jobs(ctx context.Context) (wire.Jobs, error) {
	return call[wire.Jobs](ctx, c, "GET", "/api/jobs", nil, nil)
}

// Job returns the progress or result of a job.
func (c *Client) Job(ctx context.Context, id string) (wire.Job, error) {
	return call[wire.Job](ctx, c, "GET", "/api/jobs/"+url.PathEscape(id), nil, nil)
}

// CancelJob cancels a job, within a second.
func (c *Client) CancelJob(ctx context.Context, id string) (wire.Job, error) {
	return call[wire.Job](ctx, c, "POST", "/api/jobs/"+url.PathEscape(id)+"/cancel", nil, nil)
}

// UndoJob starts a job that restores the labels that a relabel changed.
func (c *Client) UndoJob(ctx context.Context, id string) (wire.Job, error) {
	return call[wire.Job](ctx, c, "POST", "/api/jobs/"+url.PathEscape(id)+"/undo", nil, nil)
}

// WaitForJob returns a job when it has ended. Until then it calls each with the progress.
func (c *Client) WaitForJob(ctx context.Context, id string, each func(wire.Job)) (wire.Job, error) {
	return pollUntilDone(ctx, func() (wire.Job, error) { return c.Job(ctx, id) }, func(job wire.Job) bool { return job.State == workbench.Running }, each)
}

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

// LabelItem corrects the labels of an item.
func (c *Client) LabelItem(ctx context.Context, id string, correction wire.Correction) (wire.ItemView, error) {
	return call[wire.ItemView](ctx, c, "PUT", "/api/items/"+url.PathEscape(id)+"/labels", nil, correction)
}

// UnlabelItem deletes the corrections of an item.
func (c *Client) UnlabelItem(ctx context.Context, id string) (wire.ItemView, error) {
	return call[wire.ItemView](ctx, c, "DELETE", "/api/items/"+url.PathEscape(id)+"/labels", nil, nil)
}
