package wire

import (
	"time"

	"feedmesh/agent/access"
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
