package api

import (
	"context"
	"net/url"
)

// Tokens returns all tokens but the owner's, without their secrets.
func (c *Client) Tokens(ctx context.Context) (Tokens, error) {
	return call[Tokens](ctx, c, "GET", "/api/tokens", nil, nil)
}

// AddToken makes a token.
func (c *Client) AddToken(ctx context.Context, t TokenSetting) (NewToken, error) {
	return call[NewToken](ctx, c, "POST", "/api/tokens", nil, t)
}

// RemoveToken removes a token.
func (c *Client) RemoveToken(ctx context.Context, id string) error {
	return c.tell(ctx, "DELETE", "/api/tokens/"+url.PathEscape(id))
}
