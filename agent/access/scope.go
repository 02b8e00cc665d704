// Package access authenticates clients by tokens and people by passwords and sessions, defines the scopes of tokens and
// the roles of people, and limits the request rate of each client. Its main types are [TokenStore], [People], [Client],
// [Scope] and [Limiter]; its caches are bounded.
package access

import (
	"context"
	"slices"
)

// A Scope is a set of permissions.
type Scope string

// The scopes.
const (
	Metrics Scope = "metrics" // readiness and metrics only; part of Read

	Search Scope = "search" // find and read items and stories, and outputs made of them
	Read   Scope = "read"   // also read feeds, rules, the mesh, statistics
	Write  Scope = "write"  // also change feeds, items, stories
	Rules  Scope = "rules"  // also change rules, and apply them to stored items
	Admin  Scope = "admin"  // also change tokens, people, quarantine, proxies, the index
)

// Scopes lists the scopes that include those before them: all but [Metrics].
var Scopes = []Scope{Search, Read, Write, Rules, Admin}

// IDs of clients without a stored token.
const (
	LocalID = "local" // on this machine, where no token is needed
	OwnerID = "owner" // has the token of the settings

	healthID = "health" // has the token of health checks of the settings
)

// IsSame reports whether two IDs are of the same client. The client on this machine and the owner's token are the same person.
func IsSame(a, b string) bool {
	person := func(id string) string {
		if id == OwnerID {
			return LocalID
		}
		return id
	}
	return person(a) == person(b)
}

// A Client is an authenticated client.
type Client struct {
	ID, Name string // of its token, or of the person
	Role     Role   // of the person; empty: the client has a token without a person
	Scopes   []Scope
	Person   bool   // a person who logged in
	Session  string // hash of the secret of the person's session; empty: a proxy names the person
	Token    string // name of the token by which a program acts as the person; empty: it does not
}

var (
	local = Client{ID: LocalID, Name: "this machine", Scopes: Scopes}
	owner = Client{ID: OwnerID, Name: "the owner", Scopes: Scopes}

	health = Client{ID: healthID, Name: "health checks", Scopes: []Scope{Metrics}}
)

// Local returns the client on this machine, which has all scopes.
func Local() Client { return local }

// May reports whether the client has a scope.
func (c Client) May(needed Scope) bool {
	if needed == Metrics {
		return slices.Contains(c.Scopes, Metrics) || c.May(Read)
	}
	least := slices.Index(Scopes, needed)
	return least >= 0 && slices.ContainsFunc(c.Scopes, func(s Scope) bool { return slices.Index(Scopes, s) >= least })
}

// Largest returns the largest scope of the client, which includes those before it; empty if there is none.
func (c Client) Largest() (largest Scope) {
	for _, s := range append([]Scope{Metrics}, Scopes...) {
		if c.May(s) {
			largest = s
		}
	}
	return largest
}

// shared returns the scopes that both clients have.
func shared(a, b Client) (both []Scope) {
	for _, s := range Scopes {
		if a.May(s) && b.May(s) {
			both = append(both, s)
		}
	}
	return both
}

// Key returns the key of the client's rate limits. A token with the scope search only is meant to be public,
// so each address with it has limits of its own.
func (c Client) Key(address string) string {
	if c.ID == "" || !c.May(Read) {
		return c.ID + "@" + address
	}
	return c.ID
}

type key struct{}

// With returns a context with a client.
func With(ctx context.Context, c Client) context.Context { return context.WithValue(ctx, key{}, c) }

// WithAddressToken returns a context with the token that the address of a request contained.
func WithAddressToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, addressKey{}, token)
}

// AddressToken returns the token that the address of the context's request contained; empty: it contained none.
func AddressToken(ctx context.Context) string {
	token, _ := ctx.Value(addressKey{}).(string)
	return token
}

type addressKey struct{}

// From returns the context's client; without one, a client without scopes.
func From(ctx context.Context) Client {
	c, _ := ctx.Value(key{}).(Client)
	return c
}
