package api

import (
	"context"
	"net/url"

	"feedmesh/storage"
)

// SavedSearches returns all saved searches, ordered by name.
func (c *Client) SavedSearches(ctx context.Context) (SavedSearches, error) {
	return call[SavedSearches](ctx, c, "GET", "/api/searches", nil, nil)
}

// SaveSearch saves a search under a name, in place of any that has it.
func (c *Client) SaveSearch(ctx context.Context, name string, setting SearchSetting) (storage.SavedSearch, error) {
	return call[storage.SavedSearch](ctx, c, "PUT", "/api/searches/"+url.PathEscape(name), nil, setting)
}

// RemoveSearch removes a saved search.
func (c *Client) RemoveSearch(ctx context.Context, name string) error {
	return c.tell(ctx, "DELETE", "/api/searches/"+url.PathEscape(name))
}
