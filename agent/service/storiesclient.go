package service

import (
	"context"
	"net/url"
	"strconv"

	"feedmesh/agent/wire"
)

// Stories returns a page of stories.
func (c *Client) Stories(ctx context.Context, s wire.StorySearch) (wire.StoryPage, error) {
	q := url.Values{}
	set(q, "language", s.Language)
	set(q, "category", s.Category)
	set(q, "topic", s.Topic)
	setTime(q, "after", s.After)
	setTime(q, "before", s.Before)
	setNumber(q, "sources", s.Sources)
	set(q, "sort", s.Sort)
	setNumber(q, "limit", s.Limit)
	set(q, "cursor", s.Cursor)
	return call[wire.StoryPage](ctx, c, "GET", "/api/stories", q, nil)
}

// Story returns one story with its events and items.
func (c *Client) Story(ctx context.Context, id string) (wire.StoryView, error) {
	return call[wire.StoryView](ctx, c, "GET", "/api/stories/"+url.PathEscape(id), nil, nil)
}

// SplitStory takes an event or an item out of a story, and returns the rest of the story. Pending states that
// the edit is not applied yet.
func (c *Client) SplitStory(ctx context.Context, id string, what wire.SplitRequest) (wire.StoryView, error) {
	return call[wire.StoryView](ctx, c, "POST", "/api/stories/"+url.PathEscape(id)+"/split", nil, what)
}

// JoinStories joins two stories, and returns the result. Pending states that the edit is not applied yet.
func (c *Client) JoinStories(ctx context.Context, id, other string) (wire.StoryView, error) {
	return call[wire.StoryView](ctx, c, "POST", "/api/stories/"+url.PathEscape(id)+"/join", nil, map[string]string{"story_id": other})
}

// Bursts returns at most limit bursts, only those of stories, categories or topics unless of is empty.
func (c *Client) Bursts(ctx context.Context, of string, limit int) (wire.Bursts, error) {
	q := url.Values{}
	set(q, "of", of)
	setNumber(q, "limit", limit)
	return call[wire.Bursts](ctx, c, "GET", "/api/bursts", q, nil)
}

// Duplicates returns the original of an item and its duplicates.
func (c *Client) Duplicates(ctx context.Context, id string) (wire.Duplicates, error) {
	return call[wire.Duplicates](ctx, c, "GET", itemPath(id)+"/duplicates", nil, nil)
}

// Related returns at most limit other items of an item's story.
func (c *Client) Related(ctx context.Context, id string, limit int) (wire.Related, error) {
	q := url.Values{}
	setNumber(q, "limit", limit)
	return call[wire.Related](ctx, c, "GET", itemPath(id)+"/related", q, nil)
}

// Explain compares two items.
func (c *Client) Explain(ctx context.Context, id, with string) (wire.Explanation, error) {
	return call[wire.Explanation](ctx, c, "GET", itemPath(id)+"/explain", url.Values{"with": {with}}, nil)
}

// SetDuplicate makes an item a duplicate of another item. Pending states that the edit is not applied yet.
func (c *Client) SetDuplicate(ctx context.Context, id, of string) (wire.Duplicates, error) {
	return call[wire.Duplicates](ctx, c, "PUT", itemPath(id)+"/duplicate", nil, map[string]string{"of": of})
}

// ClearDuplicate makes an item an original. Pending states that the edit is not applied yet.
func (c *Client) ClearDuplicate(ctx context.Context, id string) (wire.Duplicates, error) {
	return call[wire.Duplicates](ctx, c, "DELETE", itemPath(id)+"/duplicate", nil, nil)
}

// ClickItem counts clicks of readers on an item, at most a hundred.
func (c *Client) ClickItem(ctx context.Context, id string, count int) error {
	resp, err := c.send(ctx, "POST", itemPath(id)+"/clicks", nil, map[string]int{"count": count})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return c.decodeProblem(resp)
	}
	return nil
}

func itemPath(id string) string { return "/api/items/" + url.PathEscape(id) }

func setNumber(q url.Values, name string, n int) {
	if n != 0 {
		q.Set(name, strconv.Itoa(n))
	}
}
