package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"feedmesh/agent/access"
)

// MetadataPath is the path below which clients find the metadata of the server as an OAuth resource: without a suffix, and
// with [Path].
//
// Source: RFC 9728.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Metadata returns the metadata of the server as an OAuth resource, which needs no token. It names no authorization server, since the
// server accepts tokens of feedmesh only: a client that logged in elsewhere would be refused all the same.
func Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := oauthex.ProtectedResourceMetadata{
			Resource: access.Origin(r) + Path, ResourceName: "feedmesh", BearerMethodsSupported: []string{"header"},
		}
		for _, scope := range access.Scopes[:3] { // no tool needs more
			m.ScopesSupported = append(m.ScopesSupported, string(scope))
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(m) // a client that has disconnected is no error
	})
}

// Challenge returns the header WWW-Authenticate of an answer to a request without a valid token.
func Challenge(r *http.Request) string {
	return fmt.Sprintf(`Bearer realm="feedmesh", resource_metadata="%s%s%s"`, access.Origin(r), MetadataPath, Path)
}
