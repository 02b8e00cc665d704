package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Tokens answers requests about access tokens.
type Tokens struct {
	*core
	TokenStore *access.TokenStore // checks secrets
}

// tokenOfStore returns a token as clients see it.
func tokenOfStore(t storage.Token) wire.Token {
	scopes := convert(t.Scopes, func(s string) access.Scope { return access.Scope(s) })
	return wire.Token{ID: t.ID, Name: t.Name, Scopes: scopes, Created: t.Created, Used: t.Used}
}

// List returns all tokens but the owner's, without their secrets.
func (t *Tokens) List(ctx context.Context, _ wire.None) (wire.Tokens, error) {
	all, err := t.TokenStore.Tokens(ctx)
	if err != nil {
		return wire.Tokens{}, err
	}
	return wire.Tokens{Tokens: convert(all, tokenOfStore)}, nil
}

// Add creates a token. Its secret is in this answer only.
func (t *Tokens) Add(ctx context.Context, in wire.AddTokenRequest) (wire.NewToken, error) {
	name := strings.TrimSpace(in.Body.Name)
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return wire.NewToken{}, &Error{KindInvalid, "the token is wrong, none was made", []FieldError{fieldf("body.name", "a name has letters in it, on one line")}}
	}
	token, secret, err := t.TokenStore.Create(ctx, name, in.Body.Scopes, t.Now())
	if errors.Is(err, storage.ErrTooMany) {
		return wire.NewToken{}, errorf(KindConflict, "there are %d tokens, as many as there may be: remove one first", storage.MaxTokens)
	}
	return wire.NewToken{Token: tokenOfStore(token), Secret: secret}, err
}

// Remove removes a token with the read and starred marks of its client.
func (t *Tokens) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	if err := t.TokenStore.Remove(ctx, in.ID); err != nil {
		return wire.None{}, fmt.Errorf("token %s: %w", in.ID, err)
	}
	return wire.None{}, t.Store.DeleteMarks(ctx, in.ID)
}
