package wire

import (
	"time"

	"feedmesh/agent/access"
)

// A Token is an access token without its secret.
type Token struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Scopes  []access.Scope `json:"scopes" enum:"metrics,search,read,write,rules,admin"`
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
	Scopes []access.Scope `json:"scopes" minItems:"1" maxItems:"6" enum:"metrics,search,read,write,rules,admin" doc:"Permissions; each scope includes those before it, but only read includes metrics. Tokens for public pages need search only, of monitoring metrics only."`
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

// A Person is a user who logs in with a password.
type Person struct {
	Name     string      `json:"name"`
	Role     access.Role `json:"role" enum:"owner,editor,reader"`
	Created  time.Time   `json:"created"`
	Password bool        `json:"password" doc:"Whether a password is set."`
	Provider string      `json:"provider" enum:"none,allowed,bound" doc:"Login by the OpenID provider: none, allowed for the next account of the person's name, or bound to an account."`

	Link string `json:"link,omitempty" doc:"Path of the page that sets the password; it works once, within a day. It is returned once and not stored."`
}

// A ListedPerson is a person with the use of the account.
type ListedPerson struct {
	Person
	Sessions int       `json:"sessions" doc:"Number of sessions."`
	Tokens   int       `json:"tokens" doc:"Number of tokens that the person made for programs."`
	Used     time.Time `json:"used,omitzero" doc:"When a session or a token was used last, within a minute; absent: never."`
}

// Values of [Person.Provider].
const (
	ProviderNone    = "none"
	ProviderAllowed = "allowed"
	ProviderBound   = "bound"
)

// People are all people, ordered by name.
type People struct {
	People []ListedPerson `json:"people"`
}

// A NewPerson describes a person to add.
type NewPerson struct {
	Name     string      `json:"name" minLength:"1" maxLength:"64" doc:"Name to log in with: letters and digits without spaces; upper and lower case are the same."`
	Role     access.Role `json:"role" enum:"owner,editor,reader" doc:"Owners may do everything, editors change feeds, items, stories and rules, readers read."`
	Password *string     `json:"password,omitempty" maxLength:"1024" doc:"At least 12 characters; absent: the answer has a link that sets it, unless oidc is set."`
	OIDC     bool        `json:"oidc,omitempty" doc:"Let the first account of the name at the OpenID provider log in."`
}

// An AddPersonRequest adds a person.
type AddPersonRequest struct{ Body NewPerson }

// A PersonSetting changes a person.
type PersonSetting struct {
	Role     access.Role `json:"role,omitempty" enum:"owner,editor,reader"`
	Password *string     `json:"password,omitempty" maxLength:"1024" doc:"At least 12 characters. It ends all sessions of the person."`
	Link     bool        `json:"link,omitempty" doc:"Return a link that sets a password, instead of an earlier link."`
	OIDC     bool        `json:"oidc,omitempty" doc:"Let the next account of the name at the OpenID provider log in, instead of an earlier account."`
	Revoke   bool        `json:"revoke,omitempty" doc:"End all sessions, and remove all tokens, passkeys, the account at the OpenID provider, and the link. The password stays."`
}

// A SetPersonRequest changes a person.
type SetPersonRequest struct {
	ByName
	Body PersonSetting
}

// ByName is a request that names a person.
type ByName struct {
	Name string `path:"name" maxLength:"64" doc:"Name of the person."`
}

// The operations on people.
var (
	ListPeople = Operation[None, People]{ID: "list-people", Method: "GET", Path: "/api/people", Tag: "people", Scope: access.Admin,
		Summary: "All people, ordered by name", Errors: []int{503}}
	AddPerson = Operation[AddPersonRequest, Person]{ID: "add-person", Method: "POST", Path: "/api/people", Tag: "people", Scope: access.Admin,
		Summary: "Add a person", Description: "The first person must be an owner. From then on the console requires a login, also on this machine; programs need a token.",
		Errors: []int{400, 409, 422, 503}, Status: 201, NoStore: true}
	SetPerson = Operation[SetPersonRequest, Person]{ID: "set-person", Method: "PATCH", Path: "/api/people/{name}", Tag: "people", Scope: access.Admin,
		Summary: "Change the role or the logins of a person", Description: "It takes effect everywhere within ten seconds. The last owner stays an owner.",
		Errors: []int{400, 404, 409, 422, 503}, NoStore: true}
	RemovePerson = Operation[ByName, None]{ID: "remove-person", Method: "DELETE", Path: "/api/people/{name}", Tag: "people", Scope: access.Admin,
		Summary: "Remove a person with the person's passkeys, tokens, sessions and marks", Description: "The last owner stays.", Errors: []int{404, 409, 503}}
)

// A FeverPassword is the credential of a client for apps that use the Fever API.
type FeverPassword struct {
	Name     string    `json:"name" doc:"The name to enter in the app."`
	Password string    `json:"password,omitempty" doc:"The password to enter in the app; only in the answer that generates it."`
	Created  time.Time `json:"created,omitzero" doc:"Absent without a password."`
	Used     time.Time `json:"used,omitzero" doc:"Last use, accurate to about a minute; absent: never."`
}

// The operations on the requesting client's password of the Fever API.
var (
	GetFever = Operation[None, FeverPassword]{ID: "get-fever", Method: "GET", Path: "/api/fever", Tag: "tokens", Scope: access.Read,
		Summary: "Whether this client has a password for apps that use the Fever API", Errors: []int{503}}
	SetFever = Operation[None, FeverPassword]{ID: "set-fever", Method: "POST", Path: "/api/fever", Tag: "tokens", Scope: access.Read,
		Summary:     "Generate a password for apps that use the Fever API",
		Description: "It replaces an earlier one. The apps read, and change the marks of this client, nothing else. The store keeps only a hash; another password of a person ends it.",
		Errors:      []int{409, 503}, Status: 201, NoStore: true}
	RemoveFever = Operation[None, None]{ID: "remove-fever", Method: "DELETE", Path: "/api/fever", Tag: "tokens", Scope: access.Read,
		Summary: "Remove the password for apps that use the Fever API", Errors: []int{503}}
)
