package rest

import (
	"context"
	"errors"
	"net/http"

	"feedmesh/agent/access"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/wire"
)

// reader returns the Google Reader API. Changes of feeds run through the operations of this package, which
// are in mux.
func (s *Server) reader(mux http.Handler) http.Handler {
	return greader.Handler(greader.Deps{
		Store: s.Store, Login: s.loginOf, Subscribe: s.subscribe, Now: s.Now, Log: s.Log,
		Unsubscribe: func(ctx context.Context, feedID string) error {
			_, err := s.Feeds.Remove(ctx, wire.ByID{ID: feedID})
			return err
		},
		Export: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r = r.Clone(r.Context())
			r.Method, r.URL.Path, r.URL.RawPath = http.MethodGet, "/api/feeds/export", ""
			mux.ServeHTTP(w, r)
		}),
	})
}

// loginOf returns the client that logs in with a password, which is a token. The guard limits the attempts.
func (s *Server) loginOf(r *http.Request, password string) (access.Client, error) {
	if s.Token == "" && !access.IsGenerated(password) {
		if isLocal(r.Host) {
			return access.Local(), nil
		}
		return access.Client{}, access.ErrInvalidToken
	}
	return s.Tokens.TokenStore.Check(r.Context(), password)
}

// subscribe adds a feed and returns its ID, whether or not it was stored before.
func (s *Server) subscribe(ctx context.Context, address string, tags []string) (string, error) {
	intakes, err := s.Feeds.Add(ctx, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{address}, Tags: tags}})
	if err != nil {
		return "", err
	}
	if one := intakes.Results[0]; one.Outcome == wire.ImportInvalid {
		return "", errors.New(one.Reason)
	}
	return s.Store.ResolveFeed(ctx, intakes.Results[0].FeedID)
}
