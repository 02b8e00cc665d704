package wire

import (
	"time"

	"feedmesh/agent/access"
)

// A Token is an access token without its secret.
type Token struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Scopes  []access.Scope `json:"scopes" enum:"metrics,search,read,write,admin"`
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
	Scopes []access.Scope `json:"scopes" minItems:"1" maxItems:"5" enum:"metrics,search,read,write,admin" doc:"Permissions; each scope includes those before it, but only read includes metrics. Tokens for public pages need search only, of monitoring metrics only."`
}

// An AddTokenRequest creates a token.
type AddTokenRequest struct{ Body TokenSetting }

// The operations on tokens.
var (
	ListTokens = Operation[None, Tokens]{ID: "list-tokens", Method: "GET", Path: "/api/tokens", Tag: "tokens", Scope: access.Admin,
		Summary: "All tokens but the owner's, without their secrets", Errors: []int{503}}
	AddToken = Operation[AddTokenRequest, NewToken]{ID: "add-token", Method: "POST", Path: "/api/tokens", Tag: "tokens", Scope: access.Admin,
		Summary: "Create a token; its secret is shown once", Errors: []int{400, 409, 422, 503}, Status: 201, NoStore: true}
	RemoveToken = Operation[ByID, None]{ID: "remove-token", Method: "DELETE", Path: "/api/tokens/{id}", Tag: "tokens", Scope: access.Admin,
		Summary: "Remove a token; it works nowhere after ten seconds", Errors: []int{404, 503}}
)
