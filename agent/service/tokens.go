package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func (s *Server) tokenRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/tokens", "list-tokens", "All tokens but the owner's, without their secrets", 503), s.listTokens)
	add := op("POST", "/api/tokens", "add-token", "Create a token; its secret is shown once", 400, 409, 422, 503)
	add.DefaultStatus = http.StatusCreated
	huma.Register(api, add, s.addToken)
	remove := op("DELETE", "/api/tokens/{id}", "remove-token", "Remove a token; it works nowhere after ten seconds", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeToken)
}

// tokenOfStore returns a token as clients see it.
func tokenOfStore(t storage.Token) wire.Token {
	out := wire.Token{ID: t.ID, Name: t.Name, Scopes: []access.Scope{}, Created: t.Created, Used: t.Used}
	for _, scope := range t.Scopes {
		out.Scopes = append(out.Scopes, access.Scope(scope))
	}
	return out
}

func (s *Server) listTokens(ctx context.Context, _ *struct{}) (*body[wire.Tokens], error) {
	all, err := s.tokens.Tokens(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[wire.Tokens]{Body: wire.Tokens{Tokens: make([]wire.Token, len(all))}}
	for i, token := range all {
		out.Body.Tokens[i] = tokenOfStore(token)
	}
	return out, nil
}

func (s *Server) addToken(ctx context.Context, in *struct{ Body wire.TokenSetting }) (*struct {
	CacheControl string `header:"Cache-Control"`
	Body         wire.NewToken
}, error) {
	name := strings.TrimSpace(in.Body.Name)
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, huma.Error422UnprocessableEntity("the token is wrong, none was made", fieldError("body.name", "a name has letters in it, on one line"))
	}
	token, secret, err := s.tokens.Create(ctx, name, in.Body.Scopes, s.Now())
	if errors.Is(err, storage.ErrTooMany) {
		return nil, huma.Error409Conflict(fmt.Sprintf("there are %d tokens, as many as there may be: remove one first", storage.MaxTokens))
	} else if err != nil {
		return nil, s.problem(err)
	}
	return &struct {
		CacheControl string `header:"Cache-Control"`
		Body         wire.NewToken
	}{"no-store", wire.NewToken{Token: tokenOfStore(token), Secret: secret}}, nil
}

func (s *Server) removeToken(ctx context.Context, in *byID) (*struct{}, error) {
	if err := s.tokens.Remove(ctx, in.ID); err != nil {
		return nil, s.problem(fmt.Errorf("token %s: %w", in.ID, err))
	}
	// The read and starred marks of its client are deleted too.
	if err := s.Store.DeleteMarks(ctx, in.ID); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}
