package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// A Token is an access token without its secret.
type Token struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Scopes  []access.Scope `json:"scopes" enum:"search,read,write,admin"`
	Created time.Time      `json:"created"`
	Used    time.Time      `json:"used,omitzero" doc:"When it was used last, within a minute; absent: never."`
}

// Tokens are all tokens but the owner's, in the order they were made.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// A NewToken is a created token with its secret.
type NewToken struct {
	Token
	Secret string `json:"secret" doc:"Secret of the token. It is returned once and not stored."`
}

// A TokenSetting describes a token to create.
type TokenSetting struct {
	Name   string         `json:"name" minLength:"1" maxLength:"64" doc:"Name of the token, such as its device or site."`
	Scopes []access.Scope `json:"scopes" minItems:"1" maxItems:"4" enum:"search,read,write,admin" doc:"Permissions; each scope includes those before it. Tokens for public pages need search only."`
}

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
func tokenOfStore(t storage.Token) Token {
	out := Token{ID: t.ID, Name: t.Name, Scopes: []access.Scope{}, Created: t.Created, Used: t.Used}
	for _, scope := range t.Scopes {
		out.Scopes = append(out.Scopes, access.Scope(scope))
	}
	return out
}

func (s *Server) listTokens(ctx context.Context, _ *struct{}) (*body[Tokens], error) {
	all, err := s.tokens.Tokens(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[Tokens]{Body: Tokens{Tokens: make([]Token, len(all))}}
	for i, token := range all {
		out.Body.Tokens[i] = tokenOfStore(token)
	}
	return out, nil
}

func (s *Server) addToken(ctx context.Context, in *struct{ Body TokenSetting }) (*struct {
	CacheControl string `header:"Cache-Control"`
	Body         NewToken
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
		Body         NewToken
	}{"no-store", NewToken{Token: tokenOfStore(token), Secret: secret}}, nil
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
