package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/subjects"
)

// Proxies returns all proxies, ordered by ID.
func (c *Client) Proxies(ctx context.Context) (Proxies, error) {
	return call[Proxies](ctx, c, "GET", "/api/proxies", nil, nil)
}

// SetProxy adds a proxy, or changes it.
func (c *Client) SetProxy(ctx context.Context, id string, p ProxySetting) (Proxy, error) {
	return call[Proxy](ctx, c, "PUT", "/api/proxies/"+url.PathEscape(id), nil, p)
}

// RemoveProxy removes a proxy.
func (c *Client) RemoveProxy(ctx context.Context, id string) error {
	return c.tell(ctx, "DELETE", "/api/proxies/"+url.PathEscape(id))
}

// Search finds items.
func (c *Client) Search(ctx context.Context, s Search) (Found, error) {
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
	return call[Found](ctx, c, "GET", "/api/search", q, nil)
}

// Similar returns at most limit items that are about the same as the one with this
// ID.
func (c *Client) Similar(ctx context.Context, id string, limit int) (Similar, error) {
	q := url.Values{}
	set(q, "limit", strconv.Itoa(limit))
	return call[Similar](ctx, c, "GET", "/api/items/"+url.PathEscape(id)+"/similar", q, nil)
}

// Suggest returns at most limit words of titles that begin with the prefix.
func (c *Client) Suggest(ctx context.Context, prefix string, limit int) (Suggested, error) {
	q := url.Values{}
	set(q, "prefix", prefix)
	set(q, "limit", strconv.Itoa(limit))
	return call[Suggested](ctx, c, "GET", "/api/suggest", q, nil)
}

// Item returns one item, whole.
func (c *Client) Item(ctx context.Context, id string) (ItemView, error) {
	return call[ItemView](ctx, c, "GET", "/api/items/"+url.PathEscape(id), nil, nil)
}

// Status returns how the mesh is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, "GET", "/api/status", nil, nil)
}

// Quarantine returns a page of quarantined tasks, oldest first.
func (c *Client) Quarantine(ctx context.Context, after uint64, limit int) (QuarantinePage, error) {
	q := url.Values{}
	set(q, "after", strconv.FormatUint(after, 10))
	set(q, "limit", strconv.Itoa(limit))
	return call[QuarantinePage](ctx, c, "GET", "/api/quarantine", q, nil)
}

// Quarantined returns one quarantined task, whole.
func (c *Client) Quarantined(ctx context.Context, seq uint64) (subjects.Quarantined, error) {
	return call[subjects.Quarantined](ctx, c, "GET", fmt.Sprintf("/api/quarantine/%d", seq), nil, nil)
}

// Replay puts a quarantined task back on its queue.
func (c *Client) Replay(ctx context.Context, seq uint64) error {
	return c.tell(ctx, "POST", fmt.Sprintf("/api/quarantine/%d/replay", seq))
}

// DropQuarantined forgets a quarantined task.
func (c *Client) DropQuarantined(ctx context.Context, seq uint64) error {
	return c.tell(ctx, "DELETE", fmt.Sprintf("/api/quarantine/%d", seq))
}

// BeginReindex has the index repaired unless that is under way: the items that
// differ from the store's are indexed anew, or all of them.
func (c *Client) BeginReindex(ctx context.Context, all bool) (Reindex, error) {
	q := url.Values{}
	if all {
		q.Set("all", "true")
	}
	return call[Reindex](ctx, c, "POST", "/api/reindex", q, nil)
}

// Reindex returns how the repair of the index is getting on.
func (c *Client) Reindex(ctx context.Context) (Reindex, error) {
	return call[Reindex](ctx, c, "GET", "/api/reindex", nil, nil)
}

// RuleSets returns the rule sets, and which version of each the agents go by.
func (c *Client) RuleSets(ctx context.Context) (RuleSets, error) {
	return call[RuleSets](ctx, c, "GET", "/api/rules", nil, nil)
}

// Rules returns a version of a rule set, the newest for version 0.
func (c *Client) Rules(ctx context.Context, name string, version int64) (RuleText, error) {
	rules := RuleText{Name: name}
	resp, err := c.send(ctx, "GET", rulesPath(name), versionQuery(version), nil)
	if err != nil {
		return rules, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return rules, c.refused(resp)
	}
	rules.Version, err = strconv.ParseInt(strings.Trim(resp.Header.Get("ETag"), `"`), 10, 64)
	if err != nil {
		return rules, c.stranger(resp)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return rules, fmt.Errorf("copy the rules: %w", err)
	}
	rules.Text = string(text)
	return rules, nil
}

// PutRules puts a text as the next version of a rule set. It must be made from
// the newest one, 0 if there is none.
func (c *Client) PutRules(ctx context.Context, name string, from int64, text []byte, note string) (RulePut, error) {
	q := url.Values{"version": {strconv.FormatInt(from, 10)}}
	set(q, "note", note)
	return call[RulePut](ctx, c, "PUT", rulesPath(name), q, text)
}

// CheckRules returns what is wrong with a text, and changes nothing.
func (c *Client) CheckRules(ctx context.Context, name string, text []byte) (RuleCheck, error) {
	return call[RuleCheck](ctx, c, "POST", rulesPath(name)+"/check", nil, text)
}

// RuleVersions returns a page of a rule set's versions, newest first: those older
// than the one before; all are older than 0.
func (c *Client) RuleVersions(ctx context.Context, name string, before int64, limit int) (RuleVersionPage, error) {
	q := url.Values{"before": {strconv.FormatInt(before, 10)}, "limit": {strconv.Itoa(limit)}}
	return call[RuleVersionPage](ctx, c, "GET", rulesPath(name)+"/versions", q, nil)
}

// RestoreRules puts the text of an old version as the next one; for version 0
// that of the program's own rules.
func (c *Client) RestoreRules(ctx context.Context, name string, version int64) (RulePut, error) {
	q := url.Values{"version": {strconv.FormatInt(version, 10)}}
	return call[RulePut](ctx, c, "POST", rulesPath(name)+"/restore", q, nil)
}

func rulesPath(name string) string { return "/api/rules/" + url.PathEscape(name) }

// versionQuery asks for a version, or for the newest one if it is 0.
func versionQuery(version int64) url.Values {
	q := url.Values{}
	if version != 0 {
		q.Set("version", strconv.FormatInt(version, 10))
	}
	return q
}

// Readiness says whether a node is fit to work, and each thing it stands on.
type Readiness struct {
	Ready  bool      `json:"ready"`
	Checks []Check   `json:"checks"`
	At     time.Time `json:"-"` // the node's time, to the second; zero if it did not tell
}

// Ready returns how the node is. One that is not fit to work is no error.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var r Readiness
	resp, err := c.send(ctx, "GET", "/readyz", nil, nil)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable || kind != "application/json" {
		return r, c.refused(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		return r, c.stranger(resp)
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
