package rest

import (
	"net/http"

	"feedmesh/agent/access"
)

// Login returns the client that logs in with a password, which is a token, or [access.ErrInvalidToken]. The
// guard limits the attempts.
func (s *Server) Login(r *http.Request, password string) (access.Client, error) {
	if s.Token == "" && !access.IsGenerated(password) {
		if isLocal(r.Host) {
			return access.Local(), nil
		}
		return access.Client{}, access.ErrInvalidToken
	}
	return s.Tokens.TokenStore.Check(r.Context(), password)
}
