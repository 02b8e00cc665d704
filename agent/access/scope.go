// Package access knows who asks and what they may do: tokens, their scopes, and
// how much of a server's time one client may take.
package access

import (
	"context"
	"slices"
)

// A Scope is what a client may do.
type Scope string

// The scopes.
const (
	Search Scope = "search" // find and read items and stories, and what is made of them for others
	Read   Scope = "read"   // and look at feeds, rules, the mesh, statistics
	Write  Scope = "write"  // and change feeds, items, stories
	Admin  Scope = "admin"  // and tokens, rules, quarantine, proxies, the index
)

// Scopes are all scopes. Each may do what those before it may.
var Scopes = []Scope{Search, Read, Write, Admin}

// IDs of clients that no token was made for.
const (
	LocalID = "local" // on this machine, where no token is needed
	OwnerID = "owner" // shows the token of the settings
)

// A Client is who asks.
type Client struct {
	ID, Name string // of its token
	Scopes   []Scope
}

var (
	local = Client{ID: LocalID, Name: "this machine", Scopes: Scopes}
	owner = Client{ID: OwnerID, Name: "the owner", Scopes: Scopes}
)

// Local returns the client on this machine, who may do all.
func Local() Client { return local }

// May reports whether the client may do what needs a scope.
func (c Client) May(needed Scope) bool {
	least := slices.Index(Scopes, needed)
	return least >= 0 && slices.ContainsFunc(c.Scopes, func(s Scope) bool { return slices.Index(Scopes, s) >= least })
}

// Key names who shares one client's limits. A token that may only search is
// meant to be public, so each address that shows it counts for itself: one of
// its readers can't take from all others.
func (c Client) Key(address string) string {
	if c.ID == "" || !c.May(Read) {
		return c.ID + "@" + address
	}
	return c.ID
}

type key struct{}

// With returns a context that says who asks.
func With(ctx context.Context, c Client) context.Context { return context.WithValue(ctx, key{}, c) }

// From returns who asks; a client who may do nothing if the context does not say.
func From(ctx context.Context) Client {
	c, _ := ctx.Value(key{}).(Client)
	return c
}
