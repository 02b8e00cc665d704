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

// A Token is what a client may show, without its secret.
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

// A NewToken is a token that was made, with its secret.
type NewToken struct {
	Token
	Secret string `json:"secret" doc:"What the client must show. It is told this once, and kept nowhere."`
}

// A TokenSetting is what a token is to be.
type TokenSetting struct {
	Name   string         `json:"name" minLength:"1" maxLength:"64" doc:"By which you know it, as the device or the site it is for."`
	Scopes []access.Scope `json:"scopes" minItems:"1" maxItems:"4" enum:"search,read,write,admin" doc:"What it may do; each scope may do what those before it may. A token that may only search is fit for public pages."`
}

func (s *Server) tokenRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/tokens", "list-tokens", "All tokens but the owner's, without their secrets", 503), s.listTokens)
	add := op("POST", "/api/tokens", "add-token", "Make a token; its secret is told only now", 400, 409, 422, 503)
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
	all, err := s.keeper.Tokens(ctx)
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
		return nil, huma.Error422UnprocessableEntity("the token is wrong, none was made", fault("body.name", "a name has letters in it, on one line"))
	}
	token, secret, err := s.keeper.Make(ctx, name, in.Body.Scopes, s.Now())
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
	if err := s.keeper.Remove(ctx, in.ID); err != nil {
		return nil, s.problem(fmt.Errorf("token %s: %w", in.ID, err))
	}
	// What its client read and starred is nobody's any more.
	if err := s.Store.ForgetMarks(ctx, in.ID); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}
