package api

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"feedmesh/agent/workbench"
)

// TestRules returns what rules make of an item or a document, and why.
func (c *Client) TestRules(ctx context.Context, name string, test RuleTest) (workbench.Tried, error) {
	return call[workbench.Tried](ctx, c, "POST", rulesPath(name)+"/test", nil, test)
}

// BacktestRules returns what a text would change about so many of the newest
// items.
func (c *Client) BacktestRules(ctx context.Context, name string, text []byte, items int) (workbench.Report, error) {
	q := url.Values{"items": {strconv.Itoa(items)}}
	return call[workbench.Report](ctx, c, "POST", rulesPath(name)+"/backtest", q, text)
}

// ApplyRules has what is stored labelled anew by a version of a rule set, the
// newest for version 0.
func (c *Client) ApplyRules(ctx context.Context, name string, version int64) (Job, error) {
	return call[Job](ctx, c, "POST", rulesPath(name)+"/apply", versionQuery(version), nil)
}

// TrainRules has the next version of a rule set learned from what people
// corrected and from so many of the newest items.
func (c *Client) TrainRules(ctx context.Context, name string, items int) (Job, error) {
	return call[Job](ctx, c, "POST", rulesPath(name)+"/train", url.Values{"items": {strconv.Itoa(items)}}, nil)
}

// DiffRules returns what makes one version of a rule set of another, as a unified
// diff. from 0 is the program's own rules, to 0 the newest version.
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
func (c *Client) Jobs(ctx context.Context) (Jobs, error) {
	return call[Jobs](ctx, c, "GET", "/api/jobs", nil, nil)
}

// Job returns how a job is getting on, or what came of it.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	return call[Job](ctx, c, "GET", "/api/jobs/"+url.PathEscape(id), nil, nil)
}

// CancelJob has a job end within a second.
func (c *Client) CancelJob(ctx context.Context, id string) (Job, error) {
	return call[Job](ctx, c, "POST", "/api/jobs/"+url.PathEscape(id)+"/cancel", nil, nil)
}

// UndoJob has items given the labels back that a relabel changed.
func (c *Client) UndoJob(ctx context.Context, id string) (Job, error) {
	return call[Job](ctx, c, "POST", "/api/jobs/"+url.PathEscape(id)+"/undo", nil, nil)
}

// WaitForJob returns a job when it has ended, and until then has each told how it
// is getting on.
func (c *Client) WaitForJob(ctx context.Context, id string, each func(Job)) (Job, error) {
	return waitFor(ctx, func() (Job, error) { return c.Job(ctx, id) }, func(job Job) bool { return job.State == workbench.Running }, each)
}

// Spam returns a page of spam, what was judged last first: all of it, or that of
// one feed.
func (c *Client) Spam(ctx context.Context, feedID, cursor string, limit int) (SpamPage, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	set(q, "feed", feedID)
	set(q, "cursor", cursor)
	return call[SpamPage](ctx, c, "GET", "/api/spam", q, nil)
}

// ReportSpam calls an item spam.
func (c *Client) ReportSpam(ctx context.Context, id string) error {
	return c.tell(ctx, "POST", "/api/items/"+url.PathEscape(id)+"/spam")
}

// ReleaseSpam says that an item is no spam.
func (c *Client) ReleaseSpam(ctx context.Context, id string) error {
	return c.tell(ctx, "DELETE", "/api/items/"+url.PathEscape(id)+"/spam")
}

// LabelItem says what an item is.
func (c *Client) LabelItem(ctx context.Context, id string, said Correction) (ItemView, error) {
	return call[ItemView](ctx, c, "PUT", "/api/items/"+url.PathEscape(id)+"/labels", nil, said)
}

// UnlabelItem forgets what people said of an item.
func (c *Client) UnlabelItem(ctx context.Context, id string) (ItemView, error) {
	return call[ItemView](ctx, c, "DELETE", "/api/items/"+url.PathEscape(id)+"/labels", nil, nil)
}
